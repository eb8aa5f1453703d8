import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { ERROR_CODES, type ErrorCode, ERRORS } from "../../base/errors";
import { WHOLE_TURN } from "../../base/in-slices";
import { Instant } from "../../base/schema";
import { capitalised } from "../../base/text";
import { EVENTS, type EventType } from "../../events/outbox";
import { SCOPES } from "../../features/keys/scopes";
import { hasTokenInPath } from "../credentials";
import { formMediaTypes } from "../declared-body";
import { answersPrograms } from "../operation";
import type { Route, RouteTable } from "../route-table";
import {
  errorExample,
  EVERY_ANSWER,
  type HeaderName,
  HEADERS,
  type Json,
  NamedSchemas,
  PROBLEM_SCHEMA,
  referHeaders,
  toPlain,
} from "./components";

const TAGS: Record<string, string> = {
  Status: "Status pages for programs.",
  Pages: "Status pages for people, in HTML.",
  Components: "The parts of a page, their statuses and their history.",
  Incidents: "Unplanned events, described by updates.",
  Maintenance: "Planned work and its effect on components.",
  Webhooks: "Endpoints that receive events, and the deliveries to them.",
  Events: "Requests that this server sends to webhooks of the format `standard`.",
  Monitors: "Repeated checks and their results. The configuration can contain secrets.",
  Heartbeats:
    "Calls from jobs to push monitors, with the token of the monitor instead of an API key.",
  "E-mail":
    "Reports about mails that came back, with the token for reports instead of an API key, and the links in mails.",
  Analytics: "Figures, each with its method.",
  Metrics: "Metrics in the format of Prometheus.",
  Keys: "API keys. They are created in the dashboard or on the command line, never here.",
  Compatibility: "Pages in the formats of other products, for programs that were made for them.",
  Health: "Checks for load balancers and supervisors.",
  Documentation: "This document and other descriptions of the server.",
};

const INTRODUCTION = [
  "Send `Authorization: Bearer <API_KEY>`. Requests and answers are UTF-8 JSON in snake_case; times are ISO 8601 in UTC with milliseconds.",
  "A key has its own limit of requests a minute (1000 unless set otherwise); requests without a key share the limit of the client's address (100 unless the server is configured otherwise). A limit holds in each minute that begins with the caller's first request and ends 60 seconds later, when all of it is available again; in other 60 seconds up to 2 × limit − 1 requests can pass. Over it, the answer is 429 with `Retry-After`: the whole seconds until the end of the minute, 1 to 60.",
  "Errors are `application/problem+json` (RFC 9457); `/docs/errors` lists them. Before a request reaches the service, the runtime itself answers a broken request line or a missing Host (400), a URL and headers that together exceed 16 KB (431) and a body over 1 MiB (413), without a problem document.",
  "A POST that creates something accepts `Idempotency-Key`. Repeating it within 24 hours creates nothing new and gets the same answer, with `Idempotency-Replayed: true`. With another body it is rejected.",
  "Lists contain `data` and `next_cursor`; pass the latter as `cursor` to get the next page. It is null on the last page. Any page may contain fewer entries than `limit`.",
].join("\n\n");

/**
 * Makes the OpenAPI 3.1 document of the declared routes, an operation in each step. Scopes, errors and examples come from their
 * catalogs, schemas from the routes, and those of events from `events`. Schemas with a title become named components.
 */
export function* openApiSteps(
  routes: RouteTable,
  server: { baseUrl: string; version: string },
  events: EventData,
): Generator<number, Json> {
  const schemas = new NamedSchemas();
  const paths: Record<string, Json> = {};
  for (const route of routes.routes) {
    if (route.operation.id === undefined) continue;
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describeOperation(route, schemas);
    yield 1;
  }
  yield WHOLE_TURN;
  const webhooks = describeWebhooks(events, schemas);
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
    webhooks,
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
        apiKeyAsPassword: {
          type: "http",
          scheme: "basic",
          description: "An API key as the password, with any user name.",
        },
        heartbeatToken: {
          type: "http",
          scheme: "bearer",
          description:
            "The token of a push monitor, shown when it is created or rotated; at the paths of Gatus, the token of the imported endpoint.",
        },
        reportToken: {
          type: "http",
          scheme: "bearer",
          description:
            "The token for reports about mails, created in Settings → General → Mail settings and shown once. It grants nothing else.",
        },
      },
      headers: HEADERS,
      examples: Object.fromEntries(ERROR_CODES.map((code) => [code, errorExample(code)])),
    },
  };
}

