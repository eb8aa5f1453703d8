import type { Json } from "./components";

const header = (description: string, schema: Json): Json => ({ description, schema });
const text = { type: "string" };
const integer = { type: "integer" };

/** Every header that an answer may have, as the document explains it. */
export const HEADERS = {
  "X-Request-Id": header("The request's id, under which the server's log knows it.", text),
  "RateLimit-Policy": header('Whose bucket paid and its size: `"key";q=1000;w=60`.', text),
  RateLimit: header('What is left, and the seconds to full: `"key";r=999;t=1`.', text),
  "X-RateLimit-Limit": header("The bucket's size, for older clients.", integer),
  "X-RateLimit-Remaining": header("Requests left.", integer),
  "X-RateLimit-Reset": header("When the bucket is full again, in epoch seconds.", integer),
  "Retry-After": header("Seconds to wait before the next try.", integer),
  "WWW-Authenticate": header("RFC 6750's challenge.", text),
  ETag: header(
    'The entity tag of what was sent. Of a resource it is `"<version>"`, or `"<version>-<hash>"` where the answer also shows what the version does not cover.',
    text,
  ),
  Link: header('The next page: `<…>; rel="next"`.', text),
  Allow: header("The methods of the path.", text),
  Location: header("Where the resource is that was made.", text),
  "Idempotency-Replayed": header(
    "`true` where this is the answer to an earlier request with the same Idempotency-Key, its secrets as null; nothing was made now.",
    text,
  ),
} as const satisfies Record<string, Json>;

export type HeaderName = keyof typeof HEADERS;

/** The headers that the door gives every answer. */
export const EVERY_ANSWER: readonly HeaderName[] = [
  "X-Request-Id",
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

/** The headers of one answer. */
export function referHeaders(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
