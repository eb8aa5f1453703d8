import { Type } from "@sinclair/typebox";
import type { Database } from "bun:sqlite";
import { isObject, parseJson } from "../../base/text";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import { pragma } from "../../db/open";
import { cut, type DatabaseFile, findDatabaseFile, ForeignDatabase } from "../foreign-database";
import { decoded, listUnknown, parseModestJson } from "../kit";
import { MONITOR_COLUMNS, type MonitorColumn, TABLES } from "./tables";

/** Columns of the tables of Uptime Kuma 1.23 and 2.5. Those without a counterpart are known too. */
const KNOWN_COLUMNS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(TABLES).map(([table, columns]) => [table, new Set(Object.keys(columns))]),
);

/** Value of a column. */
export type KumaValue = string | number | null;

/** Maximum number of rows of a table that is read whole, of characters of a text, and of bytes of all texts. */
const ROWS_MAX = 100_000;

const TEXT_MAX = 1_000_000;

const TEXTS_MAX = 128 * 1024 * 1024;

/** Size of the smallest row with some values, in bytes. */
const ROW_BYTES_MIN = 8;

/** Longest time of a beat, in characters, with milliseconds and a zone. */
const TIME_MAX = 30;

/**
 * Opens the database of Uptime Kuma in a file or in its data directory for reading, in one transaction. Throws an
 * OperatorError for everything else. Nothing is written into the folder unless Uptime Kuma has the database open,
 * or its write-ahead log lies beside it: then shared memory is.
 */
export async function openKumaDatabase(given: string): Promise<KumaDatabase> {
  return new KumaDatabase(given, await findDatabaseFile(given));
}

/** Database of Uptime Kuma. */
export class KumaDatabase extends ForeignDatabase {
  /** Tables and columns that this version does not know. */
  readonly notRead: readonly string[];
  /** Instructions about missing files. */
  readonly toDo: readonly string[];
  /** Number of rows for which the database has room. A damaged one can seem to have more. */
  readonly rowsMax: number;

  /** Throws an OperatorError if it is none of Uptime Kuma, or has views or virtual tables in place of its tables. */
  constructor(path: string, file: DatabaseFile) {
    super(path, file);
    this.notRead = this.orClose(() => this.#listUnknownParts());
    this.rowsMax = this.orClose(() => sizeOf(this.sqlite) / ROW_BYTES_MIN);
    this.toDo = this.orClose(() =>
      file.access === "lone" ? [toCopyBoth(file.path, this.#newestBeat())] : [],
    );
  }

  /** Lists the tables and columns that this version does not know, by name. */
  #listUnknownParts(): string[] {
    const unknown = [...this.tables].flatMap(([table, columns]) => {
      const known = KNOWN_COLUMNS.get(table);
      if (!known) return [`table ${table}`];
      if (columns.size === 0) throw this.#isNone(`${table} is a view or a virtual table`);
      return [...columns].filter((name) => !known.has(name)).map((name) => `${table}.${name}`);
    });
    if (!this.has("monitor")) throw this.#isNone("it has no table monitor");
    return listUnknown(unknown.toSorted(), { lengthMax: 80, noun: "tables and columns" });
  }

  #isNone(fault: string): OperatorError {
    return new OperatorError(`${this.path} is no database of Uptime Kuma: ${fault}.`);
  }

  /**
   * Reads all rows of a table, by id. A table that the database lacks is empty, and a column is null. Texts are cut
   * to `textMax` characters. Binary values, and values over 16 MiB, are null. Throws an OperatorError for more than
   * 100,000 rows, or more than 128 MiB of texts.
   */
  rows<Column extends string>(
    table: string,
    columns: readonly Column[],
    textMax = TEXT_MAX,
  ): Record<Column, KumaValue>[] {
    if (!this.has(table)) return [];
    const selected = columns.map((column) => {
      const name = quoted(column);
      return `${this.has(table, column) ? cut(name, textMax) : "NULL"} AS ${name}`;
    });
    const order = this.has(table, "id") ? "ORDER BY id" : "";
    this.#requireSmall(table, columns);
    const sql = `SELECT ${selected.join(", ")} FROM ${quoted(table)} ${order} LIMIT ${ROWS_MAX + 1}`;
    const rows = this.read(() => this.sqlite.prepare<Record<Column, KumaValue>, []>(sql).all());
    if (rows.length > ROWS_MAX) {
      const most = ROWS_MAX.toLocaleString("en");
      throw new OperatorError(`${this.path} has more than ${most} rows in the table ${table}.`);
    }
    return rows;
  }

  /** Throws an OperatorError for a table whose texts need too much memory. */
  #requireSmall(table: string, columns: readonly string[]): void {
    const present = columns.filter((column) => this.has(table, column)).map(quoted);
    const sizes = present.map((name) => `min(ifnull(octet_length(${name}), 0), ${TEXT_MAX})`);
    const sql = `SELECT sum(${["0", ...sizes].join(" + ")}) AS bytes FROM ${quoted(table)}`;
    const [row] = this.prepare<{ bytes: number | null }>(sql).all();
    if ((row?.bytes ?? 0) > TEXTS_MAX) {
      throw new OperatorError(`${this.path} has more than 128 MiB in the table ${table}.`);
    }
  }

