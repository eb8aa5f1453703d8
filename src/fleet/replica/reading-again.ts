import { type FollowedDb, isNotReadable } from "../../db/followed-database";
import type { Handle } from "../../http/route-table";
import type { StoredContexts } from "../../http/request-context";

/** Runs a handler again, for a quarter of a second at most, while a transaction is being applied. */
export function readingAgain(
  db: Pick<FollowedDb, "read">,
  contexts: StoredContexts,
  handle: Handle,
): Handle {
  return (request) => {
    // A body can be read once. The replica's own handlers of such requests do not need the database.
    if (request.body) return handle(request);
    return db.read(() => {
      const context = contexts.find(request);
      if (context) context.failure = undefined;
      const answer = handle(request);
      return answer instanceof Promise ? answer.then(settled) : settled(answer);

      /** Throws the error that the handler left in the context. */
      function settled(response: Response): Response {
        if (isNotReadable(context?.failure)) throw context?.failure;
        return response;
      }
    });
  };
}
