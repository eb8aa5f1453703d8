import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { ERROR_CODES, type ErrorCode, ERRORS } from "../base/errors";
import { WHOLE_TURN } from "../base/in-slices";
import { Instant } from "../base/schema";
import { capitalised } from "../base/text";
import { EVENTS, type EventType } from "../events/outbox";
import { SCOPES } from "../features/keys/scopes";
import { formMediaTypes } from "./body";
import { hasTokenInPath } from "./caller";
import { answersPrograms } from "./operation";
import type { Route, RouteTable } from "./route-table";

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
            "The token for reports about mails, created in Settings → Mail and shown once. It grants nothing else.",
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
  const shape = form ? (operation.form ?? Type.Object({})) : schema;
  const described = shape ? schemas.refer(shape) : TEXT;
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
  if (access.kind === "session")
    codes.push("sign_in_required", "insufficient_role", "second_factor_required");
  if (access.kind === "heartbeat" || access.kind === "location" || access.kind === "reporter") {
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
  groups: "grp",
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

/** A part of the document. */
type Json = Record<string, unknown>;

/**
 * Collects schemas with a title under `components/schemas` and refers to them. Schemas are written in the form that
 * generators of clients read: a nullable type as a list of types, a map as `additionalProperties`, and unambiguous
 * names for the values of enums. There are no discriminators, since openapi-generator 7.14 omits imports for them.
 */
export class NamedSchemas {
  readonly #named: Record<string, Json> = {};
  /** Written forms of schemas. Most schemas are parts of many others. */
  readonly #written = new Map<object, Json>();

  /** Throws if two different schemas have the same title. */
  refer(schema: TSchema): Json {
    return this.#hoist(schema as Json);
  }

  all(): Record<string, Json> {
    return this.#named;
  }

  #hoist(source: Json): Json {
    const known = this.#written.get(source);
    if (known) return known;
    const written = this.#write(source);
    this.#written.set(source, written);
    return written;
  }

  #write(plain: Json): Json {
    const schema = withValueNames(asMap(this.#asNullable(this.#hoistParts(plain))));
    const { title } = schema;
    if (typeof title !== "string") return schema;
    const named = this.#named[title];
    if (named !== undefined && !Bun.deepEquals(named, schema)) {
      throw new Error(`two different schemas have the title ${title}`);
    }
    this.#named[title] = schema;
    return { $ref: refTo(title) };
  }

  #hoistParts(schema: Json): Json {
    return Object.fromEntries(
      Object.entries(schema).map(([key, part]) => {
        if (SCHEMAS_BY_NAME.has(key)) return [key, this.#hoistEach(part as Record<string, Json>)];
        if (SCHEMA_LISTS.has(key)) return [key, (part as Json[]).map((one) => this.#hoist(one))];
        const isSchema = SCHEMA_PARTS.has(key) && typeof part === "object" && part !== null;
        return [key, isSchema ? this.#hoist(part as Json) : part];
      }),
    );
  }

  /** Writes a value or null as a value of two types, or as a choice of exactly one if the value is an object. */
  #asNullable({ anyOf, ...rest }: Json): Json {
    if (anyOf === undefined) return rest;
    const [option = {}, none, ...others] = anyOf as Json[];
    if (none?.["type"] !== "null" || others.length > 0) return { anyOf, ...rest };
    const schema = this.#withoutName(option);
    const { type, enum: values } = schema;
    // Generators lose the null of an object of an answer with two types. Those of bodies, which are strict, need them.
    const isShown = type === "object" && !("additionalProperties" in schema);
    if (typeof type !== "string" || isShown) return { oneOf: anyOf, ...rest };
    const isEnum = Array.isArray(values);
    return { ...schema, ...rest, type: [type, "null"], ...(isEnum && { enum: [...values, null] }) };
  }

  /** Returns a named enum as it would be without its name, since enums do not contain null; others unchanged. */
  #withoutName(schema: Json): Json {
    const named = this.#named[String(schema["$ref"]).slice(refTo("").length)];
    if (!named?.["enum"]) return schema;
    const { title: _title, "x-enum-varnames": _names, ...rest } = named;
    return rest;
  }

  #hoistEach(schemas: Record<string, Json>): Json {
    return Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [name, this.#hoist(schema)]),
    );
  }
}

/** Keywords of JSON Schema whose values contain schemas. */
const SCHEMAS_BY_NAME = new Set(["properties", "patternProperties"]);
const SCHEMA_LISTS = new Set(["anyOf", "oneOf", "allOf"]);
const SCHEMA_PARTS = new Set(["items", "additionalProperties", "not"]);

function refTo(title: string): string {
  return `#/components/schemas/${title}`;
}

/** Writes an object of any keys, which TypeBox declares by a pattern, by its values. */
function asMap({ patternProperties, ...rest }: Json): Json {
  if (patternProperties === undefined) return rest;
  const [[pattern, values] = [], ...others] = Object.entries(patternProperties as Json);
  if (pattern === undefined || others.length > 0) throw new Error("an object has several patterns");
  const names = pattern === ANY_KEY_PATTERN ? {} : { propertyNames: { pattern } };
  return { ...rest, ...names, additionalProperties: values };
}

/** TypeBox's pattern for the keys of a record of texts. */
const ANY_KEY_PATTERN = "^(.*)$";

/**
 * Names the values of a named enum after the enum as well, since generators of Go declare them all in one
 * namespace.
 */
function withValueNames(schema: Json): Json {
  const { title, enum: values } = schema;
  if (typeof title !== "string" || !Array.isArray(values)) return schema;
  return { ...schema, "x-enum-varnames": values.map((value) => `${title}${pascalCase(value)}`) };
}

function pascalCase(text: string): string {
  return text
    .split(/[^0-9A-Za-z]+/)
    .map(capitalised)
    .join("");
}

/** Returns a schema as plain JSON, without TypeBox's symbols. */
function toPlain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}

