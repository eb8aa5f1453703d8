import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Egress } from "../../src/egress/egress";
import { Fault } from "../../src/egress/model";
import type { ProbeContext, ProbeResult } from "../../src/features/monitors/monitoring";
import type { MonitorConfig } from "../../src/features/monitors/probes";
import type { MonitorType } from "../../src/base/status";
import { createTestClock } from "./clock";
import { createTestEgress } from "./egress";
import { probe } from "./probe";
import { certificateText } from "./raw-server";
import { temporaryFolder } from "./temporary-folder";

/** Secret of all configs below, which no message may contain. */
export const SERVER_SECRET = "s3cret-of-the-server";

/** Configs of the types that connect to one server, by its host and port. */
export const SERVER_TYPES = {
  postgres: (host, port) => ({
    host,
    port,
    user: "monitor",
    database: "app",
    password: SERVER_SECRET,
    query: `SELECT '${SERVER_SECRET}'`,
  }),
  mysql: (host, port) => ({
    host,
    port,
    user: "monitor",
    password: SERVER_SECRET,
    query: `SELECT '${SERVER_SECRET}'`,
  }),
  redis: (host, port) => ({
    host,
    port,
    user: "monitor",
    password: SERVER_SECRET,
    allow_plain_password: true,
  }),
  mqtt: (host, port) => ({
    host,
    port,
    user: "monitor",
    password: SERVER_SECRET,
    topic: "#",
    allow_plain_password: true,
  }),
  smtp: (host, port) => ({ host, port, tls: "off" }),
  ssh: (host, port) => ({ host, port }),
  grpc: (host, port) => ({ host, port, metadata: { authorization: SERVER_SECRET } }),
  websocket: (host, port) => ({
    url: `ws://${host}:${port}/`,
    headers: { Authorization: SERVER_SECRET },
    send: SERVER_SECRET,
    expected: "hello",
  }),
} satisfies Partial<Record<MonitorType, (host: string, port: number) => MonitorConfig>>;

export type ServerType = keyof typeof SERVER_TYPES;

export const SERVER_TYPE_NAMES = Object.keys(SERVER_TYPES) as ServerType[];

/** Types that connect to a server, which the config of some does not name. */
export const CHECKED_TYPES = [...SERVER_TYPE_NAMES, "docker", "domain"] as const;
export type CheckedType = (typeof CHECKED_TYPES)[number];

/** TLS of a check: with a certificate that must be trusted for the name, or with any. */
type CheckedTls = "verify" | "any";

/** Returns the TLS that a type can use. Mail servers and databases begin it by their own protocols. */
export function tlsOfType(type: CheckedType): CheckedTls[] {
  if (type === "ssh") return [];
  return type === "docker" || type === "domain" ? ["verify"] : ["verify", "any"];
}

interface CheckOptions {
  /** Name of the server; all names resolve to this machine. */
  host?: string;
  addresses?: string[];
  tls?: CheckedTls;
  context?: Partial<ProbeContext>;
}

/** Checks a server on loopback by a type. */
export async function checkServerOf(
  type: CheckedType,
  { port }: { port: number },
  { host = "localhost", addresses = ["127.0.0.1"], tls, context }: CheckOptions = {},
): Promise<ProbeResult> {
  const names = { [host]: [addresses] };
  if (type === "domain") {
    const clock = createTestClock();
    const { egress } = await createTestEgress(names, { clock });
    const registry = new URL(`${tls ? "https" : "http"}://${host}:${port}`);
    const redirected = { egress: redirectedTo(registry, egress), clock };
    return probe(type, { domain: "example.com" }, { context: { ...redirected, ...context } });
  }
  if (type === "docker") {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "local"));
    writeFileSync(join(folder.path, "local", "ca.pem"), await certificateText("root"));
    const clock = createTestClock();
    const env = {
      ALLCLEAR_DOCKER_HOSTS: `local=tcp://${host}:${port}`,
      ...(tls && { ALLCLEAR_DOCKER_TLS_DIR: folder.path }),
    };
    const { egress } = await createTestEgress(names, { clock, env });
    const config = { host: "local", container: "web" };
    return await probe(type, config, { context: { egress, clock, ...context } });
  }
  const config = SERVER_TYPES[type](host, port);
  return probe(type, { ...config, ...tlsConfig(type, tls, host, port) }, { names, context });
}

function tlsConfig(
  type: ServerType,
  tls: CheckedTls | undefined,
  host: string,
  port: number,
): MonitorConfig {
  if (tls === undefined) return {};
  const isVerified = tls === "verify";
  if (type === "smtp") return { tls: isVerified ? "starttls" : "starttls_if_offered" };
  if (type !== "websocket") return { tls: isVerified ? "verify" : "require" };
  return { url: `wss://${host}:${port}/`, verify_tls: isVerified };
}

/** Sends requests for registries to another server. There is no list of registries. */
function redirectedTo(registry: URL, egress: Egress): Egress {
  return {
    ...egress,
    async request(request) {
      if (request.url.hostname === "data.iana.org") return new Fault("dns", "There is no list.");
      return egress.request({ ...request, url: new URL(request.url.pathname, registry) });
    },
  };
}
