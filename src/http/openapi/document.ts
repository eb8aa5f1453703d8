import { ERROR_CODES } from "../../base/errors";
import { SCOPES } from "../../features/keys/scopes";
import { WHOLE_TURN } from "../../base/in-slices";
import type { RouteTable } from "../route-table";
import { errorExample, HEADERS, type Json, NamedSchemas, PROBLEM_SCHEMA } from "./components";
import { describeOperation } from "./operation";
import { describeWebhooks, type EventData } from "./webhooks";

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
