import type { Reader } from "../../db/statements";
import {
  type AuditCursor,
  type AuditQuery,
  type AuditRow,
  searchAudit,
} from "../../events/audit-search";
import { toCsv, toCsvLine } from "../../base/csv";
import { toIso } from "../../base/time";

/** Number of entries read at a time, which limits memory. */
const ROWS_PER_BATCH = 500;

const CSV_COLUMNS = [
  "at",
  "actor_kind",
  "actor_id",
  "actor",
  "action",
  "target",
  "summary",
  "address",
] as const;

/**
 * Streams audit log entries as text/csv (RFC 4180), newest first. Cells that a spreadsheet would
 * run as a formula are prefixed with an apostrophe.
 */
export function auditCsv(
  reader: Reader,
  query: Omit<AuditQuery, "before" | "limit">,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let before: AuditCursor | undefined;
  let header = toCsv(CSV_COLUMNS, []);
  return new ReadableStream({
    pull(controller) {
      const rows = searchAudit(reader, { ...query, before, limit: ROWS_PER_BATCH });
      before = rows.at(-1);
      const text = header + rows.map((row) => toCsvLine(cellsOf(row))).join("");
      header = "";
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (rows.length < ROWS_PER_BATCH) controller.close();
    },
  });
}

function cellsOf(row: AuditRow) {
  const { at, actorKind, actorId, actorLabel, action, targetId, summary, ip } = row;
  return [toIso(at), actorKind, actorId, actorLabel, action, targetId, summary, ip];
}
