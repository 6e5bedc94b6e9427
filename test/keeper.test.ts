import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createKeeper } from "../src/release/keeper.js";
import { atEnd } from "./setup/cleanup.js";
import { temporaryFolder } from "./setup/folders.js";
import { ask } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { buildRelease } from "./setup/release.js";
import { serve } from "./setup/serve.js";

/** Files of so many bytes each, kept under a budget of 1,000 bytes. */
function keptFiles(...sizes: readonly number[]) {
  const keep = createKeeper(1000);
  const folder = temporaryFolder();
  return sizes.map((bytes, index) => {
    const path = join(folder, String(index));
    const content = Buffer.alloc(bytes, String(index));
    writeFileSync(path, content);
    const descriptor = openSync(path, "r");
    atEnd(() => closeSync(descriptor));
    const form = { bytes, sha256: createHash("sha256").update(content).digest("hex") };
    return { ...keep(form, path)(descriptor), path, content };
  });
}

type Kept = ReturnType<typeof keptFiles>[number];

/** Whether it is in memory: then every answer gets the same bytes. */
async function isKept({ take }: Kept): Promise<boolean> {
  const [one, two] = [await take(), await take()];
  one?.letGo();
  two?.letGo();
  return one !== null && one.bytes === two?.bytes;
}

/** Another byte in the middle of the same file, as a program that copies over it in place leaves it for a while. */
function damage(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 4;
  writeFileSync(path, bytes);
}

describe("contents that are kept in memory", () => {
  it("are read once, however many ask at once", async () => {
    const [file] = keptFiles(200);
    const taken = await Promise.all([file?.take(), file?.take(), file?.take()]);
    expect(taken[0]?.bytes.equals(file?.content ?? Buffer.alloc(0))).toBe(true);
    expect(new Set(taken.map((one) => one?.bytes)).size).toBe(1);
  });

  it("make room for others when nobody asked for them longest", async () => {
    const [a, b, c, d, e] = keptFiles(250, 250, 250, 250, 250) as [Kept, Kept, Kept, Kept, Kept];
    const first = [];
    for (const file of [a, b, c, d]) {
      const taken = await file.take();
      first.push(taken?.bytes);
      taken?.letGo();
    }
    expect(await isKept(a)).toBe(true); // now it is b that nobody asked for longest
    expect(await isKept(e)).toBe(true);
    const again = async (file: Kept) => (await file.take())?.bytes;
    expect(await again(a)).toBe(first[0]);
    expect(await again(c)).toBe(first[2]);
    expect(await again(d)).toBe(first[3]);
    await e.take();
    expect(await again(b)).toBeUndefined(); // everything else is in use now
  });

  it("stay while an answer is being sent from them, and the budget holds", async () => {
    const files = keptFiles(250, 250, 250, 250, 250);
    const taken = [];
    for (const file of files) taken.push(await file.take());
    expect(taken.map((one) => one !== null)).toEqual([true, true, true, true, false]);
    taken[2]?.letGo();
    expect(await files[4]?.take()).not.toBeNull();
    expect(await files[2]?.take()).toBeNull();
  });

  it("are there at once as soon as they are read, and stay while an answer is sent from them", async () => {
    const [a, ...others] = keptFiles(250, 250, 250, 250, 250) as [Kept, Kept, Kept, Kept, Kept];
    expect(a.takeRead()).toBeNull();
    const reading = a.take();
    expect(a.takeRead()).toBeNull();
    const first = await reading;
    const again = a.takeRead();
    expect(again?.bytes).toBe(first?.bytes);
    first?.letGo();
    const takeOthers = async () => {
      const taken = [];
      for (const other of others) taken.push(await other.take());
      for (const one of taken) one?.letGo();
      return taken.filter((one) => one !== null).length;
    };
    expect(await takeOthers()).toBe(3); // the fourth finds no room beside what is being sent
    again?.letGo();
    expect(a.takeRead()?.bytes).toBe(first?.bytes);
    a.takeRead()?.letGo();
    expect(await takeOthers()).toBe(3); // one of the two that took it has not let it go
  });

  it("are no longer there at once when others took their room", async () => {
    const [a, ...others] = keptFiles(250, 250, 250, 250, 250) as [Kept, Kept, Kept, Kept, Kept];
    (await a.take())?.letGo();
    for (const other of others) (await other.take())?.letGo();
    expect(a.takeRead()).toBeNull();
    expect(others[3]?.takeRead()?.bytes).toEqual(others[3]?.content);
  });

  it("are not those of a file that would drive out most others", async () => {
    const [large, small] = keptFiles(251, 250);
    expect(await large?.take()).toBeNull();
    expect(await small?.take()).not.toBeNull();
  });

  it("are checked: another content is refused, and takes no room", async () => {
    const files = keptFiles(250, 250, 250, 250, 250);
    const [foul, ...others] = files;
    damage(foul?.path ?? "");
    for (let tries = 0; tries < 3; tries++)
      await expect(foul?.take()).rejects.toMatchObject({ code: "damaged" });
    expect(foul?.takeRead()).toBeNull();
    for (const other of others) expect(await other.take()).not.toBeNull();
  });
});

it("a damaged file is not sent, and the others are", async () => {
  const { site } = await buildRelease(madePlaces(200).map((place) => ({ ...place, region: "" })));
  const path = "exports/all/all.ndjson"; // not among the smallest, which are read at the start
  const server = await serve(site, { memory: 6_000_000 });
  damage(join(site, path));
  const reply = await ask(`${server.address}/${path}`);
  expect([reply.status, reply.headers["retry-after"], reply.headers["cache-control"]]).toEqual([
    503,
    "5",
    "no-store",
  ]);
  expect(server.lines.join()).toContain(`${path} is damaged`);
  expect((await ask(`${server.address}/${path}`, {}, "HEAD")).status).toBe(200);
  expect((await ask(`${server.address}/manifest.json`)).status).toBe(200);
});
