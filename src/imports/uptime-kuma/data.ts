import { parseJson } from "../../base/text";
import { type KumaValue, type MonitorRow, number, type Row, TABLES, text } from "./database";

/** Tables that are read whole, with the columns that are read. */
const READ = [
  "monitor",
  "status_page",
  "status_page_cname",
  "group",
  "monitor_group",
  "incident",
  "maintenance",
  "monitor_maintenance",
  "maintenance_status_page",
  "tag",
  "monitor_tag",
  "notification",
  "monitor_notification",
  "proxy",
  "docker_host",
  "domain_expiry",
  "setting",
] as const satisfies (keyof typeof TABLES)[];
type ReadTable = (typeof READ)[number];

/** Tables of which only the ids are read, since their rows are secrets and are not moved. */
const COUNTED = ["user", "api_key", "remote_browser"] as const;

/** Rows of an Uptime Kuma, each table in the order of its ids. */
export type KumaData = Readonly<
  Record<Exclude<ReadTable, "monitor"> | (typeof COUNTED)[number], readonly Row[]>
> & { readonly monitor: readonly MonitorRow[] };

/** Reads columns of a table; an empty list for one that does not exist, and null for missing columns. */
export type ReadRows = (
  table: string,
  columns: readonly string[],
) => readonly Record<string, KumaValue>[];

/** Reads the tables with settings. */
export function readData(rows: ReadRows): KumaData {
  const whole = READ.map((table) => [table, rows(table, Object.keys(TABLES[table]))]);
  const counted = COUNTED.map((table) => [table, rows(table, ["id"])]);
  return Object.fromEntries([...whole, ...counted]) as KumaData;
}

/** Settings by their names. Values of older versions are no JSON. */
export function settingsOf({ setting }: KumaData): ReadonlyMap<string, unknown> {
  return new Map(
    setting.map(({ key = null, value = null }) => [
      text(key),
      parseJson(text(value)) ?? text(value),
    ]),
  );
}

/** Returns rows by their ids. */
export function byId<Found extends Row>(rows: readonly Found[]): ReadonlyMap<number, Found> {
  return new Map(rows.map((row) => [idOf(row), row]));
}

/** Returns the id of a row, or that of another row in one of its columns; 0 for none. */
export function idOf(row: Row, column = "id"): number {
  return number(row[column], 0);
}

/** Returns rows by the id in one of their columns, in their order. */
export function groupedBy<Found extends Row>(
  rows: readonly Found[],
  column: string,
): ReadonlyMap<number, Found[]> {
  return Map.groupBy(rows, (row) => idOf(row, column));
}
