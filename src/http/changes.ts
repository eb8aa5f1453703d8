import type { Actor } from "../base/actor";
import { Problem } from "../base/errors";
import { sha256 } from "../base/hash";
import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import { type Answer, answerOnce } from "../features/repeats/store";
import { sendResource, sendWithVersionTag } from "./answers";
import { IDEMPOTENCY_KEY } from "./json-body";
import {
  contentTag,
  NO_STORE,
  requireIfMatch,
  type TagKind,
  type VersionedResource,
  versionTag,
} from "./representation";
import { actorOf, bearerOf, type RequestContext, splitUrl } from "./request-context";

/** Request for a change of the object with the id of the path. */
interface ChangeRequest {
  params: { id: string };
  request: Request;
  requestContext: RequestContext;
  /** Kind of entity tag with which the resource is read; content if omitted. */
  tag?: TagKind;
}

/**
 * Returns functions that change and delete objects in transactions of their own. `find` returns the object
 * and throws `not_found`. If-Match is compared before the change. For routes that declare
 * `conditional: "if-match"`.
 */
export function createChanges<Current extends { version: number }>(
  { db }: Ctx,
  find: (tx: Tx, id: string, requestContext: RequestContext) => Current,
) {
  const write = <Result>(
    { params, request, requestContext }: ChangeRequest,
    apply: (tx: Tx, current: Current, actor: Actor) => Result,
  ): Promise<Result> =>
    db.write((tx) => {
      const current = find(tx, params.id, requestContext);
      requireIfMatch(request.headers.get("if-match"), current.version);
      return apply(tx, current, actorOf(requestContext));
    });

  return {
    /** Changes the object and sends the resource that `apply` returns. */
    async change(
      sent: ChangeRequest,
      apply: (tx: Tx, current: Current, actor: Actor) => VersionedResource,
    ): Promise<Response> {
      const resource = await write(sent, apply);
      return sent.tag === "version"
        ? sendWithVersionTag(sent.request, resource)
        : sendResource(sent.request, resource);
    },

    /** Deletes the object and answers 204. */
    async remove(
      sent: ChangeRequest,
      apply: (tx: Tx, current: Current, actor: Actor) => void,
    ): Promise<Response> {
      await write(sent, apply);
      return new Response(null, { status: 204, headers: { "Cache-Control": NO_STORE } });
    },
  };
}

const KEY_SHAPE = /^[\x20-\x7e]{1,128}$/;

/** Object created by a POST. */
interface Made {
  /** As the API shows it. A resource with a `version` gets an entity tag. */
  resource: object;
  /** Path of the object on this server, such as `/api/v1/incidents/inc_…`. */
  location: string;
  /** The resource with null in place of its secrets, for replays; the resource itself if omitted. */
  replay?: object;
}

/**
 * Runs `make` in a transaction of its own and answers 201 with the created object. For routes that declare
 * `idempotent`: if the same API key repeats an Idempotency-Key within 24 hours, nothing is created and the
 * first answer is sent again, without secrets and with `Idempotency-Replayed: true`. `tag` is the kind of
 * entity tag with which the resource is read.
 *
 * Rejects with `invalid_request` for a malformed key, with `idempotency_mismatch` for another body, and
 * with the errors of `make`. Nothing is stored then.
 */
export async function createOnce(
  ctx: Ctx,
  {
    request,
    requestContext,
    tag = "content",
  }: { request: Request; requestContext: RequestContext; tag?: TagKind },
  make: (tx: Tx) => Made,
): Promise<Response> {
  if (!requestContext.route?.operation.idempotent) throw new Error("the route is not idempotent");
  const idempotencyKey = readKey(request);
  const { answer, isReplayed, created } = await ctx.db.write((tx) => {
    const outcome: { created?: object } = {};
    function makeAnswer(): Answer {
      const made = make(tx);
      outcome.created = made.resource;
      return toAnswer(made);
    }
    if (idempotencyKey === undefined) {
      return { answer: makeAnswer(), isReplayed: false, ...outcome };
    }
    const sent = {
      keyId: bearerOf(requestContext).key.id,
      path: splitUrl(request.url)?.path ?? "",
      idempotencyHash: sha256(idempotencyKey),
      bodyHash: requestContext.bodyHash ?? sha256(""),
    };
    const { isReplayed, ...answer } = answerOnce(ctx, tx, sent, makeAnswer);
    return { answer, isReplayed, ...outcome };
  });
  const shown = created ?? (JSON.parse(answer.body) as object);
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "Cache-Control": NO_STORE,
    Location: ctx.baseUrl + answer.location,
  };
  if (hasVersion(shown)) {
    headers["ETag"] = tag === "version" ? versionTag(shown.version) : contentTag(shown);
  }
  if (isReplayed) headers["Idempotency-Replayed"] = "true";
  return new Response(answer.body, { status: answer.status, headers });
}

function hasVersion(resource: Partial<VersionedResource>): resource is VersionedResource {
  return resource.version !== undefined;
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
