import { sql } from "drizzle-orm";
import { SCHEMA_VERSION } from "./migrations";
import { type Reader, selectOne } from "./statements";

/** Schema that may not fit the statements of a build, which must not migrate it. */
export interface UnreadableSchema {
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
