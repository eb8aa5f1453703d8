/*
 * What importers of lists of monitors share: values of any type, targets as people write them, tables of CSV, the page of
 * a source that has none, and its maintenance windows.
 */
import { domainToASCII } from "node:url";
import { unguarded } from "../base/csv";
import { Problem } from "../base/errors";
import { sha256Hex } from "../base/hash";
import type { ImportChange } from "../base/import-report";
import { isObject, plural, toRef } from "../base/text";
import { readCsv } from "../base/read-csv";
import { OperatorError } from "../db/errors";
import { type Found, type ForeignKey, keyOf } from "./found";
import { cutName, decoded, type Notes } from "./kit";

/** An object of a JSON document. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns a value as text; empty for lists, objects and null. */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Returns a value as a finite number; undefined for everything else. */
export function numberOf(value: unknown): number | undefined {
  const text = textOf(value).trim();
  const found = Number(text);
  return text !== "" && Number.isFinite(found) ? found : undefined;
}

/** Returns the entries of a list, and none of any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects in a list. */
export function objectsOf(value: unknown): Fields[] {
  return listOf(value).filter((entry) => isObject(entry));
}

/** Returns the texts in an object that are not empty, such as headers by their names. */
export function textsIn(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) =>
      textOf(each) === "" ? [] : [[name, textOf(each)]],
    ),
  );
}

/** Returns headers with one more, unless they have it. */
export function withHeader(
  headers: Readonly<Record<string, string>>,
  name: string,
  value: string,
): Record<string, string> {
  const isSet = Object.keys(headers).some((each) => each.toLowerCase() === name.toLowerCase());
  return isSet ? { ...headers } : { ...headers, [name]: value };
}

/** Host and port of a target. */
export interface Target {
  /** Without the brackets of an IPv6 address. */
  host: string;
  port: number | undefined;
}

/** Maximum length of a target, in UTF-16 units. */
const TARGET_MAX = 4_000;

