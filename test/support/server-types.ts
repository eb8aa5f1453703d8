import type { MonitorConfig } from "../../src/features/monitors/probes";
import type { MonitorType } from "../../src/domain/monitor-state";

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
  redis: (host, port) => ({ host, port, user: "monitor", password: SERVER_SECRET }),
  mqtt: (host, port) => ({ host, port, user: "monitor", password: SERVER_SECRET, topic: "#" }),
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
