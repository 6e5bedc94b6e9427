import { execFileSync } from "node:child_process";

/** Compiles src to dist/app before the tests, so that process tests run what users run. */
export function setup(): void {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc"], { stdio: "inherit" });
}