/** Schemas of the data of all events. */
type EventData = Readonly<Record<EventType, TSchema>>;

/** Headers of each request. */
const WEBHOOK_HEADERS =
  "Signed by Standard Webhooks 1.0: `webhook-id` is the id of the event, the same in every attempt, `webhook-timestamp` the time of the attempt in seconds since 1970, and `webhook-signature` is `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body. While a secret is replaced, it has two signatures with a space between them.";

/** Returns the requests that a webhook of the format `standard` receives, by the type of the event. */
function describeWebhooks(data: EventData, schemas: NamedSchemas): Json {
  return Object.fromEntries(
    (Object.keys(EVENTS) as EventType[]).map((type) => {
      const name = type.split(/[._]/).map(capitalised).join("");
      const body = Type.Object(
        {
          type: Type.Literal(type),
          timestamp: Type.Unsafe({ ...Instant, description: "Time of the event." }),
          data: data[type],
        },
        { title: `${name}Event` },
      );
      const post = {
        operationId: `on${name}`,
        // Otherwise openapi-generator 7.14 writes an invalid module of Python that would send the events.
        "x-internal": true,
        summary: EVENTS[type],
        description: WEBHOOK_HEADERS,
        tags: ["Events"],
        security: [],
        requestBody: {
          required: true,
          content: { "application/json": { schema: schemas.refer(body) } },
        },
        responses: {
          "204": { description: "Any 2xx: the event was received. All else is a failure." },
          "410": { description: "Disables the webhook." },
        },
      };
      return [type, { post }];
    }),
  );
}

const TEXT: Json = { type: "string" };
const JSON_TYPE = "application/json";

/** Returns the description of a route in the document. */
export function describeOperation(route: Route, schemas: NamedSchemas): Json {
  const { operation } = route;
  const { access } = operation;
  const scopes = access.kind === "key" ? access.scopes : [];
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    tags: [operation.tag],
    security: securityOf(route, scopes),
    ...(scopes.length > 0 ? { "x-required-scopes": scopes } : {}),
    parameters: parametersOf(route),
    ...bodyOf(route, schemas),
    responses: answersOf(route, schemas),
  };
}

function bodyOf({ body, operation }: Route, schemas: NamedSchemas): Json {
  if (!body) return {};
  const { schema, form, isOptional, beginningBytes, rawMediaType } = body;
  const described = schemas.refer(form ? (operation.form ?? Type.Object({})) : schema);
  const types = form ? formMediaTypes(form) : [beginningBytes === undefined ? JSON_TYPE : "*/*"];
  const content = {
    ...Object.fromEntries(types.map((type) => [type, { schema: described }])),
    ...(rawMediaType === undefined ? {} : { [rawMediaType]: { schema: TEXT } }),
  };
  return { requestBody: { required: !isOptional, content } };
}

function securityOf(route: Route, scopes: readonly string[]): Json[] {
  const { access } = route.operation;
  switch (access.kind) {
    case "key":
      return [{ apiKey: [...scopes] }, ...(access.takesBasic ? [{ apiKeyAsPassword: [] }] : [])];
    case "heartbeat":
      return hasTokenInPath(route) ? [] : [{ heartbeatToken: [] }];
    case "imported-heartbeat":
      return access.isBearer ? [{ heartbeatToken: [] }] : [];
    case "reporter":
      return hasTokenInPath(route) ? [] : [{ reportToken: [] }];
    default:
      return [];
  }
}

/** An answer of a route: of its handler, or an error that the gateway writes. */
interface DescribedAnswer {
  description: string;
  headers: Json;
  content: Json;
}

/** Returns the answers of a route by status. The handler and the gateway may both answer with one status. */
function answersOf(route: Route, schemas: NamedSchemas): Json {
  const own = Object.entries(successes(route, schemas));
  const all = [...own, ...Object.entries(failures(route))];
  const byStatus = Map.groupBy(all, ([status]) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, entries]) => {
      const answers = entries.map(([, answer]) => answer);
      const content = Object.assign({}, ...answers.map((answer) => answer.content)) as Json;
      return [
        status,
        {
          description: answers.map(({ description }) => description).join(" Or: "),
          headers: Object.assign({}, ...answers.map(({ headers }) => headers)) as Json,
          ...(Object.keys(content).length > 0 ? { content } : {}),
        },
      ];
    }),
  );
}

