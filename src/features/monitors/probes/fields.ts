import { Type } from "@sinclair/typebox";
import { type Fault, hostError, monitorPolicy } from "../../../egress";
import { type FieldError, pointer } from "../../../errors";
import { LineText } from "../../../domain/texts";
import type { ProbeContext, ProbeResult } from "../probe";

/* What the configs of several types share. */

export const HostText = LineText({
  minLength: 1,
  maxLength: 255,
  description: "A host name or an IP address.",
  examples: ["db.example.com"],
});

export const PortNumber = Type.Integer({ minimum: 1, maximum: 65_535, examples: [5432] });

// Letters and digits of any language, and what names and addresses have between them. A host that began
// with a hyphen could be taken for an option.
const HOST_SHAPE = /^(?!-)[\p{L}\p{M}\p{N}_.:[\]-]+$/u;

/** Returns errors of a config's host that the schema cannot express. */
export function validateHostField({ host }: { host: string }): FieldError[] {
  const detail = HOST_SHAPE.test(host)
    ? hostError(host, monitorPolicy)
    : "must be a host name or an IP address";
  return detail === undefined ? [] : [{ pointer: pointer("host"), detail }];
}

/** A config with the fields that a change names; null takes one away. */
export function mergeFields<Config extends object>(
  before: Config,
  change: Readonly<Record<string, unknown>>,
): Config {
  const merged = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged) as Config;
}

/** The time since a moment of the monotonic clock, in whole ms. */
export function elapsedMs({ clock }: Pick<ProbeContext, "clock">, startedAt: number): number {
  return Math.round(clock.monotonic() - startedAt);
}

/** The result of a check whose target did not answer as it should, unless this server is to blame. */
export function failed(fault: Fault): ProbeResult {
  const { kind, message, certificate } = fault;
  return {
    outcome: kind === "local" ? "unknown" : "failed",
    latencyMs: null,
    message,
    ...(certificate ? { certificateExpiresAt: certificate.expiresAt } : {}),
  };
}
