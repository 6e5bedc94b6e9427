import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "./setup/cli.js";
import { digestsBelow, temporaryFolder } from "./setup/folders.js";
import { buildSmall, fewFiles, mirrorInto } from "./setup/mirror.js";
import { openProxy } from "./setup/proxy.js";
import { serve } from "./setup/serve.js";

describe("a disk that is full", () => {
  const disk = temporaryFolder();
  const isRoot = process.getuid?.() === 0;
  const mount = (...options: readonly string[]) => spawnSync("mount", [...options, disk]).status === 0;
  const canMount = process.platform === "linux" && isRoot && mount("-t", "tmpfs", "-o", "size=14m", "tmpfs");
  afterAll(() => {
    if (canMount) execFileSync("umount", [disk]);
  });

  it("can be made where tests run for everybody", () => {
    // Elsewhere the test below is left out, because only root may mount a small disk.
    if (process.env["CI"] !== undefined && isRoot) expect(canMount).toBe(true);
  });

  it("stops a mirror with exit code 7: the old copy stays, what has come is kept, and with room the run goes on", async (context) => {
    context.skip(!canMount, "only root can mount a small disk");
    const old = await buildSmall(fewFiles(20));
    const next = await buildSmall(fewFiles(1200, 2));
    const copy = join(disk, "site");
    await mirrorInto(copy, old.site);
    const before = digestsBelow(copy);
    const line = await openProxy((await serve(next.site)).address);

    // Before anything is fetched, where it is known that it cannot fit.
    const early = await runCli(["mirror", line.address, "--site", copy, "--rebuild", "never"]);
    expect(early.code, early.stderr).toBe(7);
    expect(early.stderr).toMatch(/^(To fetch.*\n)?shelters: The disk has \d+ bytes left, \d+ are needed/);
    expect(digestsBelow(copy)).toEqual(before);

    // In the middle, where somebody else fills it meanwhile.
    expect(mount("-o", "remount,size=64m")).toBe(true);
    line.become({ rate: 60_000 });
    const run = runCli(["mirror", line.address, "--site", copy, "--rebuild", "never"]);
    await expect.poll(() => line.bytes(), { timeout: 30_000, interval: 20 }).toBeGreaterThan(250_000);
    const filler = join(disk, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=64k", "count=2000"], { stdio: "ignore" });
    line.become({});
    const { code, stderr } = await run;
    expect(code, stderr).toBe(7);
    expect(stderr).toContain("the disk is full");
    expect(stderr).not.toContain("    at ");
    expect(digestsBelow(copy)).toEqual(before);
    expect(readdirSync(disk).sort()).toEqual([
      ".site.fetching",
      ".site.lock",
      ".site.mirroring",
      "filler",
      "site",
    ]);

    execFileSync("rm", [filler]);
    line.reset();
    const { outcome } = await mirrorInto(copy, line.address);
    expect(outcome).toBe("mirrored");
    expect(digestsBelow(copy)).toEqual(digestsBelow(next.site));
  });
});
