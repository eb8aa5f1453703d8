import type { TSchema } from "@sinclair/typebox";
import { ERROR_CODES, ERRORS, type ErrorCode } from "../errors";
import { SCOPES } from "../features/keys";
import type { Operation } from "./operation";
import type { Route, RouteTable } from "./route-table";

type Json = Record<string, unknown>;

const TAGS: Record<string, string> = {
  Status: "Status pages as programs read them.",
  Components: "The parts of a page, their statuses and their history.",
  Keys: "API keys. They are created on the command line, never here.",
  Health: "For load balancers and supervisors.",
  Documentation: "This document.",
};

const PATH_PARAMETERS: Record<string, Json> = {
  slug: { description: "A page's slug.", example: "acme" },
  id: { description: "The resource's id.", example: "cmp_01kah2v9w0e0rs6x0h3ye0a1bc" },
};

/**
 * The OpenAPI 3.1 document of the declared routes. Scopes, errors and their examples come from their
 * catalogs, schemas from the routes; a schema with a title becomes a named one.
 */
export function buildOpenApi(
  routes: RouteTable,
  server: { baseUrl: string; version: string },
): Json {
  const schemas = new NamedSchemas();
  const paths: Record<string, Json> = {};
  for (const route of routes.routes) {
    if (route.operation.id === undefined) continue;
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describeOperation(route, schemas);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Allclear",
      version: server.version,
      summary: "Status pages and incident communication.",
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: server.baseUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...schemas.all(), Problem: PROBLEM_SCHEMA },
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: `An API key. Its scopes, none of which implies another:\n${Object.entries(
            SCOPES,
          )
            .map(([name, sentence]) => `- \`${name}\`: ${sentence}`)
            .join("\n")}`,
        },
      },
      headers: HEADERS,
      examples: Object.fromEntries(ERROR_CODES.map((code) => [code, errorExample(code)])),
    },
  };
}

const INTRODUCTION = [
  "Send `Authorization: Bearer <API_KEY>`. Requests and answers are UTF-8 JSON in snake_case; times are ISO 8601 in UTC with milliseconds.",
  "A key has its own limit of requests a minute (1000 unless set otherwise); whoever sends none shares the limit of the client's address (100 unless the server is configured otherwise). A bucket that is full lets its whole limit through at once and refills evenly, so at most 2 × limit − 1 requests pass in any one minute. Over it, the answer is 429 with `Retry-After`.",
  "Errors are `application/problem+json` (RFC 9457); `/docs/errors` lists them. Before a request reaches the service, the runtime itself answers a broken request line or a missing Host (400), headers over its limit (431) and a body over 1 MiB (413), without a problem document.",
  "Lists answer `data` and `next_cursor`; pass that as `cursor` for the next page.",
].join("\n\n");

const PROBLEM_SCHEMA: Json = {
  type: "object",
  description: "RFC 9457.",
  required: ["type", "title", "status", "code", "detail", "instance"],
  properties: {
    type: { type: "string", description: "Where the error is explained, on this server." },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", enum: ERROR_CODES },
    detail: { type: "string" },
    instance: { type: "string", description: "`urn:request:` and the id from X-Request-Id." },
    errors: {
      type: "array",
      description: "Every broken field.",
      items: {
        type: "object",
        required: ["pointer", "detail"],
        properties: {
          pointer: { type: "string", description: "A JSON pointer, such as #/scopes/0." },
          detail: { type: "string" },
        },
      },
    },
  },
};

const header = (description: string, schema: Json): Json => ({ description, schema });
const text = { type: "string" };
const integer = { type: "integer" };

const HEADERS: Record<string, Json> = {
  "X-Request-Id": header("The request's id, under which the server's log knows it.", text),
  "RateLimit-Policy": header('Whose bucket paid and its size: `"key";q=1000;w=60`.', text),
  RateLimit: header('What is left, and the seconds to full: `"key";r=999;t=1`.', text),
  "X-RateLimit-Limit": header("The bucket's size, for older clients.", integer),
  "X-RateLimit-Remaining": header("Requests left.", integer),
  "X-RateLimit-Reset": header("When the bucket is full again, in epoch seconds.", integer),
  "Retry-After": header("Seconds to wait before the next try.", integer),
  "WWW-Authenticate": header("RFC 6750's challenge.", text),
  ETag: header("The entity tag of what was sent.", text),
  Link: header('The next page: `<…>; rel="next"`.', text),
  Allow: header("The methods of the path.", text),
};

const EVERY_ANSWER = [
  "X-Request-Id",
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

function describeOperation(route: Route, schemas: NamedSchemas): Json {
  const { operation } = route;
  const { access } = operation;
  const scopes = access.kind === "key" ? access.scopes : [];
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    tags: [operation.tag],
    security: access.kind === "key" ? [{ apiKey: [...scopes] }] : [],
    ...(scopes.length > 0 ? { "x-required-scopes": scopes } : {}),
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route),
      ...headerParameters(operation),
    ],
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemas.refer(route.body) } },
          },
        }
      : {}),
    responses: { ...successes(route, schemas), ...failures(route) },
  };
}

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: text,
    ...PATH_PARAMETERS[name],
  }));
}

function queryParameters(route: Route): Json[] {
  const properties = (route.query?.["properties"] ?? {}) as Record<string, TSchema>;
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = toPlain(schema);
    return {
      name,
      in: "query",
      required: false,
      schema: rest,
      ...(description ? { description } : {}),
    };
  });
}

function headerParameters(operation: Operation): Json[] {
  const parameter = (name: string, description: string) => ({
    name,
    in: "header",
    required: false,
    schema: text,
    description,
  });
  if (operation.conditional === "etag") {
    return [
      parameter("If-None-Match", "An ETag that the caller has; 304 if it is still the same."),
    ];
  }
  if (operation.conditional === "if-match") {
    return [parameter("If-Match", "Change it only if this is still its ETag; else 412.")];
  }
  return [];
}

function successes(route: Route, schemas: NamedSchemas): Json {
  const { operation } = route;
  const headers = [...EVERY_ANSWER, ...(operation.conditional ? ["ETag"] : [])];
  const isList = "limit" in ((route.query?.["properties"] as Json | undefined) ?? {});
  const answers: Json = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    answers[status] = {
      description: answer.description,
      headers: referHeaders(isList ? [...headers, "Link"] : headers),
      ...(answer.schema
        ? {
            content: {
              [answer.mediaType ?? "application/json"]: { schema: schemas.refer(answer.schema) },
            },
          }
        : {}),
    };
  }
  if (operation.conditional === "etag") {
    answers["304"] = {
      description: "The caller has it already.",
      headers: referHeaders([...EVERY_ANSWER, "ETag"]),
    };
  }
  return answers;
}

/** The errors that a route can answer with: its own, and those that its declaration brings. */
export function errorsOf(route: Route): ErrorCode[] {
  const { access, errors = [], conditional } = route.operation;
  const codes: ErrorCode[] = ["invalid_request", ...errors, "rate_limited", "internal_error"];
  if (access.kind === "key") {
    codes.push("missing_key", "invalid_key", "expired_key", "revoked_key", "unavailable");
    if (access.scopes.length > 0) codes.push("insufficient_scope");
  }
  if (access.kind === "session") codes.push("sign_in_required", "insufficient_role", "unavailable");
  if (route.body && access.kind !== "key") codes.push("cross_site_request");
  if (route.body) codes.push("payload_too_large", "unsupported_media_type", "validation_failed");
  if (conditional === "if-match") codes.push("precondition_failed");
  return [...new Set(codes)].sort((a, b) => ERRORS[a].status - ERRORS[b].status);
}

function failures(route: Route): Json {
  const byStatus = Map.groupBy(errorsOf(route), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `${ERRORS[code].title} (\`${code}\`)`).join(", "),
        headers: referHeaders([...EVERY_ANSWER, ...headersOfStatus(status)]),
        content: {
          "application/problem+json": {
            schema: { $ref: "#/components/schemas/Problem" },
            examples: Object.fromEntries(
              codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]),
  );
}