/** Returns the answers of the handler of a route by status. */
function successes(route: Route, schemas: NamedSchemas): Record<string, DescribedAnswer> {
  const { operation } = route;
  const answers: Record<string, DescribedAnswer> = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    const { description, schema, mediaType, alsoAs = [], headers = {} } = answer;
    const types = mediaType === undefined && !schema ? [] : [mediaType ?? JSON_TYPE];
    const described = schema && schemas.refer(schema);
    answers[status] = {
      description,
      headers: {
        ...referHeaders([...EVERY_ANSWER, ...ownHeaders(route, Number(status))]),
        ...Object.fromEntries(
          Object.entries(headers).map(([name, text]) => [
            name,
            { description: text, schema: TEXT },
          ]),
        ),
      },
      content: {
        ...Object.fromEntries(types.map((type) => [type, { schema: described ?? textOf(type) }])),
        ...Object.fromEntries(alsoAs.map((type) => [type, { schema: textOf(type) }])),
      },
    };
  }
  if (operation.conditional === "etag") {
    answers["304"] = {
      description: "The caller has the current content.",
      headers: referHeaders([...EVERY_ANSWER, "ETag"]),
      content: {},
    };
  }
  return answers;
}

/** Returns the schema of an answer that is no JSON. */
function textOf(mediaType: string): Json {
  return /^image\/(?!svg)/.test(mediaType) ? { ...TEXT, format: "binary" } : TEXT;
}

/** Returns the headers of a successful answer that not every answer has. */
function ownHeaders({ operation, query }: Route, status: number): HeaderName[] {
  const headers: HeaderName[] = [];
  const hasVersion = hasProperty(operation.answers[status]?.schema, "version");
  if (operation.conditional || hasVersion) headers.push("ETag");
  if (hasProperty(query, "limit")) headers.push("Link");
  if (operation.idempotent) headers.push("Location", "Idempotency-Replayed");
  return headers;
}

/** Returns true if an object has a property; of several shapes, the first one decides. */
function hasProperty(schema: TSchema | undefined, name: string): boolean {
  const [shape] = (schema?.["oneOf"] as TSchema[] | undefined) ?? [schema];
  return name in ((shape?.["properties"] as Json | undefined) ?? {});
}

/** Returns the errors of a route, declared and implied by its declaration, in order of status. */
export function errorsOf(route: Route): ErrorCode[] {
  const { access, errors = [], conditional, idempotent } = route.operation;
  const codes: ErrorCode[] = ["invalid_request", ...errors, "rate_limited", "internal_error"];
  if (access.kind !== "health") codes.push("unavailable");
  if (access.kind === "key") {
    codes.push("missing_key", "invalid_key", "expired_key", "revoked_key");
    if (access.scopes.length > 0) codes.push("insufficient_scope");
  }
  if (access.kind === "session") codes.push("sign_in_required", "insufficient_role");
  if (access.kind === "heartbeat" || access.kind === "reporter") {
    if (hasTokenInPath(route)) codes.push("not_found");
    else codes.push("missing_key", "invalid_key");
  }
  if (access.kind === "link") codes.push("not_found");
  if (route.body) codes.push("unsupported_media_type");
  if (route.body && route.body.beginningBytes === undefined) {
    codes.push("payload_too_large", "validation_failed");
  }
  if (refusesOtherSites(route)) codes.push("cross_site_request");
  if (conditional === "if-match") codes.push("precondition_failed");
  if (idempotent) codes.push("idempotency_mismatch");
  return [...new Set(codes)].sort((a, b) => ERRORS[a].status - ERRORS[b].status);
}

/** Returns true if the gateway rejects a form that was not sent from a page of this server. */
function refusesOtherSites({ body, operation: { access } }: Route): boolean {
  return body !== undefined && (access.kind === "session" || access.kind === "public");
}

