import { unavailable } from "../errors/problem";
import type { Log } from "../kernel/log";
import type { Db } from "./database";
import { SCHEMA_VERSION } from "./migrations";
import { readSchemaVersion, type UnreadableSchema, unreadableSchema } from "./readable-schema";
import type { StatementCache } from "./statement-cache";

/** Time after which a client tries again, in seconds: an upgrade takes longer than a busy database. */
const RETRY_AFTER_SECONDS = 5;

/** Refuses statements while the schema of a database does not fit this build, which must not migrate it. */
export interface SchemaGuard<Guarded extends Db> {
  /** The database. Its statements throw `unavailable` while there is a problem. */
  db: Guarded;
  /** Reads the schema of a new connection. Throws while the database cannot be read. */
  check(): void;
  /** Returns why statements were refused at the last look; undefined if they were not. */
  problem(): UnreadableSchema | undefined;
  /** Returns the schema version at the last look; undefined before the first. */
  version(): number | undefined;
}

/**
 * Guards a database that another node migrates. The schema is read before the first statement of each connection of
 * `db`, which has a statement cache of its own. A problem is logged when it begins, changes or ends.
 */
export function guardSchema<Guarded extends Db>(
  db: Guarded,
  log: Pick<Log, "info" | "warn">,
  own = SCHEMA_VERSION,
): SchemaGuard<Guarded> {
  let checked: StatementCache | undefined;
  let problem: UnreadableSchema | undefined;
  let version: number | undefined;

  function check(): StatementCache {
    const { statements } = db;
    if (statements === checked) return statements;
    const found = unreadableSchema({ statements }, own);
    version = readSchemaVersion({ statements });
    checked = statements;
    const isOther = found?.message !== problem?.message;
    problem = found;
    if (isOther) {
      if (found) log.warn(found.message);
      else log.info("the schema of the database fits again");
    }
    return statements;
  }

  const guarded = Object.create(db, {
    statements: {
      get() {
        const statements = check();
        if (problem) throw unavailable(problem.message, RETRY_AFTER_SECONDS);
        return statements;
      },
    },
  }) as Guarded;
  return {
    db: guarded,
    check: () => void check(),
    problem: () => problem,
    version: () => version,
  };
}
