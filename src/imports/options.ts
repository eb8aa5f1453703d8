import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { extname, isAbsolute, join, resolve } from "node:path";
import { type FieldError, unavailable } from "../base/errors";
import { encodeBase62 } from "../base/hash";
import { RefText } from "../base/ids";
import {
  type ImportChange,
  type ImportReport,
  type Verdict,
  VERDICTS,
} from "../base/import-report";
import type { ImportSource } from "./sources";
import { oneLine, parseJson, spaced, withoutUnsafeCharacters } from "../base/text";
import { DESCRIPTION_MAX, NAME_MAX } from "../base/texts";
import { schemaErrors } from "../base/validation";
import type { Ctx } from "../context";
import { OperatorError } from "../db/errors";
import { findNumber, keepNumber, listNumbers } from "../features/compat/store";
import { IMPORT_PARTS, type ImportOptions, type ImportRun } from "./run";

/** Options of every import as people type them; undefined for the default. */
interface TypedOptions {
  source: string | undefined;
  only: string | undefined;
  /** Slug, or `none`. */
  internal_page: string | undefined;
  /** Number, `all` or `none`. */
  history_days?: string | undefined;
  isPaused: boolean;
  isDryRun: boolean;
  takesDomains: boolean;
}

/** Returns the options of an import, and their errors by the names of the fields. */
export function parseOptions(typed: TypedOptions): {
  options: ImportOptions;
  errors: FieldError[];
} {
  const { source = "default", only, internal_page: page = "internal", isPaused } = typed;
  const { history_days: days = "all", isDryRun, takesDomains } = typed;
  const [fault] = schemaErrors(RefText, source);
  const part = IMPORT_PARTS.find((each) => each === only);
  const errors = fault ? [{ pointer: "#/source", detail: fault.detail }] : [];
  if (only !== undefined && !part) {
    errors.push({ pointer: "#/only", detail: `is one of ${IMPORT_PARTS.join(", ")}` });
  }
  const historyDays = daysOf(days);
  if (historyDays === undefined) {
    errors.push({ pointer: "#/history_days", detail: "is a number from 1 to 36500, all or none" });
  }
  const internalPage = page === "none" ? null : page;
  const switches = { isPaused, isDryRun, takesDomains };
  const options = { ...switches, source, only: part, internalPage };
  return { options: { ...options, historyDays: historyDays ?? null }, errors };
}

/** Returns the number of days of history; null for all, and undefined for another text. */
function daysOf(text: string): number | null | undefined {
  if (text === "all") return null;
  if (text === "none") return 0;
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return days >= 1 && days <= 36_500 ? days : undefined;
}

/** Returns the first code points of a text, without NUL characters and halves of surrogate pairs. */
export function cutText(text: string, max: number): string {
  if (text.length <= max && text.isWellFormed() && !text.includes("\0")) return text;
  // Two units for each code point, and room for NUL characters: the rest of a huge text is not read.
  const start = text
    .slice(0, 4 * max)
    .toWellFormed()
    .replaceAll("\0", "");
  return [...start].slice(0, max).join("");
}

/** Returns a text as a name on one line within its limits; `fallback` if nothing is left. */
export function cutName(text: string, fallback: string, max = NAME_MAX): string {
  const start = text.slice(0, 4 * max).toWellFormed();
  const name = [...withoutUnsafeCharacters(start)].slice(0, max).join("");
  return name.trim() === "" ? fallback : name;
}

/** Returns the difference between two texts, if there is one, with at most 300 characters of each. */
export function textChange(
  field: string,
  from: string,
  to: string,
  reason: string,
): ImportChange[] {
  return from === to
    ? []
    : [{ field, from: oneLine(from.slice(0, 2_000)), to: oneLine(to), reason }];
}

/** A value within its limits, with the differences to what was found. */
interface Fitted<Value> {
  value: Value;
  changes: ImportChange[];
}

/** Returns a name within its limits; one that is made from the type of the object if it has none. */
export function fitName(name: string, type: string): Fitted<string> {
  const value = cutName(name, `Unnamed ${type}`);
  const reason =
    name.trim() === ""
      ? "It has no name."
      : `Names have at most ${NAME_MAX} characters, and no control characters.`;
  return { value, changes: textChange("name", name, value, reason) };
}