  #newestBeat(): string | undefined {
    if (!this.has("heartbeat", "id") || !this.has("heartbeat", "time")) return undefined;
    const [row] = this.prepare<{ time: KumaValue }>(
      `SELECT ${cut("time", TIME_MAX)} AS time FROM heartbeat ORDER BY id DESC LIMIT 1`,
    ).all();
    return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.exec(String(row?.time))?.[0];
  }
}

function sizeOf(sqlite: Database): number {
  return Number(pragma(sqlite, "page_count")) * Number(pragma(sqlite, "page_size"));
}

function toCopyBoth(path: string, newest: string | undefined): string {
  const last =
    newest === undefined ? "It has no heartbeats." : `Its newest heartbeat is of ${newest} UTC.`;
  return `${path} has no -wal file beside it, in which Uptime Kuma keeps the newest changes while it runs. ${last} If later ones are missing, copy both files, or stop Uptime Kuma before you copy.`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Parts of the connection string of a database. */
export interface Connection {
  scheme: string;
  host: string;
  port: number | undefined;
  user: string | undefined;
  password: string | undefined;
  /** First part of the path. */
  database: string | undefined;
  parameters: ReadonlyMap<string, string>;
}

/**
 * Reads a connection string that is a URL. Undefined for other texts, such as paths of sockets, and for several
 * hosts.
 */
export function readConnection(text: string): Connection | undefined {
  const url = URL.parse(text.trim());
  if (!url) return undefined;
  const parameters = new Map(url.searchParams);
  const host = decoded(url.hostname).replace(/^\[|\]$/g, "") || parameters.get("host") || "";
  // A path instead of a name is a socket of that machine.
  if (host === "" || /[/,]/.test(host)) return undefined;
  const port = url.port || (parameters.get("port") ?? "");
  return {
    scheme: url.protocol.slice(0, -1),
    host,
    port: /^\d+$/.test(port) ? Number(port) : undefined,
    user: decoded(url.username) || parameters.get("user") || undefined,
    password: decoded(url.password) || parameters.get("password") || undefined,
    database: decoded(url.pathname.slice(1)) || undefined,
    parameters,
  };
}

/** Row of a table, by column. */
export type Row<Column extends string = string> = Readonly<Record<Column, KumaValue>>;

/** Returns a value as text; empty for null. */
export function text(value: KumaValue | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

/** Returns a value as text without white space at its ends; undefined if nothing is left. */
export function given(value: KumaValue | undefined): string | undefined {
  return text(value).trim() || undefined;
}

/** Returns a value as a finite number; `fallback` for everything else. */
export function number(value: KumaValue | undefined, fallback: number): number {
  const found = value === null || value === undefined || value === "" ? NaN : Number(value);
  return Number.isFinite(found) ? found : fallback;
}

/** Returns a value as a flag. Tools that write into the database also write words. */
export function flag(value: KumaValue | undefined): boolean {
  return text(value).toLowerCase() === "true" || number(value, 0) !== 0;
}

/** Returns a value as a list of texts; empty if it is no JSON list. Numbers become texts. */
export function list(value: KumaValue | undefined): string[] {
  const parsed = parseJson(text(value));
  if (!Array.isArray(parsed)) return [];
  return (parsed as unknown[]).filter((entry) => entry !== null).map((entry) => textOf(entry));
}

/** Returns an object of a JSON text; undefined for any other text. */
export function object(value: KumaValue | undefined): Record<string, unknown> | undefined {
  const parsed = parseJson(text(value));
  return isObject(parsed) ? parsed : undefined;
}

/**
 * Returns a value of a JSON document as text: for lists and objects their JSON. Empty for null, and for a list so deep
 * that it cannot be written.
 */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value as string | number);
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "";
  }
}

export type MonitorRow = Row<MonitorColumn>;

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
type ReadRows = (table: string, columns: readonly string[]) => readonly Record<string, KumaValue>[];

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

/*
 * The JSON backup of 1.x, which its dashboard writes: monitors with their tags and notifications. It has no status
 * pages, Docker hosts and history.
 */

type Fields = Readonly<Record<string, unknown>>;

const Objects = Type.Array(Type.Object({ id: Type.Integer() }));

const Backup = Type.Object({
  version: Type.String(),
  notificationList: Objects,
  proxyList: Type.Optional(Objects),
  monitorList: Objects,
});

