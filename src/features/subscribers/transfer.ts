import type { Actor } from "../../base/actor";
import { guarded, toCsvLine, unguarded } from "../../base/csv";
import { conflict } from "../../base/errors";
import { type CsvRecord, invalidFile, readCsv } from "../../base/read-csv";
import { type ConsentSource, type MailAddress, parseMailAddress } from "../../base/mail-address";
import { MINUTE_MS, toIso } from "../../base/time";
import type { Ctx } from "../../context";
import type { Db } from "../../db/database";
import type { Reader, Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { audit, createRunningAudit } from "../../events/audit";
import { describeMissing, mailReadiness } from "../mail/settings";
import { listSuppressionsOf } from "../mail/suppression-store";
import { addressHmac, ensureMailKey } from "../mail/tokens";
import { takesSubscribers } from "../pages/mail";
import { getPage } from "../pages/pages";
import { languageTagsOf } from "../pages/rules";
import { listAllPages, type PageRow } from "../pages/store";
import { inviteSubscriber } from "./sign-up";
import { addConsentedSubscriber } from "./subscribers";
import {
  listActiveAfter,
  listSubscribersOfAddress,
  listSuppressionsAfter,
  type SubscriberRow,
  type SuppressionCursor,
} from "./store";
import {
  choicesOf,
  createChoicesReader,
  existingChoices,
  readChoosable,
  readRefs,
  refsOf,
  type RefsOfPage,
  shown,
} from "./choices";

/** Limit of one transaction, so that other work and other processes get their turn. */
const ROWS_PER_CHUNK = 100;

/** Mails a minute if the relay's settings have no limit. */
const UNLIMITED_RATE = 3_000;
/** Share of the relay's rate that confirmations of an import use, so that other mail is not behind them. */
const SHARE_OF_RATE = 0.5;

/** Result of each line, without those that are bad. */
export const IMPORT_RESULTS = ["added", "invited", "subscribed", "suppressed", "limited"] as const;
type ImportResult = (typeof IMPORT_RESULTS)[number];
export type ImportCounts = Record<ImportResult, number>;

interface Import {
  page: PageRow;
  file: Pick<ImportFile, "rows" | "badCount">;
  /** Words of a consent that exists; null to ask each person for a confirmation. */
  consent: string | null;
  source: Exclude<ConsentSource, "form">;
  /** True to change nothing. */
  isDryRun: boolean;
}

interface ImportSteps {
  /** Milliseconds of a chunk. Its commit takes about twice as long again. */
  chunkMs: number;
  /** Writes a chunk. May refuse the change, such as after the session of its user has ended. */
  write: Db["write"];
  /** Runs after each chunk. */
  between(): Promise<void>;
}

/** Carries the results of a chunk of a dry run, which is rolled back. */
class DryRun extends Error {
  readonly results: ImportResult[];

  constructor(results: ImportResult[]) {
    super("a dry run is rolled back");
    this.results = results;
  }
}

/**
 * Throws `conflict` if a page takes no subscribers from the team: the sample page, and for a confirmation
 * every page whose confirmations are not sent.
 */
export function requireImportable(ctx: Ctx, page: PageRow, isConfirmed: boolean): void {
  if (page.isSample) throw conflict("The sample page has no subscribers.");
  if (!isConfirmed) return;
  if (!takesSubscribers(page)) {
    const reason = page.visibility === "public" ? "takes no subscriptions" : "is private";
    throw conflict(`The page ${reason}, so a confirmation would have no effect.`);
  }
  const readiness = mailReadiness(ctx);
  if (readiness.ready) return;
  throw conflict(`Mail cannot be sent: it needs ${describeMissing(readiness.missing)}.`);
}

/**
 * Imports the lines of a file into a page, a chunk after another. One audit entry says how far it has come. Stopped
 * in the middle, it can be run again. Throws `conflict`.
 */
export async function importSubscribers(
  ctx: Ctx,
  { page, file, consent, source, isDryRun }: Import,
  { chunkMs, write, between }: ImportSteps,
  actor: Actor,
): Promise<ImportCounts> {
  requireImportable(ctx, page, consent === null);
  let counts: ImportCounts = { added: 0, invited: 0, subscribed: 0, suppressed: 0, limited: 0 };
  const spacingMs = spacingOf(ctx);
  const record = createRunningAudit(ctx, actor, "subscriber.import", page.id);
  let done = 0;
  while (done < file.rows.length) {
    const results = await runChunk(write, isDryRun, (tx) => {
      const ofChunk = importChunk(ctx, tx, file.rows, done, {
        pageId: page.id,
        consent,
        source,
        chunkMs,
        // Read before each chunk, since chunks may wait for each other.
        dueAt: (invited) => ctx.clock.now() + Math.floor((counts.invited + invited) * spacingMs),
      });
      record(tx, summaryOf(page.name, withResults(counts, ofChunk), file, done + ofChunk.length));
      return ofChunk;
    });
    counts = withResults(counts, results);
    done += results.length;
    await between();
  }
  return counts;
}

function withResults(counts: ImportCounts, results: readonly ImportResult[]): ImportCounts {
  const sums = { ...counts };
  for (const result of results) sums[result] += 1;
  return sums;
}

async function runChunk(
  write: Db["write"],
  isDryRun: boolean,
  change: (tx: Tx) => ImportResult[],
): Promise<ImportResult[]> {
  if (!isDryRun) return write(change);
  try {
    return await write((tx) => {
      throw new DryRun(change(tx));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.results;
    throw error;
  }
}

/** Imports lines from the one at `first` until the chunk is full. Returns the result of each. */
function importChunk(
  ctx: Ctx,
  tx: Tx,
  rows: readonly ImportRow[],
  first: number,
  {
    pageId,
    consent,
    source,
    chunkMs,
    dueAt,
  }: Pick<Import, "consent" | "source"> & {
    pageId: string;
    chunkMs: number;
    /** Time at which the next confirmation is due, after so many of this chunk. */
    dueAt(invited: number): number;
  },
): ImportResult[] {
  // The page and its components may have changed since the last chunk.
  getPage(tx, pageId);
  const choosable = readChoosable(tx, pageId);
  const key = ensureMailKey(ctx, tx);
  const startedAt = ctx.clock.monotonic();
  const results: ImportResult[] = [];
  let invited = 0;
  for (const { address, choices: typed } of rows.slice(first, first + ROWS_PER_CHUNK)) {
    const choices = typed.scope === "page" ? typed : existingChoices(typed, choosable);
    const subject = { pageId, address, choices, source };
    if (choices.scope === "selection" && choices.targets.length === 0) {
      throw conflict("Components were deleted during the import. Check the file again.");
    }
    if (consent !== null) {
      results.push(addConsentedSubscriber(ctx, tx, { ...subject, consent }, null).result);
    } else if (isStopped(tx, addressHmac(key, address.key), pageId)) {
      results.push("suppressed");
    } else {
      const { result } = inviteSubscriber(ctx, tx, { ...subject, dueAt: dueAt(invited) }, null);
      if (result === "invited") invited += 1;
      results.push(result);
    }
    if (ctx.clock.monotonic() - startedAt >= chunkMs) break;
  }
  return results;
}

/** True for an address to which not even a confirmation goes. People who unsubscribed may be asked again. */
function isStopped(reader: Reader, hmac: string, pageId: string): boolean {
  return listSuppressionsOf(reader, { addressHmac: hmac, pageId }).some(
    ({ reason }) => reason !== "erased" && reason !== "unsubscribed",
  );
}

/** Returns the milliseconds between two confirmations. */
function spacingOf(ctx: Ctx): number {
  const readiness = mailReadiness(ctx);
  const rate = (readiness.ready && readiness.settings.ratePerMinute) || UNLIMITED_RATE;
  return MINUTE_MS / (rate * SHARE_OF_RATE);
}

function summaryOf(
  name: string,
  counts: ImportCounts,
  { rows, badCount }: Import["file"],
  done: number,
): string {
  const parts = [
    ...IMPORT_RESULTS.map((result) => ({ text: RESULT_WORDS[result], count: counts[result] })),
    { text: "not valid", count: badCount },
    { text: "not reached", count: rows.length - done },
  ].filter(({ count }) => count > 0);
  const words = parts.map(({ text, count }) => `${count.toLocaleString("en")} ${text}`);
  return `Imported subscribers of ${name}: ${words.join(", ")}`;
}

/** Results in words, after a number. */
export const RESULT_WORDS: Readonly<Record<ImportResult, string>> = {
  added: "added",
  invited: "asked to confirm",
  subscribed: "subscribed already",
  suppressed: "skipped as suppressed",
  limited: "skipped as asked too often",
};

/** Columns of a file with subscribers, of which only the first is required. */
export const IMPORT_COLUMNS = ["email", "components", "groups", "events", "language"] as const;
type ImportColumn = (typeof IMPORT_COLUMNS)[number];

/** Columns of an export. An import also reads `page` and `scope`, and ignores the others. */
const EXPORT_COLUMNS = [
  "email",
  "components",
  "groups",
  "events",
  "page",
  "scope",
  "confirmed_at",
  "consent_source",
  "consent_text",
  "suppressed",
  "language",
] as const;

/** Columns of an export of suppressed addresses. It cannot be imported. */
const SUPPRESSED_COLUMNS = ["email", "page", "reason", "since"] as const;

/** Line that can be imported. */
interface ImportRow {
  line: number;
  address: MailAddress;
  choices: RequestedChoices;
}

/** Line that cannot be imported, with the reason. Details repeat no address. */
export interface BadLine {
  line: number;
  detail: string;
}

interface ImportFile {
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
      language: cell("language"),
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

/** Rows that are read at a time, which takes a few milliseconds. */
const ROWS_PER_BATCH = 200;

interface ExportSelection {
  /** Undefined for all pages. */
  page: PageRow | undefined;
  /** True for the suppressed addresses instead of the subscribers. */
  isSuppressed: boolean;
}

/** Returns the pages that can have subscribers. */
export function listSubscribedPages(reader: Reader): PageRow[] {
  return listAllPages(reader, {}).filter(({ isSample }) => !isSample);
}

/** Records an export. Called before its first line is sent. */
export function recordExport(
  ctx: Ctx,
  tx: Tx,
  { page, isSuppressed }: ExportSelection,
  actor: Actor,
): void {
  const what = isSuppressed ? "suppressed addresses" : "subscribers";
  const where = page ? `of ${page.name}` : "of all pages";
  audit(
    ctx,
    tx,
    actor,
    "subscriber.export",
    page?.id ?? "subscribers",
    `Exported ${what} ${where}`,
  );
}

/** Returns an export as CSV (RFC 4180), in pieces of a few hundred lines or of none. */
export function* exportSubscribers(
  reader: Reader,
  { page, isSuppressed }: ExportSelection,
): Generator<string> {
  const pages = page ? [page] : listSubscribedPages(reader);
  yield line(isSuppressed ? SUPPRESSED_COLUMNS : EXPORT_COLUMNS);
  if (isSuppressed) yield* suppressedLines(reader, pages);
  else for (const one of pages) yield* subscriberLines(reader, one);
}

function* subscriberLines(reader: Reader, page: PageRow): Generator<string> {
  const { id: pageId } = page;
  const refs = readRefs(reader, pageId);
  let after = -1;
  for (;;) {
    const rows = listActiveAfter(reader, { pageId, after, limit: ROWS_PER_BATCH });
    if (rows.length > 0) {
      yield rows.map((row) => subscriberLine(reader, row, page, refs)).join("");
    }
    if (rows.length < ROWS_PER_BATCH) return;
    after = rows.at(-1)?.seq ?? after;
  }
}

function subscriberLine(
  reader: Reader,
  subscriber: SubscriberRow,
  page: PageRow,
  refs: RefsOfPage,
): string {
  const { scope, targets, events, language } = choicesOf(reader, subscriber);
  const { components, groups } = refsOf(targets, refs);
  const { address, addressHmac, confirmedAt, consentSource, consentText } = subscriber;
  const suppressions = listSuppressionsOf(reader, { addressHmac, pageId: page.id }).filter(
    ({ reason }) => reason !== "erased",
  );
  return line([
    address ?? "",
    components.join(";"),
    groups.join(";"),
    events.join(";"),
    page.slug,
    scope,
    toIso(confirmedAt),
    consentSource,
    consentText ?? "",
    suppressions.map(({ reason }) => reason).join(";"),
    // One that the page no longer lists could not be imported.
    languageTagsOf(page).find((tag) => tag === language) ?? "",
  ]);
}

/** Returns lines for the suppressions of pages whose addresses are still known. */
function* suppressedLines(reader: Reader, pages: readonly PageRow[]): Generator<string> {
  const slugs = new Map(pages.map(({ id, slug }) => [id, slug]));
  let after: SuppressionCursor = { addressHmac: "", pageId: "", reason: "blocked" };
  for (;;) {
    const rows = listSuppressionsAfter(reader, { ...after, limit: ROWS_PER_BATCH });
    const lines = rows.flatMap(({ addressHmac, pageId, reason, at }) => {
      if (reason === "erased") return [];
      const known = listSubscribersOfAddress(reader, { addressHmac }).filter(
        (row) => row.address !== null && slugs.has(row.pageId) && ["", row.pageId].includes(pageId),
      );
      // One line for each page, since a suppression counts for all of them.
      return known.map((row) =>
        line([row.address ?? "", slugs.get(row.pageId) ?? "", reason, toIso(at)]),
      );
    });
    // Also without a line, so that the caller lets other work run.
    yield lines.join("");
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_PER_BATCH) return;
    after = last;
  }
}

function line(cells: readonly string[]): string {
  return toCsvLine(cells.map(guarded));
}
