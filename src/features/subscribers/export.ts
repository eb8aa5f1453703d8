import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { audit } from "../../events/audit";
import { guarded, toCsvLine } from "../../base/csv";
import { toIso } from "../../base/time";
import { listSuppressionsOf } from "../mail/suppression-store";
import { listAllPages, type PageRow } from "../pages/store";
import { choicesOf } from "./choices";
import { EXPORT_COLUMNS, SUPPRESSED_COLUMNS } from "./import-file";
import { readRefs, refsOf, type RefsOfPage } from "./refs";
import {
  listActiveAfter,
  listSubscribersOfAddress,
  listSuppressionsAfter,
  type SubscriberRow,
  type SuppressionCursor,
} from "./store";

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
  const { scope, targets, events } = choicesOf(reader, subscriber);
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
