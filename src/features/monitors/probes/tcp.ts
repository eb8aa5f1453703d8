import { type Static, Type } from "@sinclair/typebox";
import { formatHost } from "../../../base/config/parse";
import { Fault } from "../../../egress/model";
import type { Probe } from "../monitoring";
import { elapsedMs, failed, HostText, mergeFields, PortNumber, validateHostField } from "./fields";

const TcpConfig = Type.Object(
  { host: HostText, port: PortNumber },
  { additionalProperties: false, examples: [{ host: "db.example.com", port: 5432 }] },
);
type TcpConfig = Static<typeof TcpConfig>;

/** Checks that a port accepts connections. */
export const tcpProbe = {
  type: "tcp",
  label: "TCP port",
  config: TcpConfig,
  shown: TcpConfig,
  validate: validateHostField,
  present: (config) => config,
  merge: mergeFields,
  targetOf: ({ host, port }) => `${formatHost(host)}:${port}`,
  async run({ host, port }, context) {
    const { egress, clock, signal, steps, contact } = context;
    const startedAt = clock.monotonic();
    const connection = await egress.connect({
      host,
      port,
      policy: "monitor",
      signal,
      steps,
      contact,
    });
    if (connection instanceof Fault) return failed(connection);
    connection.close();
    return { outcome: "ok", latencyMs: elapsedMs(context, startedAt), message: null };
  },
} satisfies Probe<"tcp", TcpConfig>;
