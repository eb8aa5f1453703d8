import type { Ctx } from "../../context";
import type { Db } from "../../db/database";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import type { ConsentSource } from "../../base/mail-address";
import { conflict } from "../../base/errors";
import { createRunningAudit } from "../../events/audit";
import { MINUTE_MS } from "../../base/time";
import { addressHmac, ensureMailKey } from "../mail/tokens";
import { describeMissing } from "../mail/test-mail";
import { listSuppressionsOf } from "../mail/suppression-store";
import { mailReadiness } from "../mail/settings";
import { getPage } from "../pages/pages";
import type { PageRow } from "../pages/store";
import { takesSubscribers } from "../pages/mail";
import { existingChoices, readChoosable } from "./choices";
import { addConsentedSubscriber } from "./consent";
import type { ImportFile, ImportRow } from "./import-file";
import { inviteSubscriber } from "./team";

/** Limit of one transaction, so that other work and other processes get their turn. */
const ROWS_PER_CHUNK = 100;

/** Mails a minute if the relay's settings have no limit. */
const UNLIMITED_RATE = 3_000;
/** Share of the relay's rate that confirmations of an import use, so that other mail is not behind them. */
const SHARE_OF_RATE = 0.5;

/** Result of each line, without those that are bad. */
export const IMPORT_RESULTS = ["added", "invited", "subscribed", "suppressed", "limited"] as const;
export type ImportResult = (typeof IMPORT_RESULTS)[number];
export type ImportCounts = Record<ImportResult, number>;

export interface Import {
  page: PageRow;
  file: Pick<ImportFile, "rows" | "badCount">;
  /** Words of a consent that exists; null to ask each person for a confirmation. */
  consent: string | null;
  source: Exclude<ConsentSource, "form">;
  /** True to change nothing. */
  isDryRun: boolean;
}

export interface ImportSteps {
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
