import { ERRORS, type ErrorCode } from "./catalog";

/** One broken field: where it is, as a JSON pointer in a URI fragment, and what is wrong with it. */
export interface FieldError {
  pointer: string;
  detail: string;
}

/**
 * A refusal that the caller is told of. Services and rules throw it with a code from the catalog and
 * know nothing of HTTP; the front door turns it into an RFC 9457 answer.
 */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];
  /** Number of further broken fields, which `fields` does not name. */
  readonly unlisted: number;
  /** Headers that belong to this refusal, such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      fields?: readonly FieldError[];
      unlisted?: number;
      headers?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "Problem";
    this.code = code;
    this.fields = more.fields ?? [];
    this.unlisted = more.unlisted ?? 0;
    this.headers = more.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** `validation_failed` with every broken field; `unlisted` more are only counted. */
export function invalidFields(fields: readonly FieldError[], unlisted = 0): Problem {
  const count = fields.length + unlisted;
  const detail = count === 1 ? "One field is wrong." : `${count} fields are wrong.`;
  return new Problem("validation_failed", detail, { fields, unlisted });
}

/** `invalid_request` for a query parameter; `detail` goes on behind its name. */
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

/** 503: the request may be sent again after `retryAfterSeconds`. The cause goes to the log alone. */
export function unavailable(detail: string, retryAfterSeconds: number, cause?: unknown): Problem {
  return new Problem("unavailable", detail, {
    headers: { "Retry-After": String(retryAfterSeconds) },
    cause,
  });
}

/** A JSON pointer (RFC 6901) as a URI fragment: `#/components/0/name`. */
export function pointer(...steps: (string | number)[]): string {
  return `#${steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;
}
