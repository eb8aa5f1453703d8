import { Type } from "@sinclair/typebox";
import { type Certificate, type Fault, hostError, monitorPolicy } from "../../../egress";
import { type FieldError, pointer } from "../../../errors";
import { LineText } from "../../../domain/texts";
import type { ProbeContext, ProbeResult, SeenCertificate } from "../probe";

/* Shared parts of several types' configs. */

export const HostText = LineText({
  minLength: 1,
  maxLength: 255,
  description: "Host name or IP address.",
  examples: ["db.example.com"],
});

export const PortNumber = Type.Integer({ minimum: 1, maximum: 65_535, examples: [5432] });

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
    ...(certificate ? { certificate: seen(certificate) } : {}),
  };
}

/** Returns the facts of a certificate that a result keeps. */
export function seen({ host, expiresAt, fingerprint }: Certificate): SeenCertificate {
  return { host, expiresAt, fingerprint };
}
