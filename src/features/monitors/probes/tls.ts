import { type Static, Type } from "@sinclair/typebox";
import { formatHost } from "../../../config";
import { Fault } from "../../../egress";
import { plural } from "../../../kernel/text";
import { DAY_MS } from "../../../kernel/time";
import type { Probe } from "../probe";
import {
  elapsedMs,
  failed,
  HostText,
  mergeFields,
  PortNumber,
  seen,
  validateHostField,
} from "./fields";

const DEFAULT_PORT = 443;
const DEFAULT_DAYS = 14;

const TlsConfig = Type.Object(
  {
    host: HostText,
    port: Type.Optional({ ...PortNumber, description: `Default: ${DEFAULT_PORT}.` }),
    days: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description: `Days before the expiry of the certificate from which the check fails. Default: ${DEFAULT_DAYS}.`,
      }),
    ),
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
  validate: validateHostField,
  present: ({ host, port = DEFAULT_PORT, days = DEFAULT_DAYS }) => ({ host, port, days }),
  merge: mergeFields,
  targetOf: ({ host, port = DEFAULT_PORT }) => `${formatHost(host)}:${port}`,
  async run({ host, port = DEFAULT_PORT, days = DEFAULT_DAYS }, context) {
    const { egress, clock, signal, steps } = context;
    const startedAt = clock.monotonic();
    const tls = { verify: true };
    const target = { host, port, tls, policy: "monitor", signal, steps } as const;
    const connection = await egress.connect(target);
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
      message: isEnough ? null : `The certificate expires in ${plural(wholeDays(leftMs), "day")}.`,
      certificate: seen(certificate),
    };
  },
} satisfies Probe<"tls", TlsConfig>;

function wholeDays(ms: number): number {
  return Math.max(0, Math.floor(ms / DAY_MS));
}
