import { type Static, Type } from "@sinclair/typebox";
import { PRODUCTS } from "../../../base/import-report";
import { LineText } from "../../../base/texts";
import type { Probe } from "../monitoring";

/** Names of products from which monitors are imported. Others are shown as they are stored. */
const SOURCES: Readonly<Record<string, string>> = PRODUCTS;

/** Names of types of other products. Others are shown as they are stored. */
const TYPES: Readonly<Record<string, string>> = {
  gamedig: "GameDig",
  globalping: "Globalping",
  "kafka-producer": "Kafka",
  mongodb: "MongoDB",
  ntp: "NTP",
  oracledb: "Oracle Database",
  pm2: "PM2",
  rabbitmq: "RabbitMQ",
  radius: "RADIUS",
  "real-browser": "Browser",
  sftp: "SFTP",
  "sip-options": "SIP",
  snmp: "SNMP",
  sqlserver: "Microsoft SQL Server",
  steam: "Steam",
  "system-service": "System service",
  "tailscale-ping": "Tailscale ping",
};

const Shown = Type.Object(
  {
    source: LineText({
      minLength: 1,
      maxLength: 50,
      description: "Product from which the monitor was imported.",
      examples: ["uptime-kuma"],
    }),
    type: LineText({
      minLength: 1,
      maxLength: 50,
      description: "Type that the monitor has in that product.",
      examples: ["mongodb"],
    }),
    target: LineText({
      minLength: 1,
      maxLength: 2_000,
      description: "Short form of the checked address, without credentials and query.",
      examples: ["db.example.com:27017"],
    }),
  },
  { additionalProperties: false },
);

const UnsupportedConfig = Type.Object(
  {
    ...Shown.properties,
    // All of them are secrets, since nothing is known about them.
    settings: Type.Record(Type.String(), Type.Unknown()),
  },
  { additionalProperties: false },
);
export type UnsupportedConfig = Static<typeof UnsupportedConfig>;

/** Keeps an imported monitor that this version cannot check, with its settings. */
export const unsupportedProbe = {
  type: "unsupported",
  label: "Not supported",
  config: UnsupportedConfig,
  shown: Shown,
  maxIntervalSeconds: 31_536_000,
  canOmitInterval: true,
  validate: () => [],
  present: ({ source, type, target }) => ({ source, type, target }),
  merge: (before) => before,
  targetOf: ({ target }) => target,
} satisfies Probe<"unsupported", UnsupportedConfig>;

/** Names of the type and of the product of a monitor, such as "MongoDB" and "Uptime Kuma". */
export function originOf(
  config: Readonly<Record<string, unknown>>,
): Record<"type" | "source", string> {
  const { source, type } = config as UnsupportedConfig;
  return {
    type: (Object.hasOwn(TYPES, type) && TYPES[type]) || type,
    source: (Object.hasOwn(SOURCES, source) && SOURCES[source]) || source,
  };
}
