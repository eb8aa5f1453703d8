import { ERROR_CODES } from "../../errors";
import { SCOPES } from "../../features/keys";
import type { RouteTable } from "../route-table";
import { errorExample, PROBLEM_SCHEMA } from "./errors";
import { HEADERS } from "./headers";
import { describeOperation } from "./operation";
import { type Json, NamedSchemas } from "./components";

const TAGS: Record<string, string> = {
  Status: "Status pages as programs read them.",
  Components: "The parts of a page, their statuses and their history.",
  Incidents: "What goes wrong, told update by update.",
  Maintenance: "What is planned, and what it does to components meanwhile.",
  Webhooks: "Who is told of what happens, and how that goes.",
  Monitors: "What is watched, how, and what was found. Their configuration can hold secrets.",
  Heartbeats:
    "How a watched job says that it runs: with the token of its monitor, not with an API key.",
  Analytics: "Figures, each with how it was counted.",
  Metrics: "For Prometheus and what reads its format.",
  Keys: "API keys. They are created in the dashboard or on the command line, never here.",
  Health: "For load balancers and supervisors.",
  Documentation: "This document.",
};

const INTRODUCTION = [
  "Send `Authorization: Bearer <API_KEY>`. Requests and answers are UTF-8 JSON in snake_case; times are ISO 8601 in UTC with milliseconds.",
  "A key has its own limit of requests a minute (1000 unless set otherwise); whoever sends none shares the limit of the client's address (100 unless the server is configured otherwise). A bucket that is full lets its whole limit through at once and refills evenly, so at most 2 × limit − 1 requests pass in any one minute. Over it, the answer is 429 with `Retry-After`.",
  "Errors are `application/problem+json` (RFC 9457); `/docs/errors` lists them. Before a request reaches the service, the runtime itself answers a broken request line or a missing Host (400), a URL and headers that together exceed 16 KB (431) and a body over 1 MiB (413), without a problem document.",
  "A POST that creates hears `Idempotency-Key`: the same one within 24 hours makes one thing and is answered alike, with `Idempotency-Replayed: true`; with another body it is refused.",
  "Lists answer `data` and `next_cursor`; pass that as `cursor` for the next page. A page may hold fewer than `limit` before the last one, whose `next_cursor` is null.",
].join("\n\n");

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
        heartbeatToken: {
          type: "http",
          scheme: "bearer",
          description: "The token of a push monitor, shown when it is created or rotated.",
        },
      },
      headers: HEADERS,
      examples: Object.fromEntries(ERROR_CODES.map((code) => [code, errorExample(code)])),
    },
  };
}
