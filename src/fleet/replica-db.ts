import { unavailable } from "../errors";
import { type FollowedDb, isNotReadable } from "../db/followed-database";
import { readSchemaVersion, unreadableSchema } from "../db/readable-schema";
import type { Handle, StoredContexts } from "../http";

const RETRY_AFTER_SECONDS = 5;

/** A followed database whose statements are refused while this build may not understand its schema. */
export interface ReplicaDb extends FollowedDb {
  /** Looks at the schema of the present version. Called before anything else reads it. Throws while it cannot be read. */
  checkSchema(): void;
  /** Reason for which statements are refused; undefined if they work. */
  schemaProblem(): string | undefined;
  /** Schema version at the last look; undefined before. */
  schema(): number | undefined;
}

export function createReplicaDb(followed: FollowedDb, own: number): ReplicaDb {
  let found: ReturnType<typeof unreadableSchema>;
  let version: number | undefined;
  return Object.create(followed, {
    statements: {
      get() {
        if (found) throw unavailable(found.message, RETRY_AFTER_SECONDS);
        return followed.statements;
      },
    },
    checkSchema: {
      value() {
        version = readSchemaVersion(followed);
        found = unreadableSchema(followed, own);
      },
    },
    schemaProblem: { value: () => found?.message },
    schema: { value: () => version },
  }) as ReplicaDb;
}

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
