/** nginx, MapServer and PHP-FPM from the packages of the system, set up in a folder of their own and ended afterwards. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { isInstalled, pinned } from "./machine.js";
import { end } from "./processes.js";
import type { BuiltSize } from "./sizes.js";

export interface PeerServers {
  /** Base address by name of the peer; those that are not installed are absent. */
  readonly addresses: Readonly<Record<string, { readonly address: string }>>;
  /** What was left out. */
  readonly missing: readonly string[];
  stop(): Promise<void>;
}

const MAPSERV = "/usr/lib/cgi-bin/mapserv";
const PHP_SCRIPT = resolve(import.meta.dirname, "../../../scripts/rivals/places.php");

/** Starts what is installed. */
export async function startPeers(built: BuiltSize): Promise<PeerServers> {
  const folder = resolve(built.site, "../peers");
  mkdirSync(folder, { recursive: true });
  const started: ChildProcess[] = [];
  const has = {
    nginx: isInstalled("nginx"),
    mapserver: existsSync(MAPSERV) && isInstalled("spawn-fcgi") && isInstalled("ogr2ogr"),
    php: phpFpm() !== undefined,
  };
  const missing = Object.entries(has)
    .filter(([, there]) => !there)
    .map(([name]) => name);
  if (!has.nginx) return { addresses: {}, missing, stop: async () => {} };
  if (has.mapserver) started.push(startMapServer(folder, built));
  if (has.php) started.push(startPhp(folder));
  const [plain, tuned, wfs, php] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const config = join(folder, "nginx.conf");
  writeFileSync(config, nginxConfig(folder, built, { plain, tuned, wfs, php }));
  started.push(launch(["nginx", "-p", folder, "-c", config]));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const at = (port: number) => ({ address: `http://127.0.0.1:${port}` });
  return {
    addresses: {
      nginx: at(plain),
      "nginx tuned": at(tuned),
      ...(has.mapserver && { MapServer: at(wfs) }),
      ...(has.php && { PHP: at(php) }),
    },
    missing,
    stop: async () => void (await Promise.all(started.map(end))),
  };
}

function launch(command: readonly string[]): ChildProcess {
  const [program = "", ...args] = pinned(0, command);
  return spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
}

function phpFpm(): string | undefined {
  const folder = "/usr/sbin";
  const found = existsSync(folder)
    ? readdirSync(folder).find((name) => name.startsWith("php-fpm"))
    : undefined;
  return found === undefined ? undefined : join(folder, found);
}

function startPhp(folder: string): ChildProcess {
  const config = join(folder, "fpm.conf");
  writeFileSync(
    config,
    `[global]\nerror_log = ${folder}/fpm.log\n[www]\nuser = root\ngroup = root\nlisten = ${folder}/php.sock\npm = static\npm.max_children = 4\n`,
  );
  return launch([phpFpm() ?? "", "--nodaemonize", "--allow-to-run-as-root", "--fpm-config", config]);
}

function startMapServer(folder: string, { site }: BuiltSize): ChildProcess {
  const table = join(folder, "places.fgb");
  const source = join(site, "exports/all/all.geojson");
  execFileSync("ogr2ogr", ["-f", "FlatGeobuf", "-dim", "XY", "-nln", "places", table, source], {
    stdio: "ignore",
  });
  writeFileSync(join(folder, "places.map"), mapFile(table));
  // MapServer 8 answers nothing without a configuration, be it an empty one.
  const config = join(folder, "mapserver.conf");
  writeFileSync(config, "CONFIG\n  ENV\n  END\nEND\n");
  const server = ["spawn-fcgi", "-n", "-s", join(folder, "map.sock"), "--", MAPSERV];
  return launch(["env", `MAPSERVER_CONFIG_FILE=${config}`, ...server]);
}

function mapFile(table: string): string {
  return `MAP
  NAME "places"
  EXTENT -180 -90 180 90
  PROJECTION "init=epsg:4326" END
  WEB
    METADATA
      "ows_title" "places"
      "ows_onlineresource" "http://localhost/"
      "ows_srs" "EPSG:4326"
      "ows_enable_request" "*"
    END
  END
  OUTPUTFORMAT
    NAME "geojson"
    DRIVER "OGR/GEOJSON"
    MIMETYPE "application/json; subtype=geojson"
    FORMATOPTION "STORAGE=stream"
    FORMATOPTION "FORM=SIMPLE"
  END
  LAYER
    NAME "places"
    TYPE POINT
    STATUS ON
    CONNECTIONTYPE OGR
    CONNECTION "${table}"
    DATA "places"
    PROJECTION "init=epsg:4326" END
    METADATA
      "ows_title" "places"
      "gml_include_items" "all"
      "wfs_getfeature_formatlist" "geojson"
      "wfs_maxfeatures" "20000"
    END
  END
END
`;
}

interface Ports {
  readonly plain: number;
  readonly tuned: number;
  readonly wfs: number;
  readonly php: number;
}

function nginxConfig(folder: string, { site, database }: BuiltSize, ports: Ports): string {
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const fastcgi = (name: string): string =>
    [
      "fastcgi_param QUERY_STRING $query_string;",
      "fastcgi_param REQUEST_METHOD $request_method;",
      "fastcgi_param CONTENT_TYPE $content_type;",
      "fastcgi_param CONTENT_LENGTH $content_length;",
      "fastcgi_buffers 64 64k; fastcgi_buffer_size 64k; fastcgi_max_temp_file_size 0;",
      `fastcgi_pass unix:${folder}/${name}.sock;`,
    ].join("\n      ");
  const root = resolve(site);
  return `${user}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
events { worker_connections 4096; }
http {
  types { application/geo+json geojson; application/json json; text/plain txt; }
  access_log off;
  keepalive_requests 1000000;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${ports.plain}; root ${root}; sendfile on; gzip_static on; }
  server {
    listen 127.0.0.1:${ports.tuned};
    root ${root};
    gzip_static on;
    sendfile off;
    output_buffers 2 512k;
    open_file_cache max=1000;
    tcp_nodelay on;
  }
  server {
    listen 127.0.0.1:${ports.wfs};
    location / {
      fastcgi_param MS_MAPFILE ${folder}/places.map;
      ${fastcgi("map")}
    }
  }
  server {
    listen 127.0.0.1:${ports.php};
    location / {
      fastcgi_param SCRIPT_FILENAME ${PHP_SCRIPT};
      fastcgi_param PLACES ${resolve(`${database}.rows`)};
      ${fastcgi("php")}
    }
  }
}
`;
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => found(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
