import type { MessageKey } from "../languages/words";

/** One invalid field: a JSON pointer as a URI fragment, and the error. */
export interface FieldError {
  pointer: string;
  detail: string;
}

/**
 * Link of a page that shows an error. `said` is the message with the content of the label, for
 * links on pages for visitors.
 */
interface NextLink {
  readonly path: string;
  readonly label: string;
  readonly said?: MessageKey;
}

/**
 * Refusal that is reported to the caller. Services throw it with a code from the catalog; the
 * gateway converts it to an RFC 9457 response.
 */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];
  /** Number of further invalid fields, which `fields` does not name. */
  readonly unlisted: number;
  /** Headers of the response, such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Link of the page that shows it to a person, such as to the form that makes a new link. */
  readonly next: NextLink | undefined;
  /** Message with the same content as the detail, for visitors who read another language. */
  readonly said: MessageKey | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      fields?: readonly FieldError[];
      unlisted?: number;
      headers?: Record<string, string>;
      next?: NextLink;
      said?: MessageKey;
      cause?: unknown;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "Problem";
    this.code = code;
    this.fields = more.fields ?? [];
    this.unlisted = more.unlisted ?? 0;
    this.headers = more.headers ?? {};
    this.next = more.next;
    this.said = more.said;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Returns `validation_failed` with every invalid field; `unlisted` more are only counted. */
export function invalidFields(fields: readonly FieldError[], unlisted = 0): Problem {
  const count = fields.length + unlisted;
  const detail = count === 1 ? "One field is wrong." : `${count} fields are wrong.`;
  return new Problem("validation_failed", detail, { fields, unlisted });
}

/** Returns `invalid_request` for a query parameter; `detail` follows its name. */
export function invalidParameter(name: string, detail: string): Problem {
  return new Problem("invalid_request", `The query parameter ${name} ${detail}.`, {
    fields: [{ pointer: `#/${name}`, detail }],
  });
}

export function notFound(what: string): Problem {
  return new Problem("not_found", `There is no such ${what}.`);
}

export function conflict(detail: string): Problem {
  return new Problem("conflict", detail);
}

/**
 * Returns a 503 error: the request may be sent again after `retryAfterSeconds`. The cause is only
 * logged.
 */
export function unavailable(detail: string, retryAfterSeconds: number, cause?: unknown): Problem {
  return new Problem("unavailable", detail, {
    headers: { "Retry-After": String(retryAfterSeconds) },
    cause,
  });
}

