import { Type } from "@sinclair/typebox";
import { formatHost } from "../../../config";
import { type Certificate, type Fault, hostError, monitorPolicy } from "../../../egress";
import { type FieldError, pointer } from "../../../errors";
import { LineText } from "../../../domain/texts";
import { OneOf, Text } from "../../../kernel/schema";
import { DAY_MS } from "../../../kernel/time";
import { certificateSentence } from "../assertions";
import type { ProbeContext, ProbeResult, SeenCertificate } from "../probe";

/* Shared parts of several types' configs. */

export const HostText = LineText({
  minLength: 1,
  maxLength: 255,
  description: "Host name or IP address.",
  examples: ["db.example.com"],
});

export const PortNumber = Type.Integer({ minimum: 1, maximum: 65_535, examples: [5432] });

/** Returns the schema of an optional port. */
export function portField(defaultPort: number) {
  return Type.Optional({ ...PortNumber, description: `Default: ${defaultPort}.` });
}

/** Encryption of a connection that begins with TLS, or upgrades to it. */
export const TLS_MODES = ["off", "require", "verify"] as const;
export type TlsMode = (typeof TLS_MODES)[number];

export const TlsField = Type.Optional(
  OneOf(TLS_MODES, {
    description:
      "off: no TLS; require: TLS with any certificate; verify: TLS with a certificate that is trusted for the host. Default: off.",
  }),
);

export const VerifyTls = Type.Boolean({
  description: "False accepts any certificate. Default: true.",
});

export const DEFAULT_WARNING_DAYS = 14;

export const WarningDays = Type.Integer({
  minimum: 0,
  maximum: 365,
  description: `Days before the expiry of a certificate from which a check warns, without failing. Default: ${DEFAULT_WARNING_DAYS}; 0 for never.`,
});

const CREDENTIAL_MAX = 1_000;

export const UserName = LineText({ minLength: 1, maxLength: 255 });

export const Password = Text({
  maxLength: CREDENTIAL_MAX,
  description: "Password. It is a secret and is never returned.",
});

/** Fields of a config that name a server. */
interface ServerFields {
  host: string;
  port?: number | null;
  tls?: string | null;
}

/** Returns the server to which a config's secrets are sent: one with other rules for TLS is another one. */
export function serverOf({ host, port, tls }: ServerFields, defaultPort: number): string {
  return `${tls ?? "off"} ${host} ${port ?? defaultPort}`;
}

/** Returns the config of a server that may use TLS, with defaults. */
export function withServerDefaults<
  Config extends { port?: number; tls?: TlsMode; certificate_warning_days?: number },
>(config: Config, defaultPort: number) {
  return {
    ...config,
    port: config.port ?? defaultPort,
    tls: config.tls ?? ("off" as TlsMode),
    certificate_warning_days: config.certificate_warning_days ?? DEFAULT_WARNING_DAYS,
  };
}

/** Returns the target of a config that names a server, for lists. */
export function serverTarget({ host, port }: ServerFields, defaultPort: number): string {
  return `${formatHost(host)}:${port ?? defaultPort}`;
}

// Letters and digits of any language, and separators of names and addresses. A leading hyphen could
// be read as an option.
const HOST_SHAPE = /^(?!-)[\p{L}\p{M}\p{N}_.:[\]-]+$/u;

/** Returns errors of a config's host that the schema cannot express. */
export function validateHostField({ host }: { host: string }): FieldError[] {
  const detail = HOST_SHAPE.test(host)
    ? hostError(host, monitorPolicy)
    : "must be a host name or an IP address";
  return detail === undefined ? [] : [{ pointer: pointer("host"), detail }];
}

/** Returns a config with changed fields; null removes one. */
export function mergeFields<Config extends object>(
  before: Config,
  change: Readonly<Record<string, unknown>>,
): Config {
  const merged = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged) as Config;
}

/** Returns the time since `startedAt` (monotonic clock), in whole ms. */
export function elapsedMs({ clock }: Pick<ProbeContext, "clock">, startedAt: number): number {
  return Math.round(clock.monotonic() - startedAt);
}

/** Returns the result of a check that failed by a fault: `unknown` for a fault of this server. */
export function failed(fault: Fault): ProbeResult {
  const { kind, message, certificate } = fault;
  return {
    outcome: kind === "local" ? "unknown" : "failed",
    latencyMs: null,
    message,
    ...((kind === "refused" || kind === "proxy") && { isOwnFault: true }),
    ...(kind === "proxy" && { publicMessage: "The service could not be reached." }),
    ...(certificate ? { certificate: seen(certificate) } : {}),
  };
}

/** Returns the whole days until a certificate expires, negative after it; null without one. */
export function daysLeft(
  certificate: Pick<Certificate, "expiresAt"> | null | undefined,
  clock: ProbeContext["clock"],
): number | null {
  return certificate ? Math.floor((certificate.expiresAt - clock.now()) / DAY_MS) : null;
}

/** Returns the message of a successful check whose certificate expires soon; null for none. */
export function expiryWarning(certificateDays: number | null, warningDays: number): string | null {
  if (certificateDays === null || certificateDays >= warningDays) return null;
  return certificateSentence(certificateDays);
}

/** Returns the facts of a certificate that a result keeps. */
export function seen({ host, expiresAt, fingerprint }: Certificate): SeenCertificate {
  return { host, expiresAt, fingerprint };
}
