import { Problem } from "../errors";
import type { HeartbeatDirectory } from "../features/monitors";
import { CHALLENGE, readBearerToken } from "./credentials";
import type { Route } from "./route-table";
import { splitUrl } from "./split-url";

const UNKNOWN_TOKEN = "The heartbeat token is unknown: no push monitor of this server has it.";

/**
 * Returns the id of the monitor whose token a heartbeat carries. An unknown token is a Problem: 404 in a
 * path, 401 as bearer.
 */
export function findHeartbeatMonitor(
  heartbeats: HeartbeatDirectory,
  request: Request,
  route: Route,
): string | Problem {
  if (route.path.endsWith("/:token")) {
    const { path } = splitUrl(request.url) ?? { path: "" };
    return (
      heartbeats.find(path.slice(path.lastIndexOf("/") + 1)) ??
      new Problem("not_found", UNKNOWN_TOKEN)
    );
  }
  const header = request.headers.get("authorization");
  const token = header === null ? undefined : readBearerToken(header);
  if (token === undefined) {
    return new Problem(
      "missing_key",
      "Send the monitor's token in the header Authorization: Bearer <TOKEN>.",
      { headers: { "WWW-Authenticate": CHALLENGE } },
    );
  }
  return (
    heartbeats.find(token) ??
    new Problem("invalid_key", UNKNOWN_TOKEN, {
      headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
    })
  );
}
