import type { AppContext } from "../context";
import { Problem } from "../errors";
import type { LiveSession, Sessions } from "../features/auth";
import type { Credential, KeyDirectory } from "../features/keys";
import type { HeartbeatDirectory } from "../features/monitors";
import { type Role, roleAllows } from "../kernel/role";
import { createCredentials, judgeScopes } from "./credentials";
import { judgeCrossSite } from "./cross-site";
import { judgeHeartbeat } from "./heartbeat";
import { toProblem } from "./problems";
import { noRoute } from "./refusals";
import type { Match, Route } from "./route-table";
import { findCurrentSession } from "./session-cookie";
import type { GatewayContext } from "./visit";

/** Where people sign in to the dashboard. */
export const SIGN_IN_PATH = "/admin/sign-in";

interface Authorisation {
  /** Finds out who is calling. Answers what speaks against letting the request through. */
  judge(context: GatewayContext, match: Match): Problem | undefined;
  /** Judges the caller anew, as of now. Throws a Problem if they may not go on. */
  confirm(context: GatewayContext): void;
}

/** Whom the door lets in. */
interface Known {
  keys: KeyDirectory;
  sessions: Sessions;
  heartbeats: HeartbeatDirectory;
}

/** Who may go through the door, by what the route declares. No body is read for it. */
export function createAuthorisation(
  ctx: Pick<AppContext, "baseUrl" | "clock">,
  { keys, sessions, heartbeats }: Known,
): Authorisation {
  const credentials = createCredentials(keys);

  /** Keys are read anew after a change, at the next look-up; the database may refuse that. */
  function judgeCredential(request: Request, now: number): Credential | Problem {
    try {
      return credentials.judge(request.headers.get("authorization"), now);
    } catch (error) {
      return toProblem(error, "UNKNOWN");
    }
  }

  function judgeToken(request: Request, route: Route): string | Problem {
    try {
      return judgeHeartbeat(heartbeats, request, route);
    } catch (error) {
      return toProblem(error, "UNKNOWN");
    }
  }

  function judgeSession(request: Request, now: number): LiveSession | Problem {
    try {
      return findCurrentSession(ctx, sessions, request, now) ?? signInRequired();
    } catch (error) {
      return toProblem(error, "UNKNOWN");
    }
  }

  return {
    judge(context, match) {
      if (!match.route) return noRoute(context.request.method, match.allowed);
      const { access } = match.route.operation;
      if (access.kind === "key") {
        const verdict = judgeCredential(context.request, context.now);
        if (verdict instanceof Problem) return verdict;
        context.caller = { kind: "key", credential: verdict };
        return judgeScopes(verdict, access.scopes);
      }
      if (access.kind === "session") {
        const verdict = judgeSession(context.request, context.now);
        if (verdict instanceof Problem) return judgeCrossSite(ctx, context.request) ?? verdict;
        context.caller = { kind: "session", session: verdict };
        return judgeCrossSite(ctx, context.request) ?? judgeRole(verdict.user.role, access.role);
      }
      if (access.kind === "heartbeat") {
        const verdict = judgeToken(context.request, match.route);
        if (verdict instanceof Problem) return verdict;
        context.caller = { kind: "job", monitorId: verdict };
        return undefined;
      }
      return access.kind === "public" ? judgeCrossSite(ctx, context.request) : undefined;
    },

    confirm({ request, caller, route }) {
      const now = ctx.clock.now();
      if (caller.kind === "key") {
        const verdict = judgeCredential(request, now);
        if (verdict instanceof Problem) throw verdict;
      }
      if (caller.kind === "job" && route) {
        const verdict = judgeToken(request, route);
        if (verdict instanceof Problem) throw verdict;
      }
      if (caller.kind === "session") {
        const verdict = judgeSession(request, now);
        if (verdict instanceof Problem) throw verdict;
        const access = route?.operation.access;
        const refusal =
          access?.kind === "session" ? judgeRole(verdict.user.role, access.role) : undefined;
        if (refusal) throw refusal;
      }
    },
  };
}

function judgeRole(held: Role, needed: Role): Problem | undefined {
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