/** Returns the errors of a route by status, as the gateway writes them. A browser gets those of a page as HTML. */
function failures(route: Route): Record<string, DescribedAnswer> {
  const byStatus = Map.groupBy(errorsOf(route), (code) => ERRORS[code].status);
  const isPage = !answersPrograms(route.operation) && !route.path.startsWith("/api/");
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
          ...(isPage ? { "text/html": { schema: TEXT } } : {}),
        },
      },
    ]),
  );
}

function headersOfStatus(status: number): HeaderName[] {
  if (status === 401 || status === 403) return ["WWW-Authenticate"];
  if (status === 429 || status === 503) return ["Retry-After"];
  return [];
}

/** Prefixes of ids in paths, by the preceding segment. */
const ID_PREFIXES: Record<string, string> = {
  components: "cmp",
  incidents: "inc",
  maintenance: "mnt",
  monitors: "mon",
  updates: "upd",
  webhooks: "whk",
};

/** Descriptions of ids in paths that also take a ref, by the preceding segment. */
const ID_DESCRIPTIONS: Record<string, string> = {
  badge: "The component's id, or `<page slug>:<ref>`.",
  components: "The component's id, or its page's slug and its `ref`, such as `acme:checkout-api`.",
  monitors: "The monitor's id or `ref`.",
  webhooks: "The webhook's id or `ref`.",
};

/** Returns the parameters of a route: in its path, its query and its headers. */
function parametersOf(route: Route): Json[] {
  return [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
}

function pathParameters({ path, operation }: Route): Json[] {
  return [...path.matchAll(/([a-z]*)\/:([a-z_]+)/g)].map(([, before = "", name = ""]) => {
    const declared = operation.path?.[name];
    return {
      name,
      in: "path",
      required: true,
      ...(declared ? describeParameter(declared) : { schema: TEXT, ...explain(name, before) }),
    };
  });
}

function explain(name: string, before: string): Json {
  if (name === "slug") return { description: "A page's slug.", example: "acme" };
  if (name === "token") return { description: "The token, which is the credential." };
  if (!/(^|_)id$/.test(name)) return {};
  const description = ID_DESCRIPTIONS[before] ?? "The resource's id.";
  const idPrefix = ID_PREFIXES[before];
  return idPrefix === undefined
    ? { description }
    : { description, example: `${idPrefix}_01kah2v9w0e0rs6x0h3ye0a1bc` };
}

/** Returns a schema as that of a parameter, with its description outside. */
function describeParameter(declared: TSchema): Json {
  const { description, examples, ...schema } = toPlain(declared);
  const [example] = (examples as unknown[] | undefined) ?? [];
  return {
    schema,
    ...(description ? { description } : {}),
    ...(example === undefined ? {} : { example }),
  };
}

function queryParameters({ query, operation }: Route): Json[] {
  return [query as TObject | undefined, operation.query].flatMap((declared) =>
    Object.entries(declared?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: "query",
      required: declared?.required?.includes(name) === true,
      ...describeParameter(schema),
    })),
  );
}

function headerParameters(route: Route): Json[] {
  const { conditional, idempotent } = route.operation;
  const parameter = (name: string, description: string, schema: Json = TEXT) => ({
    name,
    in: "header",
    required: false,
    schema,
    description,
  });
  const parameters: Json[] = [];
  if (conditional === "etag") {
    parameters.push(
      parameter(
        "If-None-Match",
        "ETag of the content that the caller has. Answered 304 if it is current.",
      ),
    );
  }
  if (conditional === "if-match") {
    parameters.push(
      parameter(
        "If-Match",
        "ETag of the resource. Answered 412, without a change, if its version is no longer current.",
      ),
    );
  }
  if (refusesOtherSites(route)) {
    parameters.push(
      parameter(
        "Origin",
        "The address of this server. Browsers send it, or `Sec-Fetch-Site: same-origin`, by themselves. Without either the form is rejected.",
      ),
    );
  }
  if (idempotent) {
    parameters.push(
      parameter(
        "Idempotency-Key",
        "Identifies this request, such as by a UUID. If the same API key sends it again to the same path within 24 hours, nothing new is created and the answer is the same. A rejected request may be corrected and sent again with the same value.",
        { type: "string", minLength: 1, maxLength: 128, pattern: "^[ -~]+$" },
      ),
    );
  }
  return parameters;
}
