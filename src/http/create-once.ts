import type { AppContext } from "../context";
import type { Tx } from "../db";
import { Problem } from "../errors";
import { type Answer, answerOnce } from "../features/idempotency";
import { sha256 } from "../kernel/hash";
import { type RequestContext, bearerOf } from "./request-context";
import { sendCreated } from "./answers";
import { bodyHashOf, IDEMPOTENCY_KEY } from "./json-body";
import type { TagKind } from "./representation";
import { splitUrl } from "./request-url";

/** 1 to 128 printable characters of ASCII. A UUID is a good one. */
const KEY_SHAPE = /^[\x20-\x7e]{1,128}$/;

/** Object created by a POST. */
export interface Made {
  /** As the API shows it. Where it has a `version`, it has an entity tag. */
  resource: object;
  /** Path of the object on this server, such as `/api/v1/incidents/inc_…`. */
  location: string;
  /** The resource with null in the place of its secrets, which a replay shows instead. */
  replay?: object;
}

/**
 * Runs `make` in a transaction of its own and answers 201 with what it made. A request that carries an
 * Idempotency-Key makes it once: the same one, sent again by the same API key within 24 hours, is
 * answered as it was, without secrets and with `Idempotency-Replayed: true`. For routes that declare
 * `idempotent`.
 *
 * `tag` is the kind of entity tag that reading the resource answers with.
 *
 * Rejects with `invalid_request` for a key of another shape, with `idempotency_mismatch` for a body
 * other than the first, and with whatever `make` throws; nothing is written then, nor kept.
 */
export async function createOnce(
  ctx: Pick<AppContext, "baseUrl" | "clock" | "db">,
  {
    request,
    requestContext,
    tag = "content",
  }: { request: Request; requestContext: RequestContext; tag?: TagKind },
  make: (tx: Tx) => Made,
): Promise<Response> {
  if (!requestContext.route?.operation.idempotent) throw new Error("the route is not idempotent");
  const idempotencyKey = readKey(request);
  const answer = await ctx.db.write((tx) => {
    if (idempotencyKey === undefined) return { ...toAnswer(make(tx)), isReplayed: false };
    const sent = {
      keyId: bearerOf(requestContext).key.id,
      path: splitUrl(request.url)?.path ?? "",
      idempotencyHash: sha256(idempotencyKey),
      bodyHash: bodyHashOf(request),
    };
    return answerOnce(ctx, tx, sent, () => toAnswer(make(tx)));
  });
  return sendCreated({ ...answer, location: ctx.baseUrl + answer.location, tag });
}

function readKey(request: Request): string | undefined {
  const key = request.headers.get(IDEMPOTENCY_KEY);
  if (key === null || KEY_SHAPE.test(key)) return key ?? undefined;
  throw new Problem(
    "invalid_request",
    "The header Idempotency-Key must be 1 to 128 printable ASCII characters.",
  );
}

function toAnswer({ resource, location, replay }: Made): Answer {
  const body = JSON.stringify(resource);
  return { status: 201, location, body, ...(replay ? { keptBody: JSON.stringify(replay) } : {}) };
}
