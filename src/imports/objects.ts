import { type FieldError, Problem } from "../base/errors";
import { numberedRef } from "../base/ids";
import type { Imported, ImportTarget, Verdict } from "../base/import-report";
import { redactText } from "../base/redaction";
import { oneLine, toRef } from "../base/text";
import { DESCRIPTION_MAX, NAME_MAX } from "../base/texts";
import type { Reader } from "../db/statements";
import { findNumber, keepNumber, listNumbers } from "../features/compat/store";
import { findComponent, findGroup } from "../features/components/store";
import { findIncident } from "../features/incidents/store";
import { findSchedule } from "../features/maintenance/schedules/store";
import { findMaintenance } from "../features/maintenance/store";
import { findMonitor } from "../features/monitors/store";
import { findPage } from "../features/pages/store";
import { findWebhook } from "../features/webhooks/store";
import type { ForeignKey, FoundObject } from "./found";
import { cutName, cutText, Notes } from "./kit";
import type { ImportRun, NotedRef } from "./run";

/** Object that one of the source became. */
export interface Written<Row> {
  row: Row;
  /** Reason, in one sentence, for which it is switched off until something is done. */
  disabled?: string | undefined;
  /** Reason, in one sentence, for which it cannot be checked. */
  held?: string | undefined;
  /** True if it waits for the start of the import. */
  isWaiting?: boolean;
}

/** Functions that create, find and change objects of one kind. Those that write note what is different here. */
export interface Writer<Found, Row> {
  kind: Imported;
  /** Finds an object here; undefined if it was deleted. */
  find(id: string): Row | undefined;
  /** Returns a number that an edit here changes. */
  markOf(row: Row): number;
  /** Returns everything that decides if an object has changed in the source. */
  settingsOf(found: Found): unknown;
  /** Creates an object. Throws a Problem, before it writes, for one that is not valid here. */
  create(found: Found, notes: Notes): Written<Row>;
  /** Changes an object that has not been edited here. Throws as `create` does. */
  update(found: Found, notes: Notes, before: Row, noted: NotedRef): Written<Row>;
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

/** Imports objects of one kind, in their order: each gets one verdict. */
export function importObjects<Found extends FoundObject<unknown>, Row extends Here>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  objects: readonly Found[],
): void {
  for (const found of objects) {
    const { foreign } = found;
    const noted = run.findRef(foreign);
    if (run.isReported(foreign)) {
      run.report("not_moved", foreign, { reason: "The source has it twice." });
    } else if (noted) importAgain(run, writer, found, noted);
    else create(run, writer, found);
  }
}

function create<Found extends FoundObject<unknown>, Row extends Here>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  found: Found,
): void {
  const { foreign } = found;
  const notes = new Notes();
  const written = valueOrReason(() => writer.create(found, notes));
  if (typeof written === "string") {
    run.report("not_moved", foreign, { reason: written });
    return;
  }
  const { row, isWaiting } = written;
  const settingsHash = run.macOf(writer.settingsOf(found));
  noteRow(run, writer, found, row, { settingsHash, pausedBy: isWaiting ? run.id : null });
  const changes = [...notes.changes, ...found.changes];
  const target = run.newTarget(targetOf(writer.kind, row));
  const { verdict, reason } = outcomeOf(written, changes.length > 0 ? "changed" : "created");
  run.report(verdict, foreign, { target, changes, reason });
}

/** Brings an object of an earlier import up to date, unless it was edited or deleted here. */
function importAgain<Found extends FoundObject<unknown>, Row extends Here>(
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
  const before = writer.find(noted.id);
  if (!before) {
    run.report("kept", foreign, { reason: "It was deleted here." });
    return;
  }
  const target = targetOf(writer.kind, before);
  const isEdited = writer.markOf(before) !== noted.mark;
  const settingsHash = run.macOf(writer.settingsOf(found));
  if (noted.settingsHash.equals(settingsHash)) {
    const completed = writer.complete?.(found, before, isEdited);
    if (completed?.verdict === "updated") noteRow(run, writer, found, completed.row, noted);
    const { verdict = "unchanged", reason = null } = completed ?? {};
    run.report(verdict, foreign, { target, reason });
    return;
  }
  const notes = new Notes();
  const written = isEdited
    ? "It was edited here."
    : valueOrReason(() => writer.update(found, notes, before, noted));
  if (typeof written === "string") {
    run.report("kept", foreign, { target, reason: written });
    return;
  }
  const { row, isWaiting } = written;
  const pausedBy = isWaiting ? (noted.pausedBy ?? run.id) : null;
  noteRow(run, writer, found, row, { settingsHash, pausedBy });
  const changes = [...notes.changes, ...found.changes];
  const { verdict, reason } = outcomeOf(written, "updated");
  run.report(verdict, foreign, { target: targetOf(writer.kind, row), changes, reason });
}

function outcomeOf({ held, disabled }: Written<unknown>, usual: Verdict) {
  const verdict = held ? "held" : disabled ? "disabled" : usual;
  return { verdict, reason: held ?? disabled ?? null };
}

