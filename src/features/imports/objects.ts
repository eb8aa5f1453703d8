import type { ImportChange, Imported, ImportTarget } from "../../base/import-report";
import { redactText } from "../../base/secrets";
import { type FieldError, Problem } from "../../base/errors";
import { oneLine } from "../../base/text";
import { findTarget, targetOf } from "./here";
import type { ImportRun, NotedRef } from "./run";
import type { FoundObject } from "./source";

/** Object that one of the source became. */
export interface Written<Row> {
  row: Row;
  /** Differences in addition to those that the importer found. */
  changes?: readonly ImportChange[];
  /** Reason, in one sentence, for which it is switched off until something is done. */
  disabled?: string | undefined;
  /** Reason, in one sentence, for which it cannot be checked. */
  held?: string | undefined;
  /** True if it waits for the start of the import. */
  isWaiting?: boolean;
}

/** Functions that create, find and change objects of one kind. */
export interface Writer<Found, Row> {
  kind: Imported;
  /** Finds an object here; undefined if it was deleted. */
  find(id: string): Row | undefined;
  /** Returns a number that an edit here changes. */
  markOf(row: Row): number;
  /** Returns everything that decides if an object has changed in the source. */
  settingsOf(found: Found): unknown;
  /** Creates an object. Throws a Problem, before it writes, for one that is not valid here. */
  create(found: Found): Written<Row>;
  /** Changes an object that nobody edited here. Throws as `create` does. */
  update(found: Found, before: Row, noted: NotedRef): Written<Row>;
  /**
   * Adds to an unchanged object what an earlier import had not taken over. Returns what was done, or why it was not,
   * in one sentence; undefined if nothing is missing.
   */
  complete?(
    found: Found,
    row: Row,
    isEdited: boolean,
  ): { row: Row; verdict: "updated" | "kept"; reason: string } | undefined;
}

/** Objects with a name or a ref, as rows have them. */
type AnyRow = Parameters<typeof targetOf>[1];

/** Imports objects of one kind, in their order: each gets one verdict. */
export function importObjects<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  objects: readonly Found[],
): void {
  for (const found of objects) {
    const { foreign } = found;
    if (run.isReported(foreign)) {
      run.report("not_moved", foreign, { reason: "The source has it twice." });
      continue;
    }
    const noted = run.findRef(foreign);
    if (noted) importAgain(run, writer, found, noted);
    else create(run, writer, found);
  }
}

function create<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  found: Found,
): void {
  const { foreign } = found;
  const written = valueOrReason(() => writer.create(found));
  if (typeof written === "string") {
    run.report("not_moved", foreign, { reason: written });
    return;
  }
  const { row, disabled, held, isWaiting } = written;
  const changes = [...(written.changes ?? []), ...found.changes];
  const settingsHash = run.macOf(writer.settingsOf(found));
  const pausedBy = isWaiting ? run.id : null;
  noteRow(run, writer, found, row, { settingsHash, pausedBy });
  const verdict = changes.length > 0 ? "changed" : "created";
  run.report(held ? "held" : disabled ? "disabled" : verdict, foreign, {
    target: run.newTarget(targetOf(writer.kind, row)),
    changes,
    reason: held ?? disabled ?? null,
  });
}

/** Brings an object of an earlier import up to date, unless it was edited or deleted here. */
function importAgain<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  found: Found,
  noted: NotedRef,
): void {
  const { foreign } = found;
  if (noted.kind !== writer.kind) {
    const reason = `At an earlier import it became a ${noted.kind}.`;
    run.report("kept", foreign, { target: findTarget(run.tx, noted), reason });
    return;
  }
  const row = writer.find(noted.id);
  if (!row) {
    run.report("kept", foreign, { reason: "It was deleted here." });
    return;
  }
  const target = targetOf(writer.kind, row);
  const isEdited = writer.markOf(row) !== noted.mark;
  const settingsHash = run.macOf(writer.settingsOf(found));
  if (noted.settingsHash.equals(settingsHash)) {
    const completed = writer.complete?.(found, row, isEdited);
    if (completed?.verdict === "updated") noteRow(run, writer, found, completed.row, noted);
    const { verdict = "unchanged", reason = null } = completed ?? {};
    run.report(verdict, foreign, { target, reason });
  } else if (isEdited) {
    run.report("kept", foreign, { target, reason: "It was edited here." });
  } else {
    update(run, writer, found, { row, noted, settingsHash, target });
  }
}

function update<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  found: Found,
  before: { row: Row; noted: NotedRef; settingsHash: Buffer; target: ImportTarget },
): void {
  const { foreign } = found;
  const { noted, settingsHash } = before;
  const written = valueOrReason(() => writer.update(found, before.row, noted));
  if (typeof written === "string") {
    run.report("kept", foreign, { target: before.target, reason: written });
    return;
  }
  const { row, disabled, held, isWaiting } = written;
  const changes = [...(written.changes ?? []), ...found.changes];
  const pausedBy = isWaiting ? (noted.pausedBy ?? run.id) : null;
  noteRow(run, writer, found, row, { settingsHash, pausedBy });
  run.report(held ? "held" : disabled ? "disabled" : "updated", foreign, {
    target: targetOf(writer.kind, row),
    changes,
    reason: held ?? disabled ?? null,
  });
}

function noteRow<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  { foreign }: Found,
  row: Row,
  { settingsHash, pausedBy }: Pick<NotedRef, "settingsHash" | "pausedBy">,
): void {
  const { kind } = writer;
  run.note(foreign, { kind, id: row.id, mark: writer.markOf(row), settingsHash, pausedBy });
}

/** Returns the errors of an object as sentences if `work` throws them. */
export function valueOrReason<Value extends object>(work: () => Value): Value | string {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return oneLine(redactText(error.fields.map(sentenceOf).join(" ") || error.message));
  }
}

/** Returns the error of a field of an object as a sentence. */
export function sentenceOf({ pointer, detail }: FieldError): string {
  // A program or mail that is missing here is no error of a field.
  const isMissing = detail.startsWith("needs ") && /^#\/(config|url)$/.test(pointer);
  const subject = pointer === "#" || isMissing ? "It" : `Its ${pointer.slice(2)}`;
  return `${subject} ${detail}.`;
}
