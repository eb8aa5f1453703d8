import type { TSchema } from "@sinclair/typebox";
import { ERROR_CODES, ERRORS, type ErrorCode } from "../../errors";

/** A part of the document. */
export type Json = Record<string, unknown>;

/** Collects schemas with a title under `components/schemas` and refers to them. */
export class NamedSchemas {
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

/** Returns a schema as plain JSON, without TypeBox's symbols. */
export function toPlain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}

/** Schema of errors. */
export const PROBLEM_SCHEMA: Json = {
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

const header = (description: string, schema: Json): Json => ({ description, schema });
const text = { type: "string" };
const integer = { type: "integer" };

/** Headers of answers. */
export const HEADERS = {
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

export type HeaderName = keyof typeof HEADERS;

/** Headers of every answer. */
export const EVERY_ANSWER: readonly HeaderName[] = [
  "X-Request-Id",
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

/** Returns references to headers by name. */
export function referHeaders(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
