import type { Reader } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { type MailAddress, parseMailAddress } from "../../base/mail-address";
import { unguarded } from "../../base/csv";
import type { PageRow } from "../pages/store";
import { type CsvRecord, invalidFile, readCsv } from "./csv-records";
import { createChoicesReader, shown } from "./refs";

/** Columns of a file with subscribers, of which only the first is required. */
export const IMPORT_COLUMNS = ["email", "components", "groups", "events"] as const;
type ImportColumn = (typeof IMPORT_COLUMNS)[number];

/** Columns that an export adds. An import reads `page` and `scope`, and ignores the others. */
export const EXPORT_COLUMNS = [
  ...IMPORT_COLUMNS,
  "page",
  "scope",
  "confirmed_at",
  "consent_source",
  "consent_text",
  "suppressed",
] as const;

/** Columns of an export of suppressed addresses. It cannot be imported. */
export const SUPPRESSED_COLUMNS = ["email", "page", "reason", "since"] as const;

/** Line that can be imported. */
export interface ImportRow {
  line: number;
  address: MailAddress;
  choices: RequestedChoices;
}

/** Line that cannot be imported, with the reason. Details repeat no address. */
export interface BadLine {
  line: number;
  detail: string;
}

export interface ImportFile {
  rows: ImportRow[];
  /** The first bad lines, at most as many as the caller wants. */
  badLines: BadLine[];
  /** Number of all bad lines. */
  badCount: number;
}

/**
 * Reads a file with subscribers of a page. The first line names the columns. Throws `validation_failed` for
 * `file` if the file as a whole cannot be read. `badLinesMax` limits the list of bad lines.
 */
export async function readImportFile(
  reader: Reader,
  page: PageRow,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { badLinesMax, allowUtf8Local }: { badLinesMax: number; allowUtf8Local: boolean },
): Promise<ImportFile> {
  const file: ImportFile = { rows: [], badLines: [], badCount: 0 };
  const toRow = createRowReader(reader, page, allowUtf8Local);
  const linesByKey = new Map<string, number>();
  let columns: Columns | undefined;

  function add(record: CsvRecord): void {
    if (!columns) {
      columns = readHeader(record);
      return;
    }
    const row = toRow(record, columns);
    const before = typeof row === "string" ? undefined : linesByKey.get(row.address.key);
    const detail =
      typeof row === "string" ? row : before && `has the same address as line ${before}`;
    if (detail === undefined && typeof row !== "string") {
      linesByKey.set(row.address.key, row.line);
      file.rows.push(row);
      return;
    }
    file.badCount += 1;
    if (file.badLines.length < badLinesMax) {
      file.badLines.push({ line: record.line, detail: String(detail) });
    }
  }

  // An error in the callback of a stream would end the process.
  let headerError: unknown;
  await readCsv(chunks, (record) => {
    if (headerError !== undefined) return;
    try {
      add(record);
    } catch (error) {
      headerError = error;
    }
  });
  if (headerError !== undefined) throw headerError;
  if (!columns) throw invalidFile("is empty");
  return file;
}

/** Columns of a file: the place of each by its name, and their number. */
interface Columns {
  places: ReadonlyMap<string, number>;
  width: number;
}

/** Reads the columns. Further ones are ignored. Throws `validation_failed`. */
function readHeader({ cells }: CsvRecord): Columns {
  const names = cells.map((cell) => unguarded(cell).trim().toLowerCase());
  const known: readonly string[] = EXPORT_COLUMNS;
  const expected = `the first line must name the columns: ${IMPORT_COLUMNS.join(",")}`;
  if (!names.includes("email")) throw invalidFile(expected);
  if (SUPPRESSED_COLUMNS.every((name) => names.includes(name))) {
    throw invalidFile("is a list of suppressed addresses, which cannot be imported");
  }
  const repeated = names.find(
    (name, index) => known.includes(name) && names.indexOf(name) !== index,
  );
  if (repeated !== undefined) throw invalidFile(`the column ${repeated} appears twice`);
  return { places: new Map(names.map((name, index) => [name, index])), width: names.length };
}

/** Returns a function that reads a line. It returns the reason why a line cannot be imported. */
function createRowReader(reader: Reader, page: PageRow, allowUtf8Local: boolean) {
  const choicesOfPage = createChoicesReader(reader, page);
  return ({ line, cells }: CsvRecord, { places, width }: Columns): ImportRow | string => {
    if (cells.slice(width).some((cell) => cell !== "")) return "has more cells than the first line";
    const cell = (name: ImportColumn | "page" | "scope") =>
      unguarded(cells[places.get(name) ?? -1] ?? "").trim();
    const address = parseMailAddress(cell("email"), { allowUtf8Local });
    if ("error" in address) return `email ${address.error}`;
    const slug = cell("page");
    if (slug !== "" && !choicesOfPage.isPage(slug)) return `belongs to the page ${shown(slug)}`;
    const choices = choicesOfPage.read({
      components: listIn(cell("components")),
      groups: listIn(cell("groups")),
      events: listIn(cell("events")),
    });
    if (typeof choices === "string") return choices;
    // Such a selection gets no mail, and not all of them.
    const isSelection = cell("components") + cell("groups") !== "" || cell("scope") === "selection";
    if (isSelection && choices.scope === "page") return "components and groups name nothing";
    return { line, address, choices };
  };
}

/** Returns the parts of a cell that are separated by semicolons. */
function listIn(cell: string): string[] {
  return cell.split(";").flatMap((part) => part.trim() || []);
}
