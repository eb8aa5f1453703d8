import type { Log } from "../kernel/log";
import { redactUrl } from "../kernel/redact";
import type { Visit } from "./visit";

/** Logs an answered request. `now` is monotonic, in ms. */
export function logRequest(log: Log, visit: Visit, status: number, now: number): void {
  const { request, caller } = visit;
  log.debug(
    {
      request: visit.requestId,
      method: request.method,
      url: redactUrl(request.url),
      status,
      ms: Math.round((now - visit.since) * 100) / 100,
      ip: visit.address.ip,
      ...(caller.kind === "key" ? { key: caller.credential.key.id } : {}),
      ...(caller.kind === "session" ? { user: caller.session.user.id } : {}),
      ...(caller.kind === "job" ? { monitor: caller.monitorId } : {}),
    },
    "request",
  );
}
