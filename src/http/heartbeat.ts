import { notFound, Problem } from "../errors";
import type { HeartbeatDirectory } from "../features/monitors";
import { CHALLENGE, readBearerToken } from "./credentials";
import type { Route } from "./route-table";
import { splitUrl } from "./split-url";

/**
 * The id of the monitor whose token a heartbeat carries. A Problem where it carries none that is good:
 * in a path it is one that is not there, and as bearer it is refused; neither says more.
 */
export function judgeHeartbeat(
  heartbeats: HeartbeatDirectory,
  request: Request,
  route: Route,
): string | Problem {
  if (route.path.endsWith("/:token")) {
    const { path } = splitUrl(request.url) ?? { path: "" };
    return heartbeats.find(path.slice(path.lastIndexOf("/") + 1)) ?? notFound("path");
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
    new Problem("invalid_key", "The token is not one of this server's.", {
      headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
    })
  );
}
