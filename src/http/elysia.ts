import { bearer } from "@elysiajs/bearer";
import type { TSchema } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { parseQueryFromURL } from "elysia/parse-query";
import { Problem } from "../base/errors";
import { examine } from "../base/validation";
import { declaredBodyOf } from "./body";
import type { RequestContext } from "./request-context";
import type { Handle, NewRoute } from "./route-table";

/** Begins to declare routes: an application of Elysia, whose handlers get the `requestContext` too. */
export function declareRoutes<const Prefix extends string = "">(prefix?: Prefix) {
  const typed = undefined as unknown as RequestContext;
  return new Elysia<Prefix>({ prefix }).decorate("requestContext", typed);
}

/** Options of a route that have an effect; `detail` holds the operation. */
const OPTIONS = new Set(["detail", "query", "body"]);

/**
 * Returns the routes that an application declares. Elysia gives them their types; the gateway finds them and calls
 * their handlers. Throws for an option that would have no effect.
 */
export function routesOf(elysia: AnyElysia): NewRoute[] {
  return elysia.routes.map(({ method, path, handler, hooks }) => {
    for (const [name, value] of Object.entries(hooks)) {
      if (value === undefined || OPTIONS.has(name)) continue;
      throw new Error(`the route ${method} ${path} declares ${name}, which has no effect`);
    }
    return { method, path, hooks, handle: createHandle(handler as never, hooks) };
  });
}

/** A request as handlers get it: only these of the fields that Elysia's types offer. */
interface HandlerContext {
  request: Request;
  params: Record<string, string>;
  /** Of a repeated parameter, the last value. */
  query: Record<string, string>;
  /** Undefined for a route that reads none. */
  body: unknown;
  requestContext: RequestContext;
}

/**
 * Returns a handler with what happens before it: the body is read, the caller is checked again, since that may have
 * taken time, and query and body are validated.
 */
function createHandle(
  handler: (context: HandlerContext) => Response | Promise<Response>,
  options: { query?: TSchema; body?: TSchema },
): Handle {
  const declared = declaredBodyOf(options);
  const { query: schema } = options;
  if (!declared) {
    return ({ request, params, query, requestContext }) =>
      handler({
        request,
        params,
        query: readQuery(schema, query),
        body: undefined,
        requestContext,
      });
  }
  return async ({ request, params, query, requestContext }) => {
    const { read, validate } = declared.ofCaller?.(requestContext) ?? declared;
    const body = await read(request, requestContext);
    requestContext.confirm();
    const context = { request, params, query: readQuery(schema, query), body, requestContext };
    validate?.(body, context);
    return handler(context);
  };
}

/** Throws `invalid_request` for a query that violates its schema. */
function readQuery(schema: TSchema | undefined, text: string): Record<string, string> {
  if (text === "" && !schema) return NO_QUERY;
  const query = parseQueryFromURL(text);
  if (!schema) return query;
  const { errors } = examine(schema, query);
  if (errors.isEmpty) return query;
  const { all: fields, unlisted } = errors;
  const [first] = fields;
  const name = first?.pointer.slice(2) ?? "";
  throw new Problem("invalid_request", `The query parameter ${name} ${first?.detail}.`, {
    fields,
    unlisted,
  });
}

/** Returns the token of an `Authorization` header that is `Bearer <token>`. */
export type BearerReader = (authorization: string) => string | undefined;

type PluginReader = (context: {
  query: Record<string, never>;
  headers: { authorization: string };
}) => { bearer: string | undefined };

const NO_QUERY = Object.freeze({});

/**
 * Returns the function with which the bearer plugin reads a request. Used as a plugin, it would run after
 * the body is parsed, and would accept `Bearerabc` and `?access_token=`. Here it gets only a header that
 * was checked before, and no query.
 */
export function createBearerReader(): BearerReader {
  const derive = bearer().event.transform?.[0]?.fn as unknown as PluginReader | undefined;
  if (!derive) throw new Error("the bearer plugin has changed its shape");
  return (authorization) => derive({ query: NO_QUERY, headers: { authorization } }).bearer;
}
