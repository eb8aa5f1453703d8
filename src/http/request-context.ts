import { Elysia } from "elysia";
import type { Problem } from "../errors";
import type { LiveSession } from "../features/auth";
import type { Credential } from "../features/keys";
import type { Charge } from "../features/limits";
import type { DomainPage } from "../features/pages";
import { type Actor, userActor } from "../domain/actor";
import type { ClientAddress } from "../kernel/client-address";
import type { Route } from "./route-table";

/**
 * Caller of a request: the bearer of a live key, a signed-in user, a job with a heartbeat token, or
 * a client known by its address only.
 */
export type Caller =
  | { kind: "key"; credential: Credential }
  | { kind: "session"; session: LiveSession }
  | { kind: "job"; monitorId: string }
  | { kind: "address" };

/** Facts about one request that the gateway found before its handler runs. */
export interface RequestContext {
  requestId: string;
  /**
   * Arrival of the request, in unix ms. Code that runs after reading a body asks the clock again.
   */
  now: number;
  /** Undefined where no declared route matched. */
  route: Route | undefined;
  caller: Caller;
  /** The page whose custom domain the request was sent to; undefined on every other host. */
  domain: DomainPage | undefined;
  /** Client address. Reading it costs a system call. */
  readonly address: ClientAddress;
  /** The one token that the request took; undefined for a file, which takes none. */
  charge: Charge | undefined;
  /**
   * Judges the caller's credential once more: reading a body takes as long as its sender likes, and
   * a key may have been revoked, or a session ended, meanwhile. Throws a Problem if it opens nothing any more.
   */
  confirm(): void;
  /** Error of the handler, which the gateway writes. */
  failure: Problem | undefined;
  /** True if the response already has the headers of every response. */
  hasRequestHeaders: boolean;
}

/** The admissions of the requests under way. */
export interface RequestContexts {
  set(request: Request, requestContext: RequestContext): void;
  find(request: Request): RequestContext | undefined;
  /**
   * The plugin that gives handlers their `admission`. It refuses to run a handler other than the one
   * whose route the door has authorised, whatever two routers may make of a path.
   */
  plugin: ReturnType<typeof requestContextPlugin>;
}

export function createRequestContexts(): RequestContexts {
  // A property of this application's own: an entry in a WeakMap costs four times as much.
  const REQUEST_CONTEXT = Symbol("request-context");
  type Admitted = Request & { [REQUEST_CONTEXT]?: RequestContext };
  const find = (request: Admitted) => request[REQUEST_CONTEXT];
  return {
    set(request: Admitted, requestContext) {
      request[REQUEST_CONTEXT] = requestContext;
    },
    find,
    plugin: requestContextPlugin(find),
  };
}

function requestContextPlugin(find: (request: Request) => RequestContext | undefined) {
  return (
    new Elysia({ name: "request-context" })
      // Declares the property's type and gives it a place in the context, which the hook then fills.
      // Deriving it would make one more object a request, and copy it into the context. A route that does not use this plugin has no admission.
      .decorate("requestContext", undefined as unknown as RequestContext)
      .onTransform({ as: "scoped" }, (context) => {
        const requestContext = find(context.request);
        if (requestContext?.route?.path !== context.route) {
          throw new Error(`the door did not admit this request to ${context.route}`);
        }
        if (requestContext.route.body) requestContext.confirm();
        context.requestContext = requestContext;
      })
  );
}

/** The key that a protected route was called with. */
export function bearerOf(requestContext: RequestContext): Credential {
  if (requestContext.caller.kind !== "key") throw new Error("the route is not protected by a key");
  return requestContext.caller.credential;
}

/** The session that a dashboard's route was called with. */
export function sessionOf(requestContext: RequestContext): LiveSession {
  if (requestContext.caller.kind !== "session") throw new Error("the route needs no session");
  return requestContext.caller.session;
}

/** The id of the monitor whose job a heartbeat's route was called by. */
export function monitorIdOf(requestContext: RequestContext): string {
  if (requestContext.caller.kind !== "job") throw new Error("the route takes no heartbeats");
  return requestContext.caller.monitorId;
}

/** The caller as the one who did something, and from where. */
export function actorOf(requestContext: RequestContext): Actor {
  const { ip } = requestContext.address;
  if (requestContext.caller.kind === "session") {
    return userActor(requestContext.caller.session.user, ip);
  }
  const { key } = bearerOf(requestContext);
  return { kind: "key", id: key.id, label: key.name, ip };
}
