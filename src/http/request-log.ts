import { redactUrl } from "../base/redaction";
import type { Log } from "../base/log";
import type { GatewayContext } from "./request-context";

/** Logs an answered request. `now` is monotonic, in ms. */
export function logRequest(log: Log, context: GatewayContext, status: number, now: number): void {
  const { request, caller } = context;
  log.debug(
    {
      request: context.requestId,
      method: request.method,
      url: redactUrl(request.url),
      status,
      ms: Math.round((now - context.since) * 100) / 100,
      ip: context.address.ip,
      ...(caller.kind === "key" ? { key: caller.credential.key.id } : {}),
      ...(caller.kind === "session" ? { user: caller.session.user.id } : {}),
      ...(caller.kind === "job" ? { monitor: caller.owner.monitorId } : {}),
    },
    "request",
  );
}
