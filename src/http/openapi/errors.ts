import { ERROR_CODES, ERRORS, type ErrorCode } from "../../errors";
import type { Route } from "../route-table";
import { EVERY_ANSWER, type HeaderName, referHeaders } from "./headers";
import type { Json } from "./components";

/** The errors that a route can answer with: its own, and those that its declaration brings. */
export function errorsOf(route: Route): ErrorCode[] {
  const { access, errors = [], conditional, idempotent } = route.operation;
  const codes: ErrorCode[] = ["invalid_request", ...errors, "rate_limited", "internal_error"];
  if (access.kind === "key") {
    codes.push("missing_key", "invalid_key", "expired_key", "revoked_key", "unavailable");
    if (access.scopes.length > 0) codes.push("insufficient_scope");
  }
  if (access.kind === "session") codes.push("sign_in_required", "insufficient_role", "unavailable");
  if (access.kind === "heartbeat") {
    codes.push("unavailable");
    if (route.path.endsWith("/:token")) codes.push("not_found");
    else codes.push("missing_key", "invalid_key");
  }
  if (route.body) codes.push("unsupported_media_type");
  if (route.body && route.body.beginningBytes === undefined) {
    codes.push("payload_too_large", "validation_failed");
  }
  if (route.body && (access.kind === "session" || access.kind === "public")) {
    codes.push("cross_site_request", "unavailable");
  }
  if (conditional === "if-match") codes.push("precondition_failed");
  if (idempotent) codes.push("idempotency_mismatch");
  return [...new Set(codes)].sort((a, b) => ERRORS[a].status - ERRORS[b].status);
}

/** The failing answers of a route, one a status. */
export function failures(route: Route): Json {
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

function headersOfStatus(status: number): HeaderName[] {
  if (status === 401 || status === 403) return ["WWW-Authenticate"];
  if (status === 429 || status === 503) return ["Retry-After"];
  return [];
}

/** Schema of every error. */
export const PROBLEM_SCHEMA: Json = {
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
      description:
        "Every broken field. After 100 of them comes one entry without a pointer, whose detail says how many more there are.",
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
export function errorExample(code: ErrorCode): Json {
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