/** Returns a text on any number of lines within its limit. */
export function fitText(field: string, text: string, max: number): Fitted<string> {
  const value = cutText(text, max);
  const reason = `At most ${max.toLocaleString("en")} characters of it are kept.`;
  return { value, changes: textChange(field, text, value, reason) };
}

/** Returns a description within its limit. */
export function fitDescription(text: string | null | undefined): Fitted<string | null> {
  const { value, changes } = fitText("description", text ?? "", DESCRIPTION_MAX);
  return { value: value === "" ? null : value, changes };
}

/** Returns the numbers of verdicts as a phrase, such as "3 created, 1 not moved". */
export function verdictsInWords(counts: ImportReport["counts"]): string {
  const parts = VERDICTS.flatMap((verdict) => {
    const count = counts[verdict];
    return count === undefined ? [] : [`${count.toLocaleString("en")} ${spaced(verdict)}`];
  });
  return parts.join(", ") || "no objects";
}

/** Reason for which a second import does not start. */
export const IMPORT_RUNS = "Another import is running. Wait until it has ended.";

/** Verdicts of objects that an import does not change. */
const IDLE: ReadonlySet<string> = new Set(["unchanged", "kept", "not_moved"] satisfies Verdict[]);

/** Returns true if an import changes something. */
export function hasWork({ counts, history }: Pick<ImportReport, "counts" | "history">): boolean {
  return history !== null || Object.keys(counts).some((verdict) => !IDLE.has(verdict));
}

/** Ranges of numbers, of which an object has one. */
type Range = Parameters<typeof findNumber>[1]["range"];

/** Gives a new object the number that it has in Uptime Kuma. Returns the difference if it cannot have that. */
export function takeNumber(
  { tx, isFirstOfKind }: ImportRun,
  range: Range,
  id: string,
  number: number | null,
): ImportChange[] {
  if (number === null) return [];
  const problem = problemOf();
  if (problem === undefined) {
    keepNumber(tx, { id, number });
    return [];
  }
  const [own] = listNumbers(tx, { ids: JSON.stringify([id]) });
  return [{ field: "number", from: number, to: own?.number ?? null, reason: problem }];

  function problemOf(): string | undefined {
    if (!isFirstOfKind) return "Only the first source keeps its numbers.";
    if (!Number.isSafeInteger(number) || Number(number) < 1) return "It is no valid number.";
    return findNumber(tx, { range, number: Number(number) })
      ? "Another object has the number already."
      : undefined;
  }
}

/** Maximum size of a file, in MiB. */
const MEBIBYTES_MAX = 64;

/** Reads a file or a pipe, up to 64 MiB. Throws an OperatorError. */
export async function readText(path: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of Bun.file(path).stream()) {
      length += piece.byteLength;
      if (length > MEBIBYTES_MAX * 1024 * 1024) {
        throw new OperatorError(`${path} is larger than ${MEBIBYTES_MAX} MiB.`);
      }
      pieces.push(piece);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof OperatorError) throw error;
    if (code === "ENOENT") throw new OperatorError(`There is no file ${path}.`);
    if (code === "EISDIR") throw new OperatorError(`${path} is a directory; import needs a file.`);
    throw new OperatorError(`${path} cannot be read: ${message}`);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}

/** Deepest nesting of JSON that is read, and maximum number of its values. Those of real sources are at most 6 deep. */
const DEPTH_MAX = 100;
const VALUES_MAX = 2_000_000;

/**
 * Returns the value of a JSON text; undefined for any other text. Throws an OperatorError that begins with `name` for a
 * text with too many levels or values, before anything is built.
 */
export function parseModestJson(text: string, name: string): unknown {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        at = endOfText(text, at);
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        values += 1;
        break;
      case 0x2c: // ,
        values += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
    }
    if (depth > DEPTH_MAX) {
      throw new OperatorError(`${name} is nested deeper than ${DEPTH_MAX} levels.`);
    }
    if (values > VALUES_MAX) {
      const most = VALUES_MAX.toLocaleString("en");
      throw new OperatorError(`${name} has more than ${most} values.`);
    }
  }
  return parseJson(text);
}

