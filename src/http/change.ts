import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import type { Actor } from "../base/actor";
import { sendResource, sendWithVersionTag } from "./answers";
import { requireIfMatch, type TagKind, type VersionedResource } from "./entity-tags";
import { NO_STORE } from "./representation";
import { actorOf, type RequestContext } from "./request-context";

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
