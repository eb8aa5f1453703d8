import { desc, sql } from "drizzle-orm";
import { unavailable } from "../base/errors";
import type { Log } from "../base/log";
import type { Db } from "./database";
import { SCHEMA_VERSION } from "./migrations";
import { insertInto, type Reader, selectOne, type StatementCache } from "./statements";
import { terms } from "./tables/settings";

/** Time after which a client tries again, in seconds: an upgrade takes longer than a busy database. */
const RETRY_AFTER_SECONDS = 5;

/** Refuses statements while the schema of a database does not fit this build, which must not migrate it. */
interface SchemaGuard<Guarded extends Db> {
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

/** Schema that may not fit the statements of a build, which must not migrate it. */
interface UnreadableSchema {
  /** Schema version of the database. */
  version: number;
  /** The node to upgrade. A primary is upgraded before its replicas, and it alone migrates. */
  outdated: "primary" | "replica";
  message: string;
}

const countMigrations = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ version: sql<number>`count(*)` }).from(sql`schema_migrations`),
);

/** Returns the schema version of a database that is migrated. */
export function readSchemaVersion(reader: Reader): number {
  return countMigrations(reader, {})?.version ?? 0;
}

// The newest version that a migration declares. The column is there from schema version 20 on.
const findReadableFrom = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ version: sql<number>`coalesce(max(readable_from), 0)` })
    .from(sql`schema_migrations`),
);

/**
 * Returns why the statements of a build with the schema version `own` may not work on a database; undefined if they
 * work.
 */
export function unreadableSchema(
  reader: Reader,
  own = SCHEMA_VERSION,
): UnreadableSchema | undefined {
  const version = readSchemaVersion(reader);
  if (version < own) {
    const message = `The database has schema version ${version}, this replica needs ${own}. Upgrade the primary first, then its replicas.`;
    return { version, outdated: "primary", message };
  }
  const readableFrom = findReadableFrom(reader, {})?.version ?? 0;
  if (readableFrom <= own) return undefined;
  const message = `The database has schema version ${version}, which replicas can read from version ${readableFrom} on; this one has ${own}. Upgrade this replica.`;
  return { version, outdated: "replica", message };
}

/** Returns the last term in which this database was written. */
export const findLastTerm = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ term: terms.term }).from(terms).orderBy(desc(terms.term)).limit(1),
);

export const insertTerm = insertInto(terms);
