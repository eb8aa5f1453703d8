import type { Ctx } from "../context";
import { Problem } from "../base/errors";
import type { Sessions } from "../features/auth/sessions";
import type { HeartbeatDirectory } from "../features/monitors/heartbeats";
import { type Role, roleAllows } from "../base/actor";
import {
  authenticateBasic,
  type Credentials,
  findHeartbeatMonitor,
  reporterProblem,
  scopeProblem,
  tokenInPath,
} from "./credentials";
import { noRoute } from "./gateway-answers";
import { toProblem } from "./problems";
import type { Access, DeclaredRoute } from "./operation";
import { ADDRESS_ONLY, type Caller, type GatewayContext } from "./request-context";
import type { Match } from "./route-table";
import { findCurrentSession } from "./cookies";

/** Path of the dashboard's sign-in. */
export const SIGN_IN_PATH = "/admin/sign-in";

interface Authorisation {
  /** Finds the caller of a request. Returns a Problem if the request is rejected. */
  authorise(context: GatewayContext, match: Match): Problem | undefined;
  /** Checks the caller again, as of now. Throws a Problem if the caller's rights have ended. */
  confirm(context: GatewayContext): void;
}

/** Sources of callers, found by the credential that they present. */
export interface CallerSources {
  credentials: Credentials;
  sessions: Sessions;
  heartbeats: HeartbeatDirectory;
}

/**
 * Authorises requests by the declarations of their routes, without reading a body. `sources` is called only
 * for routes that need a credential.
 */
export function createAuthorisation(ctx: Ctx, sources: () => CallerSources): Authorisation {
  function findCaller(
    context: GatewayContext,
    route: DeclaredRoute,
    now: number,
  ): Caller | Problem {
    const { request, domain } = context;
    try {
      const { access } = route.operation;
      switch (access.kind) {
        case "key": {
          const header = request.headers.get("authorization");
          const { credentials } = sources();
          const credential = access.takesBasic
            ? authenticateBasic(credentials, header, now)
            : credentials.authenticate(header, now);
          return credential instanceof Problem ? credential : { kind: "key", credential };
        }
        case "session": {
          const session = findCurrentSession(ctx, sources().sessions, request, now);
          return session ? { kind: "session", session } : signInRequired();
        }
        case "heartbeat": {
          const owner = findHeartbeatMonitor(sources().heartbeats, request, route);
          return owner instanceof Problem ? owner : { kind: "job", owner };
        }
        case "imported-heartbeat": {
          const { heartbeats } = sources();
          for (const token of access.tokensOf(request)) {
            const owner = heartbeats.findImported(token);
            if (owner) return { kind: "job", owner };
          }
          return ADDRESS_ONLY;
        }
        case "link": {
          const bucket = access.find(tokenInPath(request, route), { domain, now });
          return bucket instanceof Problem ? bucket : { kind: "link", bucket };
        }
        case "reporter":
          return reporterProblem(access.isToken, request, route) ?? { kind: "reporter" };
        default:
          return ADDRESS_ONLY;
      }
    } catch (error) {
      // After a change, the next look-up reads keys and tokens from the database, which may fail.
      return toProblem(error);
    }
  }

  return {
    authorise(context, match) {
      const { request } = context;
      const { route } = match;
      if (!route) return noRoute(request.method, match.allowed);
      const { access } = route.operation;
      const caller = findCaller(context, route, context.now);
      const takesForms = access.kind === "session" || access.kind === "public";
      const crossSite = takesForms ? crossSiteProblem(ctx, request) : undefined;
      if (caller instanceof Problem) return crossSite ?? caller;
      context.caller = caller;
      return crossSite ?? permissionProblem(access, caller);
    },

    confirm(context) {
      const { route } = context;
      if (!route) return;
      const caller = findCaller(context, route, ctx.clock.now());
      const problem =
        caller instanceof Problem ? caller : permissionProblem(route.operation.access, caller);
      if (problem) throw problem;
      // The token may have been ended.
      if (route.operation.access.kind === "imported-heartbeat") context.caller = caller as Caller;
    },
  };
}

/** Returns the problem of a caller without a scope or role of the route. */
function permissionProblem(access: Access, caller: Caller): Problem | undefined {
  if (access.kind === "key" && caller.kind === "key") {
    return scopeProblem(caller.credential, access.scopes);
  }
  return access.kind === "session" && caller.kind === "session"
    ? roleProblem(caller.session.user.role, access.role)
    : undefined;
}

function roleProblem(held: Role, needed: Role): Problem | undefined {
  if (roleAllows(held, needed)) return undefined;
  return new Problem(
    "insufficient_role",
    `This page needs the ${needed} role, and your role is ${held}. Ask an owner to change your role.`,
  );
}

function signInRequired(): Problem {
  return new Problem("sign_in_required", "Sign in to the dashboard. Nothing was changed.", {
    headers: { "WWW-Authenticate": `Cookie realm="allclear", form-action="${SIGN_IN_PATH}"` },
  });
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Returns 403 for a form that a page of another site sent: browsers add the session cookie to it. */
function crossSiteProblem({ baseUrl }: Ctx, request: Request): Problem | undefined {
  if (SAFE_METHODS.has(request.method) || isFromOwnPage(request, baseUrl)) return undefined;
  return new Problem(
    "cross_site_request",
    "This form was not sent from a page of this server, so nothing was changed. Open the dashboard and send it from there.",
  );
}

/**
 * Browsers name the sending site in `Sec-Fetch-Site`, except over plain HTTP. There the `Origin` must be
 * the host of the request or the public address. Returns false without either header.
 */
function isFromOwnPage({ headers, url }: Request, baseUrl: string): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = hostOf(headers.get("origin"));
  return origin !== undefined && (origin === hostOf(url) || origin === hostOf(baseUrl));
}

/** Returns host and port of an http URL; undefined for other text, such as `null`. A dot that ends the host is left out. */
export function hostOf(url: string | null): string | undefined {
  if (url === null || !/^https?:\/\//i.test(url)) return undefined;
  try {
    return new URL(url).host.replace(/\.(?=:|$)/, "");
  } catch {
    return undefined;
  }
}
