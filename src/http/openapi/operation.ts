import type { TSchema } from "@sinclair/typebox";
import type { Route } from "../route-table";
import { failures } from "./errors";
import { EVERY_ANSWER, type HeaderName, referHeaders } from "./headers";
import { parametersOf } from "./parameters";
import type { Json, NamedSchemas } from "./components";

/** Describes one route for the document. */
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
    responses: { ...successes(route, schemas), ...failures(route) },
  };
}

/** Describes the request body of a route that reads one. */
function bodyOf({ body }: Route, schemas: NamedSchemas): Json {
  if (!body) return {};
  const mediaType = body.beginningBytes === undefined ? "application/json" : "*/*";
  const content = { [mediaType]: { schema: schemas.refer(body.schema) } };
  return { requestBody: { required: !body.isOptional, content } };
}

function securityOf({ operation, path }: Route, scopes: readonly string[]): Json[] {
  if (operation.access.kind === "key") return [{ apiKey: [...scopes] }];
  const isByBearer = operation.access.kind === "heartbeat" && !path.endsWith("/:token");
  return isByBearer ? [{ heartbeatToken: [] }] : [];
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
              ...Object.fromEntries(
                (answer.alsoAs ?? []).map((type) => [type, { schema: { type: "string" } }]),
              ),
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
  if (operation.conditional || hasVersion) headers.push("ETag");
  if (hasProperty(query, "limit")) headers.push("Link");
  if (operation.idempotent) headers.push("Location", "Idempotency-Replayed");
  return headers;
}

/** Of an object that has several shapes the first speaks for all. */
function hasProperty(schema: TSchema | undefined, name: string): boolean {
  const [shape] = (schema?.["oneOf"] as TSchema[] | undefined) ?? [schema];
  return name in ((shape?.["properties"] as Json | undefined) ?? {});
}