/** Schema of errors. */
const PROBLEM_SCHEMA: Json = {
  type: "object",
  description: "RFC 9457.",
  required: ["type", "title", "status", "code", "detail", "instance"],
  properties: {
    type: { type: "string", description: "Path of the explanation on this server." },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", enum: ERROR_CODES },
    detail: { type: "string" },
    instance: { type: "string", description: "`urn:request:` and the id from X-Request-Id." },
    errors: {
      type: "array",
      description:
        "All invalid fields. After 100 of them, one entry without a pointer gives the number of the others in its detail.",
      items: {
        type: "object",
        required: ["detail"],
        properties: {
          pointer: { type: "string", description: "A JSON pointer, such as #/scopes/0." },
          detail: { type: "string" },
        },
      },
    },
  },
};

/** Returns an example of an error. */
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

const header = (description: string, schema: Json): Json => ({ description, schema });
const text = { type: "string" };
const integer = { type: "integer" };

/** Headers of answers. */
const HEADERS = {
  "X-Request-Id": header("Id of the request in the server's log.", text),
  "RateLimit-Policy": header(
    'Name and limit of the bucket that was charged, and its minute in seconds: `"key";q=1000;w=60`.',
    text,
  ),
  RateLimit: header(
    'Remaining requests, and seconds until the bucket is filled again: `"key";r=999;t=60`.',
    text,
  ),
  "X-RateLimit-Limit": header("Limit of the bucket, for older clients.", integer),
  "X-RateLimit-Remaining": header("Remaining requests.", integer),
  "X-RateLimit-Reset": header(
    "Time at which the bucket is filled again, in epoch seconds.",
    integer,
  ),
  "Retry-After": header("Whole seconds to wait before the next request.", integer),
  "WWW-Authenticate": header("RFC 6750's challenge.", text),
  ETag: header(
    'Entity tag of the content. For a resource `"<version>"`, or `"<version>-<hash>"` if the answer also shows facts that the version does not cover.',
    text,
  ),
  Link: header('The next page: `<…>; rel="next"`.', text),
  Allow: header("Methods of the path.", text),
  Location: header("URL of the created resource.", text),
  "Idempotency-Replayed": header(
    "`true` if this is the answer to an earlier request with the same Idempotency-Key. Its secrets are null, and nothing was created now.",
    text,
  ),
} as const satisfies Record<string, Json>;

type HeaderName = keyof typeof HEADERS;

/** Headers of every answer. */
const EVERY_ANSWER: readonly HeaderName[] = [
  "X-Request-Id",
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

/** Returns references to headers by name. */
function referHeaders(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
