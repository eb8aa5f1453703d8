import type { AppContext } from "../../src/context";
import type { Monitoring } from "../../src/features/monitors";
import { RUNTIME_BODY_MAX_BYTES } from "../../src/http";
import { createTestApp, type TestApp } from "./app";
import { calmMonitoring } from "./on-demand-monitoring";
import type { TestClock } from "./clock";

export interface ServeOptions {
  clock: TestClock;
  /** The host in `origin`: 127.0.0.1 unless given. The server listens on this machine alone all the same. */
  host?: string | undefined;
  /** Runs the checks; nothing is checked by itself unless given. */
  monitoring?: (ctx: AppContext) => Monitoring;
}

/** An installation without a public address of its own, which really listens. */
export interface ServedApp extends AsyncDisposable {
  app: TestApp;
  /** Such as `http://127.0.0.1:41234`. */
  origin: string;
}

/** Serves a new, empty installation as a start without options does. */
export async function serveApp({
  clock,
  host = "127.0.0.1",
  monitoring = calmMonitoring,
}: ServeOptions): Promise<ServedApp> {
  const app = await createTestApp({ clock, env: NO_BASE_URL, monitoring });
  const { ctx } = app;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: RUNTIME_BODY_MAX_BYTES,
    fetch: (request) => app.app.handle(request, () => "127.0.0.1"),
  });
  // Now that the port is known, as the real start does.
  ctx.config = { ...ctx.config, listen: { host: "127.0.0.1", port: Number(server.port) } };
  ctx.baseUrl = `http://127.0.0.1:${server.port}`;
  return {
    app,
    origin: `http://${host}:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await app[Symbol.asyncDispose]();
    },
  };
}

// The harness sets a public address unless it is told that there is none.
const NO_BASE_URL = { ALLCLEAR_BASE_URL: undefined } as unknown as Record<string, string>;