/** Columns whose fields have a name of their own. Those of others are in camel case, or the same. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  accepted_statuscodes_json: "accepted_statuscodes",
};

/** Fields of a monitor that follow from others, or tell the state of a moment. */
const DERIVED: ReadonlySet<string> = new Set([
  "childrenIDs",
  "forceInactive",
  "includeSensitiveData",
  "maintenance",
  "notificationIDList",
  "pathName",
  "screenshot",
  "tags",
]);

/** Columns by the fields of a monitor. */
const COLUMNS: ReadonlyMap<string, string> = new Map(
  Object.keys(MONITOR_COLUMNS).flatMap((column) => {
    const camel = column.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
    return [FIELD_NAMES[column] ?? column, camel].map((field) => [field, column] as const);
  }),
);

interface BackupRows {
  rows: ReadRows;
  /** Fields that this version does not know. */
  notRead: readonly string[];
}

/** Reads the text of a backup. Throws an OperatorError that begins with `path` for any other text. */
export function readBackup(path: string, written: string): BackupRows {
  const document = parseModestJson(written, path);
  const [error] = schemaErrors(Backup, document);
  if (error) {
    const field = error.pointer.slice(2);
    const fault = field === "" ? "it is no JSON object" : `its field ${field} ${error.detail}`;
    throw new OperatorError(`${path} is no backup of Uptime Kuma: ${fault}.`);
  }
  const { notificationList, proxyList = [], monitorList } = document as Record<string, Fields[]>;
  const monitors = monitorList ?? [];
  const tables = new Map<string, readonly Record<string, KumaValue>[]>([
    ["monitor", monitors.map((monitor) => monitorRow(monitor))],
    ["notification", (notificationList ?? []).map((each) => rowOf(each))],
    ["proxy", proxyList.map((each) => rowOf(each))],
    ["monitor_notification", monitors.flatMap((monitor) => notificationRows(monitor))],
    ["tag", tagRows(monitors)],
    [
      "monitor_tag",
      monitors.flatMap((monitor) =>
        entriesOf(monitor["tags"]).map((tag) => ({
          monitor_id: valueOf(monitor["id"]),
          tag_id: valueOf(tag["tag_id"]),
          value: valueOf(tag["value"]),
        })),
      ),
    ],
  ]);
  return {
    rows: (table, columns) =>
      (tables.get(table) ?? []).map((row) =>
        Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
      ),
    notRead: unknownFields(document as Fields, monitors),
  };
}

function monitorRow(monitor: Fields): Record<string, KumaValue> {
  return Object.fromEntries(
    Object.entries(monitor).flatMap(([field, value]) => {
      const column = COLUMNS.get(field);
      return column === undefined ? [] : [[column, valueOf(value)]];
    }),
  );
}

/** Returns a row of another table, whose columns are few. */
function rowOf(fields: Fields): Record<string, KumaValue> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      valueOf(value),
    ]),
  );
}

function notificationRows(monitor: Fields): Record<string, KumaValue>[] {
  const list = monitor["notificationIDList"];
  if (typeof list !== "object" || list === null) return [];
  return Object.entries(list).flatMap(([id, isOn]) =>
    isOn === true ? [{ monitor_id: valueOf(monitor["id"]), notification_id: Number(id) }] : [],
  );
}

/** Returns each tag once. Every monitor that has it names it. */
function tagRows(monitors: readonly Fields[]): Record<string, KumaValue>[] {
  const tags = monitors.flatMap((monitor) => entriesOf(monitor["tags"]));
  const names = new Map(tags.map((tag) => [valueOf(tag["tag_id"]), valueOf(tag["name"])]));
  return [...names].map(([id, name]) => ({ id, name }));
}

function entriesOf(value: unknown): Fields[] {
  return Array.isArray(value)
    ? (value as unknown[]).filter(
        (each): each is Fields => typeof each === "object" && each !== null,
      )
    : [];
}

/** Returns a value as the database has it: flags as numbers, lists and objects as JSON. */
function valueOf(value: unknown): KumaValue {
  switch (typeof value) {
    case "string":
    case "number":
      return value;
    case "boolean":
      return Number(value);
    case "object":
      return value === null ? null : textOf(value);
    default:
      return null;
  }
}

function unknownFields(document: Fields, monitors: readonly Fields[]): string[] {
  const unknown = new Set<string>();
  for (const field of Object.keys(document)) {
    if (!Object.hasOwn(Backup.properties, field)) unknown.add(field);
  }
  for (const field of monitors.flatMap((monitor) => Object.keys(monitor))) {
    if (!COLUMNS.has(field) && !DERIVED.has(field)) unknown.add(`monitorList[].${field}`);
  }
  return listUnknown([...unknown].sort());
}

/** Returns true if a text begins as a backup does. */
export function isBackup(start: string): boolean {
  return /^\uFEFF?\s*\{/.test(start);
}
