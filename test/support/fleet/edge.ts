import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerProcess } from "../servers/server-process";
import { startNginx } from "./proxies";

/** Header by which a request makes the edge fetch its answer again, as a purge does. */
export const REFRESH = "X-Refresh";

/** nginx in front of an origin. */
export interface Edge extends ServerProcess {
  /** Fetches a path, as a visitor does. */
  visit(path: string, headers?: Record<string, string>): Promise<EdgeAnswer>;
  /** Makes everything in the cache older. */
  age(seconds: number): void;
}

export interface EdgeAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** State of the cache: MISS, HIT, STALE, UPDATING, REVALIDATED or BYPASS; undefined for a path without cache. */
  cache: string | undefined;
}

/** Starts nginx as the edge of a CDN in front of an origin on loopback. It follows the headers of the origin. */
export async function startEdge(originPort: number): Promise<Edge> {
  const nginx = await startNginx(
    ({ port }) => `
  proxy_cache_path cache keys_zone=edge:10m inactive=1d use_temp_path=off;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 16; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_connect_timeout 1s;
      proxy_cache edge;
      proxy_cache_key $host$request_uri;
      proxy_cache_lock on;
      proxy_cache_revalidate on;
      proxy_cache_background_update on;
      proxy_cache_bypass $http_${REFRESH.toLowerCase().replace("-", "_")};
      add_header X-Cache $upstream_cache_status always;
    }
  }`,
  );
  return {
    ...nginx,
    async visit(path, headers = {}) {
      const answer = await fetch(`http://127.0.0.1:${nginx.port}${path}`, {
        headers,
        redirect: "manual",
      });
      const { status } = answer;
      const cache = answer.headers.get("x-cache") ?? undefined;
      return { status, headers: answer.headers, text: await answer.text(), cache };
    },
    age: (seconds) => ageFiles(join(nginx.folder, "cache"), seconds),
  };
}

/** Version of the format of cached files, which begin with it. */
const FORMAT = 5n;
/** Offset of the time, in unix seconds, until which an answer is fresh. Further lifetimes begin there. */
const FRESH_UNTIL = 8;

/** Moves the times in the files of a cache, which nginx reads at each request. */
function ageFiles(folder: string, seconds: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    if (bytes.readBigInt64LE(0) !== FORMAT) throw new Error("nginx writes another format");
    bytes.writeBigInt64LE(bytes.readBigInt64LE(FRESH_UNTIL) - BigInt(seconds), FRESH_UNTIL);
    writeFileSync(path, bytes);
  }
}
