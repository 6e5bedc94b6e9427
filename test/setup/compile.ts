import { execFileSync } from "node:child_process";

/** Compiles src to dist/app, the map page included, before the tests, so that process tests run what users run. */
export function setup(): void {
  for (const script of ["node_modules/typescript/bin/tsc", "src/web/bundle.mjs"])
    execFileSync(process.execPath, [script], { stdio: "inherit" });
}
