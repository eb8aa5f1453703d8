import type { MonitorType } from "./status";

/** Products in whose formats a page can be read. */
export const COMPAT_PRODUCTS = ["uptime-kuma", "gatus"] as const;
export type CompatProduct = (typeof COMPAT_PRODUCTS)[number];

/** Returns the key by which clients of Gatus know a component. */
export function gatusKeyOf(group: string, name: string): string {
  return `${sanitize(group)}_${sanitize(name)}`;
}

function sanitize(text: string): string {
  return text
    .toLowerCase()
    .trim()
    .replace(/[/_., #+&]/g, "-");
}

/** Names of monitor types in Uptime Kuma. */
const KUMA_TYPES: Readonly<Record<MonitorType, string>> = {
  http: "http",
  tcp: "port",
  tls: "port",
  ssh: "port",
  dns: "dns",
  domain: "dns",
  ping: "ping",
  push: "push",
  websocket: "websocket-upgrade",
  grpc: "grpc-keyword",
  postgres: "postgres",
  mysql: "mysql",
  redis: "redis",
  mqtt: "mqtt",
  smtp: "smtp",
  docker: "docker",
  unsupported: "manual",
};

/** Returns the name of a monitor type in Uptime Kuma. A component without monitor is `manual`. */
export function kumaTypeOf(type: MonitorType | undefined): string {
  return type === undefined ? "manual" : KUMA_TYPES[type];
}
