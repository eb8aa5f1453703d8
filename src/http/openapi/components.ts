import type { TSchema } from "@sinclair/typebox";
import { ERROR_CODES, type ErrorCode, ERRORS } from "../../base/errors";
import { capitalised } from "../../base/text";

/** A part of the document. */
export type Json = Record<string, unknown>;

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
