import type { TSchema } from "@sinclair/typebox";
import { Memoirist } from "memoirist";
import { type Operation, operationOf } from "./operation";

/** A declared route, as the front door sees it. */
export interface Route {
  method: string;
  /** The pattern, such as `/api/v1/status/:slug`. */
  path: string;
  operation: Operation;
  /** The schema of its JSON body, if it reads one. */
  body: TSchema | undefined;
  query: TSchema | undefined;
}

/** The route for a request, or else the methods that its path has (none: the path is unknown). */
export type Match = { route: Route } | { route: undefined; allowed: readonly string[] };

export interface RouteTable {
  routes: readonly Route[];
  match(method: string, path: string): Match;
}

interface DeclaredRoute {
  method: string;
  path: string;
  hooks: unknown;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * The table of declared routes, in the same router that Elysia uses, so that both read a path alike.
 * HEAD is answered wherever GET is. Throws for a route that does not declare an operation.
 */
export function createRouteTable(declared: readonly DeclaredRoute[]): RouteTable {
  const router = new Memoirist<Route>();
  const routes = declared.map(({ method, path, hooks }): Route => {
    const operation = operationOf({ hooks });
    if (!operation) throw new Error(`the route ${method} ${path} declares no operation`);
    const { body, query } = hooks as { body?: TSchema; query?: TSchema };
    return { method, path, operation, body, query };
  });
  for (const route of routes) router.add(route.method, route.path, route);

  return {
    routes,
    match(method, path) {
      // Elysia hands a parameter that does not decode to the handler as null.
      if (path.includes("%") && !isDecodable(path)) return { route: undefined, allowed: [] };
      const found = router.find(method === "HEAD" ? "GET" : method, path);
      if (found) return { route: found.store };
      const matches = METHODS.map((candidate) => router.find(candidate, path)?.store).filter(
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