function noteRow<Found extends FoundObject<unknown>, Row extends Here>(
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

/** Object here that an import created. */
interface Here {
  id: string;
  ref?: string;
  name?: string;
  description?: string | null;
}

const FINDERS: Readonly<Record<Imported, (reader: Reader, id: string) => Here | undefined>> = {
  page: (reader, id) => findPage(reader, { id }),
  group: (reader, id) => findGroup(reader, { id }),
  component: (reader, id) => findComponent(reader, { id }),
  monitor: (reader, id) => findMonitor(reader, { id }),
  webhook: (reader, id) => findWebhook(reader, { id }),
  schedule: (reader, id) => findSchedule(reader, id)?.row,
  maintenance: (reader, id) => findMaintenance(reader, { id })?.row,
  incident: (reader, id) => findIncident(reader, { id })?.row,
};

/** Returns an object here as reports name it. */
export function targetOf(kind: Imported, row: Here): ImportTarget & { id: string } {
  const { id, ref = null, name, description } = row;
  return { kind, id, ref, name: name ?? (description || (ref ?? id)) };
}

/** Finds an object here; null if it was deleted. */
export function findTarget(
  reader: Reader,
  { kind, id }: { kind: Imported; id: string },
): (ImportTarget & { id: string }) | null {
  const row = FINDERS[kind](reader, id);
  return row ? targetOf(kind, row) : null;
}

/** Finds the id of the object that one of the source became; undefined if it is not here. */
export function idOf(run: ImportRun, key: ForeignKey): string | undefined {
  const noted = run.findNoted(key);
  if (!noted || run.here.has(noted.id)) return noted?.id;
  if (!FINDERS[noted.kind](run.tx, noted.id)) return undefined;
  run.here.add(noted.id);
  return noted.id;
}

/** Returns the ids of the objects that some of the source became, each once, without those that are not here. */
export function idsOf(run: ImportRun, keys: readonly ForeignKey[]): string[] {
  return [...new Set(keys.flatMap((key) => idOf(run, key) ?? []))];
}

/** Returns those of the objects of the source that were imported at some time. */
export function knownOf(run: ImportRun, keys: readonly ForeignKey[]): ForeignKey[] {
  return keys.filter((key) => run.findNoted(key) !== undefined);
}

/** Gives free refs for names. Remembers the last number of each, since thousands of objects may have one name. */
export class RefNames {
  readonly #isTaken: (ref: string) => boolean;
  readonly #given = new Set<string>();
  readonly #next = new Map<string, number>();

  constructor(isTaken: (ref: string) => boolean) {
    this.#isTaken = isTaken;
  }

  /** Returns a ref that is free and that no earlier call returned. */
  next(name: string, fallback: string): string {
    const desired = toRef(name) || fallback;
    for (let count = this.#next.get(desired) ?? 1; ; count++) {
      const ref = numberedRef(desired, count);
      if (this.#given.has(ref) || this.#isTaken(ref)) continue;
      this.#given.add(ref);
      this.#next.set(desired, count + 1);
      return ref;
    }
  }
}

/** Returns a name within its limits; one that is made from the type of the object if it has none. */
export function fitName(notes: Notes, name: string, type: string): string {
  const value = cutName(name, `Unnamed ${type}`);
  const reason =
    name.trim() === ""
      ? "It has no name."
      : `Names have at most ${NAME_MAX} characters, and no control characters.`;
  notes.text("name", name, value, reason);
  return value;
}

/** Returns a text on any number of lines within its limit. */
export function fitText(notes: Notes, field: string, text: string, max: number): string {
  const value = cutText(text, max);
  notes.text(field, text, value, `At most ${max.toLocaleString("en")} characters of it are kept.`);
  return value;
}

/** Returns a description within its limit. */
export function fitDescription(notes: Notes, text: string | null | undefined): string | null {
  return fitText(notes, "description", text ?? "", DESCRIPTION_MAX) || null;
}

/** Ranges of numbers, of which an object has one. */
type Range = Parameters<typeof findNumber>[1]["range"];

/** Gives a new object the number that it has in Uptime Kuma, or notes why it cannot have that. */
export function takeNumber(
  { tx, isFirstOfKind }: ImportRun,
  notes: Notes,
  range: Range,
  id: string,
  number: number | null | undefined,
): void {
  if (number === null || number === undefined) return;
  const isValid = Number.isSafeInteger(number) && number >= 1;
  const problem = !isFirstOfKind
    ? "Only the first source keeps its numbers."
    : !isValid
      ? "It is no valid number."
      : findNumber(tx, { range, number })
        ? "Another object has the number already."
        : undefined;
  if (problem === undefined) keepNumber(tx, { id, number });
  else {
    const [own] = listNumbers(tx, { ids: JSON.stringify([id]) });
    notes.change("number", number, own?.number ?? null, problem);
  }
}
