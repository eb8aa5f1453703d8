import { unavailable } from "../errors/problem";
import type { Db } from "./database";
import { SCHEMA_VERSION } from "./migrations";
import { type UnreadableSchema, unreadableSchema } from "./readable-schema";
import type { StatementCache } from "./statement-cache";

/** Time after which a client tries again, in seconds: an upgrade takes longer than a busy database. */
const RETRY_AFTER_SECONDS = 5;

/** Refuses statements while the schema of a database does not fit this build, which must not migrate it. */
export interface SchemaGuard<Guarded extends Db> {
  /** The database. Statements throw `unavailable` while `problem` returns one. */
  db: Guarded;
  /** Returns why statements may not work; undefined if they do. Throws while the database cannot be read. */
  problem(): UnreadableSchema | undefined;
}

/**
 * Guards a database that another node migrates. The schema is read once for each connection of `db`, whose statement
 * cache shows it. `onChange` is called when a problem begins, changes or ends.
 */
export function guardSchema<Guarded extends Db>(
  db: Guarded,
  onChange: (problem: UnreadableSchema | undefined) => void,
  own = SCHEMA_VERSION,
): SchemaGuard<Guarded> {
  let checked: StatementCache | undefined;
  let current: UnreadableSchema | undefined;

  function check(): StatementCache {
    const { statements } = db;
    if (statements === checked) return statements;
    const found = unreadableSchema({ statements }, own);
    checked = statements;
    const isOther = found?.message !== current?.message;
    current = found;
    if (isOther) onChange(found);
    return statements;
  }

  const guarded = Object.create(db, {
    statements: {
      get() {
        const statements = check();
        if (current) throw unavailable(current.message, RETRY_AFTER_SECONDS);
        return statements;
      },
    },
  }) as Guarded;
  return {
    db: guarded,
    problem() {
      check();
      return current;
    },
  };
}
