/**
 * `_headers` as two hosts read it, by their documents: developers.cloudflare.com/workers/static-assets/headers (Pages has the
 * same) and docs.netlify.com/manage/routing/headers. Written from those, not from what the program writes.
 */

export interface HeadersFile {
  /** What the host would pass over or cut off, a line each. */
  readonly faults: readonly string[];
  /** Headers of a path, names in lower case; values of several rules are joined with commas. */
  headersFor(path: string): Readonly<Record<string, string>>;
}

interface Dialect {
  readonly rules: number;
  readonly line: number;
  /** Splats in one pattern. */
  readonly splats: number;
  /** Between the values of one header. */
  readonly comma: string;
  readonly matcher: (pattern: string) => RegExp;
  /** Set by the host itself, whatever the file says. */
  readonly ignored: RegExp;
}

const literal = (text: string): string => text.replace(/[-/\\^$*+?.()|[\]{}]/g, "\\$&");
const PLACEHOLDER = /^:[A-Za-z]\w*$/;

const dialects = {
  cloudflare: {
    rules: 100,
    line: 2000,
    splats: 1,
    comma: ", ",
    // A splat is greedy and crosses slashes, a placeholder is all up to the next slash; the rest is as it stands.
    matcher: (pattern) => {
      const parts = pattern
        .split("/")
        .map((part) => (PLACEHOLDER.test(part) ? "[^/]+" : part.split("*").map(literal).join(".*")));
      return new RegExp(`^${parts.join("/")}$`);
    },
    ignored: /^$/,
  },
  netlify: {
    rules: Number.POSITIVE_INFINITY,
    line: Number.POSITIVE_INFINITY,
    splats: Number.POSITIVE_INFINITY,
    comma: ",",
    // Wildcards stand at any place of a segment for any characters; beside one, its matcher leaves a dot as it is: any character.
    matcher: (pattern) => {
      const parts = pattern.split("/").map((part) => {
        if (PLACEHOLDER.test(part)) return "[^/]+";
        return part.includes("*") ? part.replaceAll("*", ".*") : literal(part);
      });
      return new RegExp(`^${parts.join("/")}$`);
    },
    ignored:
      /^(accept-ranges|age|allow|alt-svc|connection|content-encoding|content-length|content-range|date|location|server|set-cookie|trailer|transfer-encoding|upgrade)$/,
  },
} as const satisfies Readonly<Record<string, Dialect>>;

/** Reads a `_headers` file as a host does. */
export function readHeadersFile(text: string, host: keyof typeof dialects): HeadersFile {
  const dialect: Dialect = dialects[host];
  const faults: string[] = [];
  const rules: { readonly pattern: string; readonly headers: (readonly [string, string])[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.trim().startsWith("#")) continue;
    if (line.length > dialect.line) faults.push(`too long: ${line.slice(0, 50)}`);
    else if (/^\//.test(line)) rules.push({ pattern: line.trim(), headers: [] });
    else {
      const [, name = "", value = ""] = /^\s+([A-Za-z-]+):\s*(\S.*)$/.exec(line) ?? [];
      const rule = rules.at(-1);
      if (rule === undefined || name === "") faults.push(`no header: ${line}`);
      else if (dialect.ignored.test(name.toLowerCase())) faults.push(`set by the host: ${name}`);
      // A word behind a colon would be replaced with what the pattern matched.
      else if (/:[A-Za-z]\w*/.test(value)) faults.push(`a placeholder in a value: ${line}`);
      else rule.headers.push([name.toLowerCase(), value.trim()]);
    }
  }
  for (const { pattern, headers } of rules) {
    if (headers.length === 0) faults.push(`no headers: ${pattern}`);
    if (pattern.split("*").length - 1 > dialect.splats) faults.push(`two splats: ${pattern}`);
  }
  if (rules.length > dialect.rules) faults.push(`${rules.length} rules`);
  const compiled = rules.map((rule) => ({ ...rule, matcher: dialect.matcher(rule.pattern) }));
  return {
    faults,
    headersFor: (path) => {
      const found: Record<string, string> = {};
      for (const { matcher, headers } of compiled)
        if (matcher.test(path))
          for (const [name, value] of headers)
            found[name] = found[name] === undefined ? value : found[name] + dialect.comma + value;
      return found;
    },
  };
}
