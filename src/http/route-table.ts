import type { TSchema } from "@sinclair/typebox";
import { Memoirist } from "memoirist";
import type { MetricFamily } from "../features/metrics/metrics";
import type { DomainPage } from "../features/pages/addresses";
import { type DeclaredBody, declaredBodyOf } from "./body";
import { type DeclaredRoute, operation, operationOf } from "./operation";
import { type RequestContext, withoutSlash } from "./request-context";

/** A declared route, as the gateway sees it. */
export interface Route extends DeclaredRoute {
  /** The body that it reads; undefined if it reads none. */
  body: DeclaredBody | undefined;
  handle: Handle;
}

/** Answers a request to its route. Throws a Problem for a rejected one. */
export type Handle = (call: Call) => Response | Promise<Response>;

/** A request whose route is known. */
interface Call {
  /** The request by GET if it is a HEAD. */
  request: Request;
  /** Decoded parameters of the path. */
  params: Record<string, string>;
  /** The query as it was sent, without the question mark. */
  query: string;
  requestContext: RequestContext;
}

/** The route of a request, or else the methods of its path; none if the path is unknown. */
export type Match =
  | { route: Route; params: Record<string, string> }
  | { route: undefined; allowed: readonly string[] };

export const NO_MATCH: Match = { route: undefined, allowed: [] };

export interface RouteTable {
  readonly routes: readonly Route[];
  /** Number of responses by route and status. */
  counts: RequestCounts;
  match(method: string, path: string): Match;
  /** Adds routes. Throws for one that does not declare an operation. */
  add(routes: readonly NewRoute[]): void;
}

/** A route with its options, which hold its operation and its schemas. */
export interface NewRoute {
  method: string;
  path: string;
  hooks: object;
  handle: Handle;
}

/** A route of GET without parameters and schemas, for which Elysia is not loaded. */
export interface PlainRoute {
  path: string;
  hooks: ReturnType<typeof operation>;
  handle: () => Response | Promise<Response>;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * A table of declared routes, in the router that Elysia uses too. HEAD is answered wherever GET is.
 */
export function createRouteTable(): RouteTable {
  const router = new Memoirist<Route>({ onParam: decodeParameter });
  const routes: Route[] = [];
  const counts = new RequestCounts();

  return {
    routes,
    counts,
    add(declared) {
      const added = declared.map(({ method, path, hooks, handle }, offset): Route => {
        const operation = operationOf({ hooks });
        if (!operation) throw new Error(`the route ${method} ${path} declares no operation`);
        const { query }: { query?: TSchema } = hooks;
        const body = declaredBodyOf(hooks);
        return { index: routes.length + offset, method, path, operation, body, query, handle };
      });
      for (const route of added) {
        const { method, path } = route;
        const paths = takesSlash(route) ? [path, `${path}/`] : [path];
        // The router's history would be searched for each further route.
        for (const spelling of paths) router.add(method, spelling, route, { ignoreHistory: true });
      }
      routes.push(...added);
      counts.add(added);
    },
    match(method, path) {
      if (path.includes("%") && !isDecodable(path)) return NO_MATCH;
      const found = router.find(method === "HEAD" ? "GET" : method, path);
      if (found) return { route: found.store, params: found.params };
      const matches = METHODS.map((candidate) => router.find(candidate, path)?.store).filter(
        (route) => route !== undefined,
      );
      return { route: undefined, allowed: allowedMethods(matches) };
    },
  };
}

/**
 * Returns true for routes of programs and links that hold a token. A slash at the end of their path changes
 * nothing, since a redirect would pass as success with some clients.
 */
function takesSlash({ operation: { access } }: Route): boolean {
  return /heartbeat$|^link$|^reporter$/.test(access.kind);
}

/** Kinds of access of the routes whose path redirects from its other spellings. */
const REDIRECTED = /^(?:key|public|session)$/;

/**
 * Returns the path for which a request with GET or HEAD may be meant: without one slash at the end, and with the slug
 * of a page in lower case. Undefined if that is the path itself, or if no such route has it.
 */
export function findRightPath(
  routes: RouteTable,
  { method }: Request,
  path: string,
): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const hasSlash = path.length > 2 && path.endsWith("/");
  if (!hasSlash && !/[A-Z]/.test(path)) return undefined;
  const bare = withoutSlash(path);
  const { route } = routes.match(method, hasSlash ? bare : path);
  if (!route || !REDIRECTED.test(route.operation.access.kind)) return undefined;
  // Paths of other products take a slug in any case, as there.
  const slugAt = /^\/(?:status|api\/v1)\//.test(path) ? route.path.split("/").indexOf(":slug") : -1;
  const right = bare
    .split("/")
    .map((segment, at) => (at === slugAt ? segment.toLowerCase() : segment))
    .join("/");
  return right === path ? undefined : right;
}

