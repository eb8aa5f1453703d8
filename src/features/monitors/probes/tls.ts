import { type Static, Type } from "@sinclair/typebox";
import { formatHost } from "../../../base/config/parse";
import { Fault } from "../../../egress/model";
import { DAY_MS } from "../../../base/time";
import { certificateSentence } from "../assertions/words";
import type { Probe } from "../monitoring";
import {
  ConnectToBody,
  DEFAULT_TLS_MIN,
  elapsedMs,
  failed,
  HostText,
  mergeFields,
  PortNumber,
  seen,
  TLS_FIELDS,
  tlsRulesOf,
  validateConnectTo,
  validateHostField,
} from "./fields";

const DEFAULT_PORT = 443;
const DEFAULT_DAYS = 14;

const TlsConfig = Type.Object(
  {
    host: {
      ...HostText,
      description: "Host name or IP address, which the certificate must contain.",
    },
    port: Type.Optional({ ...PortNumber, description: `Default: ${DEFAULT_PORT}.` }),
    days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description: `Days before the expiry of the certificate, or of one that the server sends with it, from which the check fails. Default: ${DEFAULT_DAYS}.`,
      }),
    ),
    connect_to: Type.Optional(ConnectToBody),
    ...TLS_FIELDS,
  },
  { additionalProperties: false, examples: [{ host: "example.com", days: 14 }] },
);
type TlsConfig = Static<typeof TlsConfig>;

/** Checks that a server has a valid certificate that does not expire too soon. */
export const tlsProbe = {
  type: "tls",
  label: "TLS certificate",
  config: TlsConfig,
  shown: TlsConfig,
  validate: (config) => [...validateHostField(config), ...validateConnectTo(config)],
  present: ({
    port = DEFAULT_PORT,
    days = DEFAULT_DAYS,
    tls_min = DEFAULT_TLS_MIN,
    ...config
  }) => ({
    ...config,
    port,
    days,
    tls_min,
  }),
  merge: mergeFields,
  targetOf: ({ host, port = DEFAULT_PORT }) => `${formatHost(host)}:${port}`,
  async run({ host, port: ownPort = DEFAULT_PORT, days = DEFAULT_DAYS, ...config }, context) {
    const { egress, clock, signal, steps, contact } = context;
    const startedAt = clock.monotonic();
    const tls = { verify: true };
    const { address = host, port = ownPort } = config.connect_to ?? {};
    const rules = tlsRulesOf(config);
    const connection = await egress.connect({
      host: address,
      port,
      serverName: host,
      tls,
      ...rules,
      policy: "monitor",
      signal,
      steps,
      contact,
    });
    if (connection instanceof Fault) return failed(connection);
    connection.close();
    const latencyMs = elapsedMs(context, startedAt);
    const { certificate } = connection;
    if (!certificate) {
      return { outcome: "failed", latencyMs, message: "The server sent no certificate." };
    }
    const { expiresAt } = certificate;
    const leftMs = expiresAt - clock.now();
    const isEnough = leftMs >= days * DAY_MS;
    return {
      outcome: isEnough ? "ok" : "failed",
      latencyMs,
      message: isEnough ? null : certificateSentence(wholeDays(leftMs), certificate.intermediate),
      certificate: seen(certificate),
    };
  },
} satisfies Probe<"tls", TlsConfig>;

function wholeDays(ms: number): number {
  return Math.max(0, Math.floor(ms / DAY_MS));
}
