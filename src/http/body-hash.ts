import { sha256 } from "../kernel/hash";

export const IDEMPOTENCY_KEY = "idempotency-key";

// A property of the request, which outlives the parsing: a body can be read only once.
const BODY_HASH = Symbol("SHA-256 of the body");
type Hashed = Request & { [BODY_HASH]?: Buffer };

/** Keeps the hash of a body as it was sent beside its request, where that is asked for. */
export function keepBodyHash(request: Hashed, bytes: Uint8Array): void {
  if (request.headers.has(IDEMPOTENCY_KEY)) request[BODY_HASH] = sha256(bytes);
}

/** SHA-256 of the body's bytes as they were sent; of none where the route reads no body. */
export function bodyHashOf(request: Hashed): Buffer {
  return request[BODY_HASH] ?? sha256("");
}