function decodeParameter(value: string): string {
  return value.includes("%") ? decodeURIComponent(value) : value;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function allowedMethods(routes: readonly Route[]): string[] {
  const methods = routes.flatMap((route) =>
    route.method === "GET" ? ["GET", "HEAD"] : [route.method],
  );
  if (routes.some((route) => route.operation.isCrossOrigin)) methods.push("OPTIONS");
  return methods;
}

const PATH_OF_PAGE = /^\/status\/([^/]*)/;

/**
 * Matches a request to a page's custom domain, which serves the page's public routes and the files that
 * every page needs. Everything else, and all of a page that is not served there, is `not_found`.
 */
export function matchCustomDomain(
  page: DomainPage,
  routes: RouteTable,
  method: string,
  path: string,
): Match {
  const match = routes.match(method, path);
  // Every path of a custom domain can be read by GET, also if this method is not allowed.
  const { route } = match.route ? match : routes.match("GET", path);
  return route && isOnDomain(page, route, path) ? match : NO_MATCH;
}

function isOnDomain(page: DomainPage, { operation }: Route, path: string): boolean {
  if (operation.onCustomDomain === "shared") return true;
  if (operation.onCustomDomain !== "page" || !page.isServed) return false;
  const [, slug] = PATH_OF_PAGE.exec(path) ?? [];
  return slug === undefined || page.slugs.has(slug);
}

/** Limit of labels for statuses, more than the service answers with. The last one is "other". */
const STATUSES_MAX = 32;

/** Labels of a route's metrics. */
interface CountedRoute {
  method: string;
  /** The pattern. */
  path: string;
}

const NO_ROUTE: CountedRoute = { method: "none", path: "none" };

/** Number of responses of each route by status since the start. */
class RequestCounts {
  /** The first is for requests without a route. */
  readonly #routes: CountedRoute[] = [NO_ROUTE];
  /** By route, and within a route by the label of the status. */
  readonly #counts = [new Map<string, number>()];
  /** Labels of the statuses; further ones are counted as "other". */
  readonly #labels = new Map<number, string>();

  /** Adds routes to be counted. */
  add(routes: readonly CountedRoute[]): void {
    this.#routes.push(...routes);
    this.#counts.push(...routes.map(() => new Map<string, number>()));
  }

  /** Counts an answer. `index` is the position of its route among the declared ones; undefined for none. */
  record(index: number | undefined, status: number): void {
    const counts = this.#counts[index === undefined ? 0 : index + 1];
    const label = this.#labels.get(status) ?? this.#addLabel(status);
    counts?.set(label, (counts.get(label) ?? 0) + 1);
  }

  #addLabel(status: number): string {
    if (this.#labels.size >= STATUSES_MAX - 1) return "other";
    const label = String(status);
    this.#labels.set(status, label);
    return label;
  }

  /** Returns the counts as metrics. Labels contain the pattern of the route, never text of a caller. */
  families(): MetricFamily[] {
    const [routes, counts] = [this.#routes, this.#counts];
    return [
      {
        type: "counter",
        name: "allclear_http_requests_total",
        help: "Requests that were answered, by route and status; none is the route of unknown paths and methods.",
        labelNames: ["method", "route", "status"],
        *read() {
          for (const [index, { method, path }] of routes.entries()) {
            for (const [status, value] of counts[index] ?? []) {
              yield { labels: { method, route: path, status }, value };
            }
          }
        },
      },
    ];
  }
}
