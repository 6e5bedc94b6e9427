/** An independent XML reader: libxml2, with the published schemas where their folder exists. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { validateXML, type XMLFileInfo } from "xmllint-wasm";

const SCHEMAS = "../shared/schemas";

/** Whether the published schemas are there. In CI they must be: there this throws where they are not. */
export function hasSchemas(): boolean {
  const isThere = existsSync(SCHEMAS);
  if (!isThere && process.env["CI"])
    throw new Error(`${SCHEMAS} is missing: in CI the schemas must be there.`);
  return isThere;
}

/** What libxml2 finds wrong with the documents; with a schema, validity as well as well-formedness. */
export async function xmlFaults(documents: readonly string[], schema?: "gpx" | "kml"): Promise<string[]> {
  const xml = documents.map((contents, index) => ({ fileName: `document${index}.xml`, contents }));
  const { errors } = await validateXML(
    schema === undefined
      ? { xml, normalization: "c14n", ...memory }
      : {
          xml,
          schema: {
            fileName: "strict.xsd",
            contents: readFileSync(join(SCHEMAS, `${schema}-strict.xsd`), "utf8"),
          },
          preload: schemaFiles(),
          ...memory,
        },
  );
  return errors.map(({ rawMessage }) => rawMessage);
}

const memory = { initialMemoryPages: 512, maxMemoryPages: 4096 } as const;

/** Every schema file, under the name by which the others import it. */
function schemaFiles(): XMLFileInfo[] {
  return ["gpx", "garmin", "osmand", "kml"].flatMap((folder) =>
    readdirSync(join(SCHEMAS, folder))
      .filter((file) => file.endsWith(".xsd"))
      .map((file) => ({
        fileName: `${folder}/${file}`,
        contents: readFileSync(join(SCHEMAS, folder, file), "utf8"),
      })),
  );
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** The text of escaped XML content. */
export function unescapeXml(text: string): string {
  return text.replace(/&(\w+);/g, (_, name: string) => NAMED[name] ?? `unknown entity ${name}`);
}

/** Contents of every `<name>...</name>`, unescaped; for elements that hold text only. */
export function textsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) =>
    unescapeXml(text),
  );
}