function headersOfStatus(status: number): string[] {
  if (status === 401 || status === 403) return ["WWW-Authenticate"];
  if (status === 429 || status === 503) return ["Retry-After"];
  return [];
}

function referHeaders(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function errorExample(code: ErrorCode): Json {
  const { status, title, example } = ERRORS[code];
  const errors =
    code === "validation_failed"
      ? { errors: [{ pointer: "#/status", detail: "must be one of operational, …" }] }
      : {};
  return {
    summary: title,
    value: {
      type: `/docs/errors#${code}`,
      title,
      status,
      code,
      detail: example,
      instance: "urn:request:req_3f9a1c6e0b7d00002s",
      ...errors,
    },
  };
}

/** Collects schemas with a title under `components/schemas` and refers to them. */
class NamedSchemas {
  readonly #named: Record<string, Json> = {};

  refer(schema: TSchema): Json {
    return this.#hoist(toPlain(schema)) as Json;
  }

  all(): Record<string, Json> {
    return this.#named;
  }

  #hoist(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#hoist(item));
    if (typeof value !== "object" || value === null) return value;
    const hoisted = Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, this.#hoist(child)]),
    );
    const { title, ...rest } = hoisted;
    if (typeof title !== "string") return hoisted;
    this.#named[title] = rest;
    return { $ref: `#/components/schemas/${title}` };
  }
}

/** A schema as plain JSON: TypeBox's symbols are gone, and so is what is not enumerable. */
function toPlain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
