import type { TSchema } from "@sinclair/typebox";
import { Memoirist } from "memoirist";
import { type DeclaredBody, declaredBodyOf } from "./declared-body";
import { type Operation, operationOf } from "./operation";
import { RequestCounts } from "./request-counts";

/** A declared route, as the front door sees it. */
export interface Route {
  /** Its place among the declared routes. */
  index: number;
  method: string;
  /** The pattern, such as `/api/v1/status/:slug`. */
  path: string;
  operation: Operation;
  /** The body that it reads; undefined if it reads none. */
  body: DeclaredBody | undefined;
  query: TSchema | undefined;
  /** Runs the handler of the route that a request matches: of this one, if it matches this one. */
  handle: Handle;
}

/** An application behind the door. */
export type Handle = (request: Request) => Response | Promise<Response>;

/** The route for a request, or else the methods that its path has (none: the path is unknown). */
export type Match = { route: Route } | { route: undefined; allowed: readonly string[] };

export interface RouteTable {
  readonly routes: readonly Route[];
  /** Number of responses by route and status. */
  counts: RequestCounts;
  match(method: string, path: string): Match;
  /** Adds what an application declares. Throws for a route that does not declare an operation. */
  add(declared: readonly DeclaredRoute[], handle: Handle): void;
}

interface DeclaredRoute {
  method: string;
  path: string;
  hooks: unknown;
}

const RECENT_READS_MAX = 1_000;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * A table of declared routes, in the same router that Elysia uses, so that both read a path alike.
 * HEAD is answered wherever GET is.
 */
export function createRouteTable(): RouteTable {
  // What it holds is the answer of `match` as it is, so that a match makes no object.
  const router = new Memoirist<{ route: Route }>();
  const routes: Route[] = [];
  const counts = new RequestCounts();
  // The paths that are read again and again; a status page's is the same each time.
  const recentReads = new Map<string, Match>();

  function find(method: string, path: string): Match | undefined {
    if (method !== "GET") return router.find(method, path)?.store;
    const recent = recentReads.get(path);
    if (recent) return recent;
    const found = router.find(method, path)?.store;
    if (found) {
      if (recentReads.size >= RECENT_READS_MAX) recentReads.clear();
      recentReads.set(path, found);
    }
    return found;
  }

  return {
    routes,
    counts,
    add(declared, handle) {
      const added = declared.map(({ method, path, hooks }, place): Route => {
        const operation = operationOf({ hooks });
        if (!operation) throw new Error(`the route ${method} ${path} declares no operation`);
        const { query } = hooks as { query?: TSchema };
        const body = declaredBodyOf(hooks as { body?: TSchema });
        return { index: routes.length + place, method, path, operation, body, query, handle };
      });
      for (const route of added) router.add(route.method, route.path, { route });
      routes.push(...added);
      counts.add(added);
    },
    match(method, path) {
      // Elysia hands a parameter that does not decode to the handler as null.
      if (path.includes("%") && !isDecodable(path)) return { route: undefined, allowed: [] };
      const found = find(method === "HEAD" ? "GET" : method, path);
      if (found) return found;
      const matches = METHODS.map((candidate) => router.find(candidate, path)?.store.route).filter(
        (route) => route !== undefined,
      );
      return { route: undefined, allowed: allowedMethods(matches) };
    },
  };
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
