import { Type } from "@sinclair/typebox";
import { type Problem, unavailable } from "../../base/errors";
import {
  BODY_MAX_BYTES,
  bodyLengthProblem,
  type DeclaredBody,
  hasBody,
} from "../../http/declared-body";
import type { MatchedRequest } from "../../http/elsewhere";
import { readBeginning, readBytes } from "../../http/body";

const RETRY_AFTER_SECONDS = 5;

/** The primary may have a route that this version lacks. */
const UNKNOWN_BODY: DeclaredBody = { schema: Type.Unknown(), isOptional: true };

/**
 * Reads the part of a body that the route reads; undefined without one. Returns a Problem for more than
 * `BODY_MAX_BYTES`, and without room for it. Throws a Problem if it does not arrive whole in time.
 */
export async function readForwardedBody({
  context,
  match,
  bodies,
}: MatchedRequest): Promise<Uint8Array<ArrayBuffer> | Problem | undefined> {
  const { request } = context;
  const declared = match.route ? match.route.body : UNKNOWN_BODY;
  if (request.method === "GET" || request.method === "HEAD" || !declared) return undefined;
  if (!hasBody(request.headers)) return undefined;
  const problem = bodyLengthProblem(request.headers, declared);
  if (problem) return problem;
  const { beginningBytes } = declared;
  const isWhole = beginningBytes === undefined;
  if (isWhole && Number(request.headers.get("content-length")) > BODY_MAX_BYTES) {
    return unavailable(
      `A replica does not forward bodies of more than ${BODY_MAX_BYTES} bytes. Send the request to the primary.`,
      RETRY_AFTER_SECONDS,
    );
  }
  const tooMuch = bodies.reserve(context, declared);
  if (tooMuch) return tooMuch;
  const bytes = isWhole ? await readBytes(request) : await readBeginning(request, beginningBytes);
  return bytes as Uint8Array<ArrayBuffer>;
}

/** Returns a request again whose body was read. */
export function sentAgain(request: Request, body: Uint8Array<ArrayBuffer> | undefined): Request {
  const headers = new Headers(request.headers);
  headers.delete("transfer-encoding");
  headers.set("content-length", String(body?.byteLength ?? 0));
  const { method, url } = request;
  return new Request(url, { method, headers, ...(body && { body }) });
}
