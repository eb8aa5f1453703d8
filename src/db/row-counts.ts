import { Database } from "bun:sqlite";
import { sql } from "drizzle-orm";
import { selectOne } from "./statements";

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
