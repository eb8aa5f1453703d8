import type { TSchema } from "@sinclair/typebox";
import type { Route } from "../route-table";
import { failures } from "./errors";
import { EVERY_ANSWER, type HeaderName, referHeaders } from "./headers";
import { parametersOf } from "./parameters";
import type { Json, NamedSchemas } from "./schemas";

/** What the document says of one route. */
export function describeOperation(route: Route, schemas: NamedSchemas): Json {
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
    parameters: parametersOf(route),
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

/** The successful answers of a route, one a status. */
function successes(route: Route, schemas: NamedSchemas): Json {
  const { operation } = route;
  const answers: Json = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    answers[status] = {
      description: answer.description,
      headers: referHeaders([...EVERY_ANSWER, ...ownHeaders(route, Number(status))]),
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

/** The headers of one successful answer, beyond those of every answer. */
function ownHeaders({ operation, query }: Route, status: number): HeaderName[] {
  const headers: HeaderName[] = [];
  const hasVersion = hasProperty(operation.answers[status]?.schema, "version");
  if (operation.conditional || (status === 201 && hasVersion)) headers.push("ETag");
  if (hasProperty(query, "limit")) headers.push("Link");
  if (operation.idempotent) headers.push("Location", "Idempotency-Replayed");
  return headers;
}

function hasProperty(schema: TSchema | undefined, name: string): boolean {
  return name in ((schema?.["properties"] as Json | undefined) ?? {});
}
