import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { errorCodes } from "../src/errors.js";
import { runCli, startCli, startServing } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { ask } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease, pullRecords, writeSource } from "./setup/release.js";
import { serve } from "./setup/serve.js";

let release: BuiltRelease;

beforeAll(async () => {
  release = await buildRelease(madePlaces(25).map((place) => ({ ...place, region: "Andorre" })));
});

describe("help", () => {
  it("of every command names its options and shows an example", async () => {
    const whole = await runCli(["--help"]);
    expect(whole.code).toBe(0);
    for (const { exit, meaning } of Object.values(errorCodes))
      expect(whole.stdout).toContain(`${exit}  ${meaning}`);
    const commands = [...whole.stdout.matchAll(/^ {2}(\w+) \[options\]/gm)].map(([, name]) => name ?? "");
    expect(commands).toEqual(expect.arrayContaining(["pull", "build", "serve", "verify", "start"]));
    for (const command of commands) {
      const { code, stdout } = await runCli([command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/Examples?:\n {2}shelters/);
      expect(stdout).toContain("--");
    }
  });

  it("--version is that of the package", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect((await runCli(["--version"])).stdout.trim()).toBe(version);
  });
});

describe("exit code 2 and what is accepted, for", () => {
  it.each([
    ["an unknown option", ["build", "--nonsense"], "--nonsense"],
    ["an unknown command", ["fly"], "fly"],
    ["an argument too many", ["build", "here"], "argument"],
    ["a port that is none", ["serve", "--port", "99999"], "65535"],
    ["a port in words", ["serve", "--port", "http"], "65535"],
    ["a size that is none", ["serve", "--memory", "lots"], "256M"],
    ["an option without its value", ["pull", "--from"], "--from"],
  ])("%s", async (_what, args, said) => {
    const { code, stdout, stderr } = await runCli(args);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain("    at ");
    expect(stdout).toBe("");
  });

  it("a host that is none of this machine", async () => {
    const { code, stderr } = await runCli([
      "serve",
      "--site",
      release.site,
      "--host",
      "192.0.2.1",
      "--port",
      "0",
    ]);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain("192.0.2.1");
  });
});

describe("--json prints one line of JSON on standard output, --quiet nothing at all", () => {
  const folder = temporaryFolder();
  const database = join(folder, "p.sqlite");
  const site = join(folder, "site");
  const commands = (): string[][] => [
    [
      "pull",
      "--from",
      writeSource(
        folder,
        madePlaces(10).map((place) => ({ ...place, region: "" })),
      ),
      "--database",
      database,
    ],
    ["build", "--database", database, "--site", site],
    ["verify", "--site", site],
  ];

  it("for every step", async () => {
    for (const args of commands()) {
      const { code, stdout, stderr } = await runCli(["--json", ...args]);
      expect(code, stderr).toBe(0);
      expect(stderr).toBe("");
      expect(stdout).toMatch(/^[^\n]+\n$/);
      expect(typeof JSON.parse(stdout)).toBe("object");
    }
    for (const args of commands()) {
      const { code, stdout, stderr } = await runCli(["--quiet", ...args]);
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
    }
  });

  it("and without them a line a step on standard error", async () => {
    for (const args of commands()) {
      const { stdout, stderr } = await runCli(args);
      expect(stdout).toBe("");
      expect(stderr.trim()).not.toBe("");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: no terminal, no escape sequences
      expect(stderr).not.toMatch(/[\u001b\r]/);
    }
  });

  it("but errors are said on standard error all the same", async () => {
    const { code, stdout, stderr } = await runCli(["--quiet", "verify", "--site", join(folder, "none")]);
    expect(code).toBe(5);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^shelters: There is no release in .*shelters build/);
  });
});

describe("start", () => {
  it("pulls, builds and serves; a second time it does neither of the first two; new data are built", async () => {
    const folder = temporaryFolder();
    const database = join(folder, "data", "p.sqlite");
    const site = join(folder, "dist", "site");
    const start = () => startServing(["start", "--database", database, "--site", site]);
    const stop = async ({ process: child, ended }: Awaited<ReturnType<typeof start>>): Promise<void> => {
      child.kill("SIGTERM");
      const { code, stderr } = await ended;
      expect(code, stderr).toBe(0);
    };
    const first = await start();
    const reply = await ask(`${first.address}/api.php?format=json`);
    expect(JSON.parse(reply.text)).toHaveLength(118);
    await stop(first);
    const identity = (): unknown => {
      const { ino, mtimeMs } = statSync(join(site, "manifest.json"));
      return { ino, mtimeMs, database: statSync(database).mtimeMs };
    };
    const before = identity();
    await stop(await start());
    expect(identity()).toEqual(before);

    await pullRecords(database, madePlaces(7));
    const third = await start();
    expect(JSON.parse((await ask(`${third.address}/api.php?format=json`)).text)).toHaveLength(7);
    await stop(third);
  });
});

describe("exit code 6, for", () => {
  it("a port that is taken", async () => {
    const server = await serve(release.site);
    const { port } = new URL(server.address);
    const { code, stderr } = await runCli(["serve", "--site", release.site, "--port", port]);
    expect(code).toBe(6);
    expect(stderr).toContain(`Port ${port}`);
    expect((await ask(`${server.address}/manifest.json`)).status).toBe(200);
  });

  it("a second build of the same release, while the first goes on", async () => {
    const { database, site } = await buildRelease(madePlaces(200).map((place) => ({ ...place, region: "" })));
    const first = startCli(["--json", "build", "--database", database, "--site", site]);
    const making = join(dirname(site), ".site.making");
    while (!existsSync(making)) await wait(5);
    const second = await runCli(["build", "--database", database, "--site", site]);
    expect(second.code, second.stderr).toBe(6);
    expect(second.stderr).toContain("wait until it ends");
    expect((await first.ended).code).toBe(0);
    expect((await runCli(["verify", "--site", site])).code).toBe(0);
  });

  it("a second pull into the same database, while the first waits for its source", async () => {
    const database = join(temporaryFolder(), "p.sqlite");
    // A pipe that stays open keeps the first pull at work.
    const first = startCli(["pull", "--from", "-", "--database", database], {
      through: ["sh", "-c", 'sleep 4 | "$@"', "sh"],
    });
    while (!existsSync(database)) await wait(5);
    await wait(500);
    const second = await runCli(["pull", "--database", database]);
    expect(second.code, second.stderr).toBe(6);
    expect(second.stderr).toContain("Another pull");
    expect((await first.ended).code).toBe(3); // its source was empty after all
  });
});

it("a reader that goes away is no fault", async () => {
  const { code, stderr } = await runCli(["--json", "verify", "--site", release.site], {
    through: ["sh", "-c", '"$@" | true', "sh"],
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

it("exit code 7 where a folder cannot be written to", async (context) => {
  // Root may write everywhere, but for a root that gave this right away.
  const through = process.getuid?.() === 0 ? ["setpriv", "--bounding-set", "-dac_override"] : [];
  const [tool, ...rights] = through;
  context.skip(
    tool !== undefined && spawnSync(tool, [...rights, "true"]).status !== 0,
    "root may write everywhere, and there is no setpriv",
  );
  const folder = temporaryFolder();
  mkdirSync(join(folder, "closed"));
  chmodSync(join(folder, "closed"), 0o500);
  const site = join(folder, "closed", "site");
  const build = ["build", "--database", release.database, "--site", site];
  const { code, stderr } = await runCli(build, { through });
  expect(code, stderr).toBe(7);
  expect(stderr).toContain(`Nothing can be written to ${join(folder, "closed")}`);
});