/** Reads `host`, `host:port`, an IPv6 address, or a URL of any scheme; undefined for any other text. */
export function readTarget(text: string): Target | undefined {
  if (text.length > TARGET_MAX) return undefined;
  const trimmed = text.trim();
  const isBareIpv6 = /^[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*$/i.test(trimmed);
  const [, rest = trimmed] = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/is.exec(trimmed) ?? [];
  const url = URL.parse(`tcp://${isBareIpv6 ? `[${trimmed}]` : rest}`);
  if (!url) return undefined;
  const { hostname } = url;
  // Of a scheme that is not of the web, the host is percent-encoded: `müller.example` is `m%C3%BCller.example`.
  const host = hostname.includes("%")
    ? domainToASCII(decoded(hostname))
    : hostname.replace(/^\[(.*)\]$/, "$1");
  if (host === "") return undefined;
  return { host, port: url.port === "" ? undefined : Number(url.port) };
}

/** Statuses in an assertion. */
const STATUSES_MAX = 50;

/** Returns as many expected statuses as an assertion has, and notes that there are more. */
export function fewStatuses<Status>(notes: Notes, field: string, all: readonly Status[]): Status[] {
  if (all.length > STATUSES_MAX) {
    const reason = `The first ${STATUSES_MAX} of them are kept.`;
    notes.change(field, all.length, STATUSES_MAX, reason);
  }
  return all.slice(0, STATUSES_MAX);
}

/** Times between checks, for a time within which failures do not count yet, and one that a recovery has to last. */
interface ConfirmationTimes {
  intervalSeconds: number;
  confirmSeconds: number;
  recoverSeconds: number;
}

const RETRY_SECONDS = 10;
const CHECKS_MAX = 100;

/** Returns thresholds of checks in a row, and the time between them, that take about as long as a product waits. */
export function thresholdsFor({
  intervalSeconds,
  confirmSeconds,
  recoverSeconds,
}: ConfirmationTimes) {
  const longest = Math.max(confirmSeconds, recoverSeconds);
  const needed = Math.max(RETRY_SECONDS, Math.ceil(longest / (CHECKS_MAX - 1)));
  const retry = Math.max(1, Math.min(needed, intervalSeconds));
  const checksIn = (seconds: number) => Math.min(1 + Math.ceil(seconds / retry), CHECKS_MAX);
  return {
    failure_threshold: checksIn(confirmSeconds),
    success_threshold: checksIn(recoverSeconds),
    retry_interval_seconds: retry,
  };
}

/** Bytes of a list, in MiB. */
export const LIST_MEBIBYTES_MAX = 16;
/**
 * Number of monitors. They are written in one transaction, of about 0.4 ms for each, during which the server can write
 * nothing: it refuses changes that wait for five seconds.
 */
const LINES_MAX = 5_000;
const COLUMNS_MAX = 200;

/** A line of a table. */
export interface TableRow {
  /** Number of its last line in the file. */
  line: number;
  /** True if it has more cells than the first line. */
  isTooLong: boolean;
  /** Returns the trimmed text of the first of the columns that the table has; empty without one. */
  cell(...columns: readonly string[]): string;
}

/** Reads a table of CSV. Names of columns are in lower case. Throws an OperatorError that begins with the path. */
export async function readTable(
  bytes: Uint8Array,
  path: string,
): Promise<{ columns: string[]; rows: TableRow[] }> {
  let columns: string[] | undefined;
  const rows: TableRow[] = [];
  let count = 0;
  const tooMany = () => columns !== undefined && columns.length > COLUMNS_MAX;
  try {
    await readCsv([bytes], ({ line, cells }) => {
      // Spreadsheets write lines of separators alone below a table.
      if (cells.every((cell) => cell.trim() === "")) return;
      if (!columns) {
        columns = cells.map((cell) => unguarded(cell).trim().toLowerCase());
        return;
      }
      const names = columns;
      count += 1;
      if (count > LINES_MAX || tooMany()) return;
      rows.push({
        line,
        isTooLong: cells.slice(names.length).some((cell) => cell !== ""),
        cell(...wanted) {
          const place = names.findIndex((name) => wanted.includes(name));
          return unguarded(cells[place] ?? "").trim();
        },
      });
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [field] = error.fields;
    throw new OperatorError(`${path} cannot be read: ${field?.detail ?? error.message}.`);
  }
  if (!columns) throw new OperatorError(`${path} is empty.`);
  if (tooMany()) {
    throw new OperatorError(`${path} has more than ${COLUMNS_MAX} columns, which is the most.`);
  }
  if (count > LINES_MAX) {
    throw new OperatorError(
      `${path} has more than ${LINES_MAX.toLocaleString("en")} lines, which is the most.`,
    );
  }
  return { columns, rows };
}

/** A time of every day, week or month in which a source does not check some monitors. */
interface FoundWindow {
  /** Identity within the source. Windows of the same id are one. */
  id: string;
  name: string;
  cron: string;
  minutes: number;
  timeZone: string;
  changes: readonly ImportChange[];
}

/** The private page of a source that has none, with a component for each of its monitors. */
export class OwnPage {
  readonly #found: Found;
  readonly #name: string;
  #page: ForeignKey | undefined;
  readonly #components = new Map<string, ForeignKey>();
  /** Components of the schedule of each window. */
  readonly #windows = new Map<string, ForeignKey[]>();

  constructor(found: Found, name: string) {
    this.#found = found;
    this.#name = name;
  }

  get page(): ForeignKey {
    if (this.#page !== undefined) return this.#page;
    const name = this.#name;
    const foreign = { type: "page", id: "own", name };
    const body = { slug: toRef(name) || "services", name, visibility: "private" } as const;
    this.#found.pages.push({ foreign, body, changes: [] });
    this.#page = keyOf(foreign);
    return this.#page;
  }

  /** Returns the component with an id, which is made with the first of its monitors. */
  component(id: string, name: string): ForeignKey {
    const known = this.#components.get(id);
    if (known !== undefined) return known;
    const foreign = { type: "component", id, name: cutName(name, "Unnamed component") };
    const { page } = this;
    this.#found.components.push({ foreign, body: { name: foreign.name }, changes: [], page });
    const key = keyOf(foreign);
    this.#components.set(id, key);
    return key;
  }

  /** Adds a window for a component, or the component to the window of the same id. */
  addWindow({ id, name, cron, minutes, timeZone, changes }: FoundWindow, of: ForeignKey): void {
    const known = this.#windows.get(id);
    if (known) {
      if (!known.includes(of)) known.push(of);
      return;
    }
    const components = [of];
    this.#windows.set(id, components);
    const foreign = { type: "maintenance_window", id, name: cutName(name, "Maintenance window") };
    this.#found.schedules.push({
      foreign,
      body: {
        name: foreign.name,
        body: foreign.name,
        cron,
        duration_minutes: minutes,
        time_zone: timeZone,
      },
      changes,
      page: this.page,
      components,
    });
  }
}

/** Returns an id for an object that a source does not give one. */
export function idOfText(text: string): string {
  return sha256Hex(text).slice(0, 12);
}

/**
 * Returns the id of an object by the value that a source gives as such. Of a long or unusual one it is a digest, since
 * reports show ids as they are, and without one that of `otherwise`.
 */
export function idOfValue(value: unknown, otherwise: string): string {
  const id = textOf(value);
  if (/^[\w.-]{1,100}$/.test(id)) return id;
  return idOfText(id === "" ? otherwise : id);
}

/** Bytes that an API answers to all requests of an import together, in MiB. */
const ANSWERS_MEBIBYTES_MAX = 64;

/** Throws an OperatorError if the answers of an API are larger together than is read. */
export function requireModest(bytes: number, { origin }: URL): void {
  if (bytes <= ANSWERS_MEBIBYTES_MAX * 1024 * 1024) return;
  throw new OperatorError(
    `${origin} answered more than ${ANSWERS_MEBIBYTES_MAX} MiB, which is the most.`,
  );
}

/** Throws an OperatorError for a list of more monitors than are read. */
export function requireFew(count: number, noun: string): void {
  if (count <= LINES_MAX) return;
  const most = LINES_MAX.toLocaleString("en");
  throw new OperatorError(`The source has ${plural(count, noun)}; ${most} is the most.`);
}
