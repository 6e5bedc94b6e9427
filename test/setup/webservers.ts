/** Static hosts on the loopback address: the real programs (nginx, Caddy, Python's http.server, sirv) and their settings. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer as createWebServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import sirv from "sirv";
import { atEnd } from "./cleanup.js";
import { temporaryFolder } from "./folders.js";
import { ask } from "./http.js";

/** Whether a program is installed; where CI is set it has to be. */
export function isInstalled(command: "nginx" | "caddy" | "python3"): boolean {
  const found = spawnSync(command, ["-h"]).error === undefined;
  if (!found && process.env["CI"] !== undefined) throw new Error(`${command} is not installed`);
  return found;
}

/** Serves a folder with nginx; `settings` go into the server block. */
export function startNginx(site: string, settings: string): Promise<string> {
  openForWorkers(site);
  return startNginxWith((port) => `server { listen 127.0.0.1:${port}; root ${site}; ${settings} }`);
}

/** Runs nginx with what stands in its http block, on a free port. */
export async function startNginxWith(http: (port: number) => string): Promise<string> {
  const folder = temporaryFolder();
  const port = await freePort();
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const config = `daemon off; worker_processes 1; pid ${join(folder, "pid")}; error_log ${join(folder, "error.log")};
events {}
http { include /etc/nginx/mime.types; access_log off; ${paths.join(" ")}
${http(port)} }
`;
  writeFileSync(join(folder, "nginx.conf"), config);
  return started(spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" }), port);
}

/** Serves a folder with Caddy; `settings` go into the site block. */
export function startCaddy(site: string, settings: string): Promise<string> {
  return startCaddyWith((port) => `http://:${port} {\n bind 127.0.0.1\n root * ${site}\n ${settings}\n}\n`);
}

/** Runs Caddy with these sites, on a free port. */
export async function startCaddyWith(sites: (port: number) => string): Promise<string> {
  const folder = temporaryFolder();
  const port = await freePort();
  const global = "{\n admin off\n auto_https off\n}\n";
  writeFileSync(join(folder, "Caddyfile"), global + sites(port));
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  return started(spawn("caddy", args, { stdio: "ignore", env }), port);
}

/** Serves a folder with Python's http.server, which is on most machines: no ETag, no ranges, no compression. */
export async function startPython(site: string): Promise<string> {
  const port = await freePort();
  const args = ["-m", "http.server", String(port), "--bind", "127.0.0.1", "--directory", site];
  return started(spawn("python3", args, { stdio: "ignore" }), port);
}

/** Serves a folder with sirv as it is. */
export async function startSirv(site: string): Promise<string> {
  const server = createWebServer(sirv(site, { gzip: true, brotli: true, etag: true }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function started(server: ChildProcess, port: number): Promise<string> {
  atEnd(async () => {
    if (server.exitCode !== null) return;
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    await ended;
  });
  const address = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries++) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    const isUp = await ask(`${address}/manifest.json`).then(
      () => true,
      () => false,
    );
    if (isUp) return address;
    await pause(100);
  }
  throw new Error("the server does not answer");
}

/** nginx's workers are another user where the tests run as root. */
function openForWorkers(site: string): void {
  for (let folder = site; folder !== "/tmp" && folder !== dirname(folder); folder = dirname(folder))
    chmodSync(folder, 0o755);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
