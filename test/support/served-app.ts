import type { Ctx } from "../../src/context";
import type { Fleet } from "../../src/features/alarms/fleet";
import type { LabelReport } from "../../src/features/docker-labels/docker-labels";
import type { ImportJobs } from "../../src/imports/jobs";
import type { Monitoring } from "../../src/features/monitors/monitoring";
import { RUNTIME_BODY_MAX_BYTES } from "../../src/http/body";
import { createTestApp, type TestApp } from "./app";
import { calmMonitoring } from "./on-demand-monitoring";
import type { TestClock } from "./clock";

export interface ServeOptions {
  clock: TestClock;
  /** Host in `origin`, by default 127.0.0.1. The server listens on loopback in any case. */
  host?: string | undefined;
  /** Runs the checks; by default only on demand. */
  monitoring?: (ctx: Ctx) => Monitoring;
  /** Imports from other products; by default in this process. */
  imports?: ((ctx: Ctx) => ImportJobs) | undefined;
  /** Parts for more than one machine; by default none. */
  fleet?: Fleet | undefined;
  /** Outcome of the labels of containers; by default no labels are read. */
  labels?: (() => LabelReport | undefined) | undefined;
  /** True to serve over HTTPS, with a certificate that no browser trusts. */
  isSecure?: boolean | undefined;
  /** Variables of the installation. */
  env?: Record<string, string>;
  /** Files of the test, by path. The application does not see their requests. */
  routes?: Record<string, () => Response>;
}

/** A listening application without a public address. */
export interface ServedApp extends AsyncDisposable {
  app: TestApp;
  /** Base URL, such as `http://127.0.0.1:41234`. */
  origin: string;
}

/** Serves a new, empty installation as a start without options does. */
export async function serveApp({
  clock,
  host = "127.0.0.1",
  monitoring = calmMonitoring,
  imports,
  fleet,
  labels,
  isSecure = false,
  env = {},
  routes = {},
}: ServeOptions): Promise<ServedApp> {
  const options = {
    clock,
    env: { ...NO_BASE_URL, ...env },
    monitoring,
    ...(fleet && { fleet: () => fleet }),
    ...(labels && { labels: () => labels }),
  };
  const app = await createTestApp({ ...options, ...(imports && { imports }) });
  const { ctx } = app;
  const pem = isSecure ? await Bun.file(CERTIFICATE).text() : undefined;
  const scheme = isSecure ? "https" : "http";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    ...(pem && { tls: { cert: pem, key: pem } }),
    maxRequestBodySize: RUNTIME_BODY_MAX_BYTES,
    routes,
    fetch: (request) => app.app.handle(request, () => "127.0.0.1"),
  });
  // Set once the port is known, like at a real start.
  ctx.config = { ...ctx.config, listen: { host: "127.0.0.1", port: Number(server.port) } };
  ctx.baseUrl = `${scheme}://127.0.0.1:${server.port}`;
  return {
    app,
    origin: `${scheme}://${host}:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await app[Symbol.asyncDispose]();
    },
  };
}

const CERTIFICATE = new URL("certificates/good.pem", import.meta.url);

// Removes the public address that the tests set by default.
const NO_BASE_URL = { ALLCLEAR_BASE_URL: undefined } as unknown as Record<string, string>;
