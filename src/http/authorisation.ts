import type { AppContext } from "../context";
import { Problem } from "../errors";
import type { LiveSession, Sessions } from "../features/auth";
import type { Credential, KeyDirectory } from "../features/keys";
import type { HeartbeatDirectory } from "../features/monitors";
import { type Role, roleAllows } from "../domain/role";
import { createCredentials, scopeProblem } from "./credentials";
import { crossSiteProblem } from "./cross-site";
import { findHeartbeatMonitor } from "./heartbeat";
import { toProblem } from "./problems";
import { noRoute } from "./gateway-answers";
import type { Match, Route } from "./route-table";
import { findCurrentSession } from "./session-cookie";
import type { GatewayContext } from "./visit";

/** Path of the dashboard's sign-in. */
export const SIGN_IN_PATH = "/admin/sign-in";

interface Authorisation {
  /** Finds out who is calling. Answers what speaks against letting the request through. */
  authorise(context: GatewayContext, match: Match): Problem | undefined;
  /** Judges the caller anew, as of now. Throws a Problem if they may not go on. */
  confirm(context: GatewayContext): void;
}

/** Whom the door lets in. */
interface Known {
  keys: KeyDirectory;
  sessions: Sessions;
  heartbeats: HeartbeatDirectory;
}

/** Authorises requests by what their route declares, without reading a body. */
export function createAuthorisation(
  ctx: Pick<AppContext, "baseUrl" | "clock">,
  { keys, sessions, heartbeats }: Known,
): Authorisation {
  const credentials = createCredentials(keys);

  /** Keys are read anew after a change, at the next look-up; the database may refuse that. */
  function credentialOrProblem(request: Request, now: number): Credential | Problem {
    try {
      return credentials.authenticate(request.headers.get("authorization"), now);
    } catch (error) {
      return toProblem(error, "UNKNOWN");
    }
  }

  function heartbeatTokenOrProblem(request: Request, route: Route): string | Problem {
    try {
      return findHeartbeatMonitor(heartbeats, request, route);
    } catch (error) {
      return toProblem(error, "UNKNOWN");
    }
  }

  function sessionOrProblem(request: Request, now: number): LiveSession | Problem {
    try {
      return findCurrentSession(ctx, sessions, request, now) ?? signInRequired();
    } catch (error) {
      return toProblem(error, "UNKNOWN");
    }
  }

  return {
    authorise(context, match) {
      if (!match.route) return noRoute(context.request.method, match.allowed);
      const { access } = match.route.operation;
      if (access.kind === "key") {
        const verdict = credentialOrProblem(context.request, context.now);
        if (verdict instanceof Problem) return verdict;
        context.caller = { kind: "key", credential: verdict };
        return scopeProblem(verdict, access.scopes);
      }
      if (access.kind === "session") {
        const verdict = sessionOrProblem(context.request, context.now);
        if (verdict instanceof Problem) return crossSiteProblem(ctx, context.request) ?? verdict;
        context.caller = { kind: "session", session: verdict };
        return (
          crossSiteProblem(ctx, context.request) ?? roleProblem(verdict.user.role, access.role)
        );
      }
      if (access.kind === "heartbeat") {
        const verdict = heartbeatTokenOrProblem(context.request, match.route);
        if (verdict instanceof Problem) return verdict;
        context.caller = { kind: "job", monitorId: verdict };
        return undefined;
      }
      return access.kind === "public" ? crossSiteProblem(ctx, context.request) : undefined;
    },

    confirm({ request, caller, route }) {
      const now = ctx.clock.now();
      if (caller.kind === "key") {
        const verdict = credentialOrProblem(request, now);
        if (verdict instanceof Problem) throw verdict;
      }
      if (caller.kind === "job" && route) {
        const verdict = heartbeatTokenOrProblem(request, route);
        if (verdict instanceof Problem) throw verdict;
      }
      if (caller.kind === "session") {
        const verdict = sessionOrProblem(request, now);
        if (verdict instanceof Problem) throw verdict;
        const access = route?.operation.access;
        const problem =
          access?.kind === "session" ? roleProblem(verdict.user.role, access.role) : undefined;
        if (problem) throw problem;
      }
    },
  };
}

function roleProblem(held: Role, needed: Role): Problem | undefined {
  if (roleAllows(held, needed)) return undefined;
  return new Problem(
    "insufficient_role",
    `This page needs the ${needed} role. Your role is ${held}.`,
  );
}

function signInRequired(): Problem {
  return new Problem("sign_in_required", "Sign in to the dashboard. Nothing was changed.", {
    headers: { "WWW-Authenticate": `Cookie realm="allclear", form-action="${SIGN_IN_PATH}"` },
  });
}
