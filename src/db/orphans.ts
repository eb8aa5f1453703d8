import { Database } from "bun:sqlite";
import { eq, sql } from "drizzle-orm";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DataDirectory } from "./data-directory";
import { OperatorError } from "./errors";
import { isAllclearDatabase } from "./open";
import { type Reader, selectOne } from "./statements";
import { events } from "./tables/events";

/** Event of a database that was set aside, which the present history lacks. */
interface Orphan {
  id: string;
  type: string;
  /** Unix ms. */
  at: number;
  subject: string;
  /** Name of the subject, if the event has it. */
  name: string | null;
}

/** Limit of events that are compared, far more than a primary records after it was cut off. */
const COMPARED_MAX = 10_000;

/** True for an event that is in the present history, or so old that it may have been deleted there. */
type IsKnown = (id: string) => boolean;

/**
 * Lists the events of a database that was set aside after the last one that is known, oldest first: at most 10,000.
 * Nothing else may use the file.
 */
function listUnknown(setAside: string, isKnown: IsKnown): Orphan[] {
  const sqlite = openSetAside(setAside);
  try {
    const orphans: Orphan[] = [];
    for (const event of sqlite.query<Orphan, [number]>(NEWEST).iterate(COMPARED_MAX)) {
      if (isKnown(event.id)) break;
      orphans.push(event);
    }
    return orphans.reverse();
  } finally {
    sqlite.close();
  }
}

/** Opens a database that was set aside. Throws an OperatorError for any other file. */
function openSetAside(file: string): Database {
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(file, { readonly: true, strict: true });
    if (isAllclearDatabase(sqlite)) return sqlite;
  } catch {
    // A folder, or another kind of file.
  }
  sqlite?.close();
  throw new OperatorError(`${file} is not a database of Allclear.`);
}

/** Lists the events of a database that was set aside which another database file lacks, oldest first. */
export function listOrphans(setAside: string, present: string): Orphan[] {
  const sqlite = new Database(present, { readonly: true, strict: true });
  try {
    const { first } = sqlite.query<{ first: string | null }, []>(OLDEST).get() ?? { first: null };
    const find = sqlite.query("SELECT 1 FROM events WHERE id = ?");
    return listUnknown(setAside, (id) => (first !== null && id < first) || find.get(id) !== null);
  } finally {
    sqlite.close();
  }
}

const findEvent = selectOne((orm, $: { id: string }) =>
  orm.select({ id: events.id }).from(events).where(eq(events.id, $.id)),
);

const findOldest = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ first: sql<string | null>`min(${events.id})` }).from(events),
);

/** Counts the events of a database that was set aside which the open database lacks, up to 10,000. */
export function countOrphans(setAside: string, present: Reader): number {
  const first = findOldest(present, {})?.first ?? null;
  return listUnknown(
    setAside,
    (id) => (first !== null && id < first) || findEvent(present, { id }) !== undefined,
  ).length;
}

const OLDEST = "SELECT min(id) AS first FROM events";
const NEWEST = `
  SELECT id, type, at, subject_id AS subject, data ->> 'name' AS name
  FROM events ORDER BY id DESC LIMIT ?`;

/** Returns the paths of the databases of earlier terms in a data directory. */
export function listSetAside({ database }: Pick<DataDirectory, "database">): string[] {
  const folder = dirname(database);
  const pattern = new RegExp(`^${RegExp.escape(basename(database))}\\.term-\\d+(?:-\\d+)?$`);
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Tables with what people enter. Those that grow with time take long to count. */
const TABLES = [
  "api_keys",
  "component_groups",
  "components",
  "incident_templates",
  "incident_updates",
  "incidents",
  "maintenance_schedules",
  "maintenance_updates",
  "maintenances",
  "monitors",
  "pages",
  "settings",
  "subscribers",
  "terms",
  "users",
  "webhooks",
] as const;

const SELECT = TABLES.map((table) => `'${table}', (SELECT count(*) FROM ${table})`).join(", ");

/** Number of rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

const readCounts = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ counts: sql<string>`json_object(${sql.raw(SELECT)})` }).from(sql`(SELECT 1)`),
);

/** Counts the rows of tables with what people enter, in one statement. */
export function countRows(reader: Parameters<typeof readCounts>[0]): RowCounts {
  return JSON.parse(readCounts(reader, {})?.counts ?? "{}") as RowCounts;
}

/** Returns everything that SQLite finds wrong in a database that nothing else uses, and the rows of the same tables. */
export function examineDatabase(path: string): { damage: string[]; counts: RowCounts } {
  const sqlite = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    const damage = sqlite
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check(10)")
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== "ok");
    const row = sqlite
      .query<{ counts: string }, []>(`SELECT json_object(${SELECT}) AS counts`)
      .get();
    return { damage, counts: JSON.parse(row?.counts ?? "{}") as RowCounts };
  } finally {
    sqlite.close();
  }
}
