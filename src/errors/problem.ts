import { ERRORS, type ErrorCode } from "./catalog";

/** One invalid field: a JSON pointer as a URI fragment, and the error. */
export interface FieldError {
  pointer: string;
  detail: string;
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
  readonly next: { readonly path: string; readonly label: string } | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      fields?: readonly FieldError[];
      unlisted?: number;
      headers?: Record<string, string>;
      next?: { path: string; label: string };
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