/** Returns a JSON pointer (RFC 6901) as a URI fragment: `#/components/0/name`. */
export function pointer(...steps: (string | number)[]): string {
  return `#${steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;
}

/**
 * Catalog of all errors with HTTP status, title and meaning, used by `/docs/errors`, the OpenAPI
 * document and the gateway. `example` is the detail shown in the documentation.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    title: "Invalid request",
    meaning:
      "The request is not valid: malformed JSON, an invalid query parameter or cursor, an API key in the query string, a body that does not arrive completely in time, a Content-Length header that is not a whole number or is sent twice, or a Host header that is empty or sent twice. Correct the request before sending it again.",
    example: "The body is not valid JSON.",
  },
  missing_key: {
    status: 401,
    title: "API key required",
    meaning:
      "The request carries no bearer credentials. Send the header `Authorization: Bearer <API_KEY>`.",
    example: "Send an API key in the header Authorization: Bearer <API_KEY>.",
  },
  invalid_key: {
    status: 401,
    title: "API key not recognised",
    meaning:
      "The value is not a key of this server. Check that it is complete (58 characters, starting with `allclear_`) and that it belongs to this installation.",
    example: "The API key is not one of this server's.",
  },
  expired_key: {
    status: 401,
    title: "API key expired",
    meaning:
      "The key's expiration date has passed, or this value was replaced by a rotation whose overlap is over. Create a key, or use the key's newest value.",
    example: "The API key expired at 2026-01-01T00:00:00.000Z.",
  },
  revoked_key: {
    status: 401,
    title: "API key revoked",
    meaning: "The key was revoked, which cannot be undone. Create another key.",
    example: "The API key was revoked at 2026-01-01T12:00:00.000Z.",
  },
  insufficient_scope: {
    status: 403,
    title: "Insufficient scope",
    meaning:
      "The key is valid but does not have the scope that the endpoint needs. Scopes do not include each other. Create a key that has the scope.",
    example: "This endpoint needs the scope write:components, which the API key does not have.",
  },
  sign_in_required: {
    status: 401,
    title: "Sign-in required",
    meaning:
      "The dashboard needs a signed-in user, and the request has no session or its session has ended. API keys work for the API only.",
    example: "Sign in to the dashboard. Nothing was changed.",
  },
  insufficient_role: {
    status: 403,
    title: "Insufficient role",
    meaning:
      "The user is signed in, but this part of the dashboard needs a higher role. An owner can change roles under Settings, Users.",
    example:
      "This page needs the admin role, and your role is viewer. Ask an owner to change your role.",
  },
  second_factor_required: {
    status: 403,
    title: "Second factor required",
    meaning:
      "The user is signed in, but users of this role need a second factor. It is set up under Account.",
    example: "Your role needs a second factor. Set it up first. Nothing was changed.",
  },
  cross_site_request: {
    status: 403,
    title: "Cross-site request rejected",
    meaning:
      "A form of the dashboard or a message to /mcp was sent from another site, or the browser did not send its origin. Behind a reverse proxy that changes the Host header, set the public address.",
    example: "This form was not sent from a page of this server, so nothing was changed.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    meaning: "The path or the resource does not exist, or the resource was deleted.",
    example: "There is no such resource.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    meaning: "The path exists, but not with this method. The Allow header lists its methods.",
    example: "DELETE is not a method of this path. Its methods are GET, HEAD.",
  },
  conflict: {
    status: 409,
    title: "Conflict",
    meaning:
      "The change is not possible in the current state, for example because a slug is taken or a key is revoked. Nothing was changed.",
    example: "The slug acme is taken.",
  },
  precondition_failed: {
    status: 412,
    title: "Precondition failed",
    meaning:
      "The resource has changed since the version in If-Match. Read it again, apply the change to the current version, and send its ETag.",
    example: 'The resource is at version "7", not at the version that If-Match names.',
  },
  payload_too_large: {
    status: 413,
    title: "Payload too large",
    meaning: "The body is larger than 256 KiB.",
    example: "The body is larger than 262144 bytes.",
  },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    meaning:
      "The body does not have the media type that the endpoint reads: `application/json`, or a form in the dashboard. Bodies with a `Content-Encoding`, such as gzip, are not supported.",
    example: "Send the body as application/json.",
  },
  validation_failed: {
    status: 422,
    title: "Validation failed",
    meaning:
      "The body is JSON but does not match the schema. `errors` lists every invalid field by its JSON pointer, including unknown fields and references. After 100 of them, one entry without a pointer counts the rest. Nothing was changed.",
    example: "One field is wrong.",
  },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency-Key used for another body",
    meaning:
      "Within the last 24 hours, the same API key sent this Idempotency-Key to this path with another body. Nothing was changed. Use a new Idempotency-Key for every new request, and send exactly the same bytes when you repeat a request.",
    example:
      "This Idempotency-Key came with another body before. Nothing was changed; use a new key for another request.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    meaning:
      "The rate limit in the detail is used up. Wait for the number of seconds in Retry-After, then repeat the request.",
    example:
      "The limit of 1000 requests a minute for the API key is used up. Try again in 42 seconds.",
  },
  internal_error: {
    status: 500,
    title: "Internal error",
    meaning:
      "An unexpected error happened on the server. Its log has the cause under the id from X-Request-Id.",
    example: "Something went wrong. The server's log has the cause under this request's id.",
  },
  unavailable: {
    status: 503,
    title: "Unavailable",
    meaning:
      "The server cannot handle the request now: the database is full or locked, or the server is overloaded or shutting down. Nothing was changed. Try again after Retry-After seconds.",
    example: "The change could not be stored. Nothing was written; try again.",
  },
} as const satisfies Record<
  string,
  { status: number; title: string; meaning: string; example: string }
>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