/** Returns the index of the quote that ends a text of JSON; the last index without one. */
function endOfText(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

/** Returns true for a character behind an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}

/** Folders of the data directory: for files that operators put there, and for those of forms. */
const OFFERED = "import";
const UPLOADS = "import-uploads";

/** Maximum number of offered names, and of entries of an offered folder that are looked at. */
const NAMES_MAX = 200;
const ENTRIES_MAX = 10_000;

/** Error of a file that cannot be stored. */
const NOT_STORED =
  "The file cannot be stored in the data directory. Free space on its disk, and try again.";
const RETRY_SECONDS = 60;

/** File, or folder, that can be imported by its name. */
export interface OfferedFile {
  name: string;
  isFolder: boolean;
  bytes: number;
}

/** Files of imports in the data directory. */
export interface ImportFiles {
  /** Folder of the offered files. */
  readonly folder: string;
  /** Lists what a source may be read from, by name. Symbolic links and hidden files are not offered. */
  list(source: Pick<ImportSource, "takes">): Promise<OfferedFile[]>;
  /** Returns the path of an offered file; undefined for every other name. */
  find(source: Pick<ImportSource, "takes">, name: string): Promise<string | undefined>;
  /** Stores a file that only this user can read, and returns its path. Throws `unavailable`. */
  store(bytes: Uint8Array, name: string): Promise<string>;
  /** Removes a stored file. Logs failures of the system. */
  remove(path: string): Promise<void>;
  /** Removes all stored files. */
  sweep(): Promise<void>;
}

export function createImportFiles(
  { config, log, random }: Ctx,
  directoryOf = () => resolve(config.dataDir),
): ImportFiles {
  const uploads = () => join(directoryOf(), UPLOADS);
  const offered = () => join(directoryOf(), OFFERED);

  /** Lists nothing if the folder cannot be read, so that a form can be opened without it. */
  async function list(source: Pick<ImportSource, "takes">): Promise<OfferedFile[]> {
    try {
      return await listFolder(source);
    } catch (error) {
      log.warn({ err: error }, "the folder of files to import cannot be read");
      return [];
    }
  }

  async function listFolder({ takes }: Pick<ImportSource, "takes">): Promise<OfferedFile[]> {
    const folder = offered();
    // A link could lead out of the data directory.
    if (!(await isFolder(folder))) return [];
    const entries = await readdir(folder, { withFileTypes: true });
    const shown = entries.filter(
      (entry) =>
        !/^\.|-(wal|shm|journal)$/.test(entry.name) &&
        (entry.isFile() || (entry.isDirectory() && takes.includes("folder"))),
    );
    shown.sort((a, b) => (a.name < b.name ? -1 : 1));
    return Promise.all(
      shown.slice(0, NAMES_MAX).map(async (entry) => ({
        name: entry.name,
        isFolder: entry.isDirectory(),
        bytes: (await lstat(join(folder, entry.name))).size,
      })),
    );
  }

  async function withoutFailing(removal: Promise<void>): Promise<void> {
    try {
      await removal;
    } catch (error) {
      log.warn({ err: error }, "files of imports were not removed; the next start removes them");
    }
  }

  return {
    get folder() {
      return offered();
    },
    list,

    async find(source, name) {
      const file = (await list(source)).find((each) => each.name === name);
      if (!file) return undefined;
      const path = join(offered(), name);
      return file.isFolder && (await hasLinks(path)) ? undefined : path;
    },

    async store(bytes, name) {
      const extension = /^\.[a-z0-9]{1,8}$/i.test(extname(name)) ? extname(name) : "";
      const path = join(uploads(), `${encodeBase62(random(16), 22)}${extension}`);
      try {
        await mkdir(uploads(), { recursive: true, mode: 0o700 });
        await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
        return path;
      } catch (error) {
        await rm(path, { force: true }).catch(() => {});
        throw unavailable(NOT_STORED, RETRY_SECONDS, error);
      }
    },

    async remove(path) {
      await withoutFailing(rm(path, { force: true }));
    },

    async sweep() {
      await withoutFailing(rm(uploads(), { recursive: true, force: true }));
    },
  };
}

/** Returns a text with the name of the file as people know it. A stored file has a random one. */
export function withPlaceName(text: string, place: string, name: string): string {
  if (!isAbsolute(place)) return text;
  return text.replaceAll(join(place, "/"), `${name}/`).replaceAll(place, `“${name}”`);
}

async function isFolder(path: string): Promise<boolean> {
  const [result] = await Promise.allSettled([lstat(path)]);
  return result.status === "fulfilled" && result.value.isDirectory();
}

/** Returns true if a folder has symbolic links, which could lead out of it, or too many entries to know. */
async function hasLinks(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.length > ENTRIES_MAX || entries.some((entry) => entry.isSymbolicLink());
}
