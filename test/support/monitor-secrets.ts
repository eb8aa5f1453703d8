import type { MonitorType } from "../../src/base/status";

interface MonitorSecrets {
  /** Secret fields of a config: a text, or each value of a record. */
  secrets: Readonly<Record<string, "text" | "values">>;
  /** Names of the secret parts of objects in a config, by field. */
  secretParts: Readonly<Record<string, readonly string[]>>;
}

/** Secrets of the types that have any. They are written down here, so that a test finds one that is not marked. */
const SECRETS: Readonly<Partial<Record<MonitorType, MonitorSecrets["secrets"]>>> = {
  http: { headers: "values", body: "text" },
  websocket: { headers: "values", send: "text" },
  grpc: { metadata: "values" },
  postgres: { password: "text", query: "text" },
  mysql: { password: "text", query: "text" },
  redis: { password: "text" },
  mqtt: { password: "text" },
  smtp: { password: "text" },
};

const HTTP_PARTS = {
  oauth2: ["client_secret"],
  client_certificate: ["key"],
  proxy: ["password"],
  digest: ["password"],
};

/** Returns the secrets of a type; none for most. */
export function monitorSecrets(type: MonitorType): MonitorSecrets {
  return { secrets: SECRETS[type] ?? {}, secretParts: type === "http" ? HTTP_PARTS : {} };
}
