import type { Charge, Limiter } from "../features/limits/limiter";
import type { GatewayContext } from "./request-context";

/** Charges the caller of a request, whose credential was looked up. Files are charged only if they are missing. */
export function chargeCaller(
  limiter: Limiter,
  context: GatewayContext,
): Charge | Promise<Charge> | undefined {
  const { caller } = context;
  const key = caller.kind === "key" ? caller.credential.key : undefined;
  if (key) return limiter.chargeKey(key.id, key.rateLimit);
  if (caller.kind === "session") return limiter.chargeSession(caller.session.id);
  if (caller.kind === "job") return limiter.chargeHeartbeat(caller.owner.bucket);
  if (caller.kind === "link") return limiter.chargeLink(caller.bucket);
  if (caller.kind === "reporter") return limiter.chargeReporter();
  const kind = context.route?.operation.access.kind;
  if (kind === "file") return undefined;
  return kind === "health"
    ? limiter.chargeHealthCheck(context.address)
    : limiter.chargeAddress(context.address);
}
