import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { type FieldError, Problem } from "../../base/errors";
import type { Actor } from "../../base/actor";
import { monitorRefs } from "../webhooks/monitors";
import type { Question } from "../webhooks/alerts/confirmation";
import { type Change, changedOnly, differences } from "./fields";
import { ApplyFileError, nameOf, type Path, pathOf, type ReadFile } from "./read";

export interface ApplyOptions {
  /** True to remove objects that an earlier apply created and that the file no longer has. */
  prune: boolean;
  actor: Actor;
}

/** An object that the file describes, as it is after the apply. */
interface AppliedObject {
  noun: Change["noun"];
  /** Reference that the API accepts in place of the id; null for a group, which has none. */
  address: string | null;
  id: string;
  /** True if this apply created it. */
  isNew: boolean;
}

export interface ApplyOutcome {
  changes: Change[];
  /** Every object of the file, changed or not. */
  objects: AppliedObject[];
  /**
   * Objects that an earlier apply created and that the file no longer has. They are kept unless
   * pruned.
   */
  leftovers: string[];
  /** Webhooks of the file, by their refs, that send nothing until their addresses confirm alerts. */
  unconfirmed: { webhook: string; question: Question }[];
}

/** Desired state of one entry of the file, with the functions that create and change it. */
interface ObjectPlan<Row extends { id: string }, Fields extends object> {
  noun: Change["noun"];
  label: string;
  path: Path;
  /** Current row, or undefined if it must be created. */
  row: Row | undefined;
  current(row: Row): Fields;
  desired: Fields;
  create(): Row;
  update(row: Row, fields: Partial<Fields>): Row;
}

interface StoredObject {
  ref: string;
  row: { id: string; managedBy: string | null };
}

/** One apply with its input and outcome. */
export class ApplyRun {
  readonly outcome: ApplyOutcome = {
    changes: [],
    objects: [],
    leftovers: [],
    unconfirmed: [],
  };
  /** Refs of the monitors that this apply deleted, by id. */
  readonly deletedMonitors = new Map<string, string>();

  constructor(
    readonly ctx: Ctx,
    readonly tx: Tx,
    readonly file: ReadFile,
    readonly options: ApplyOptions,
  ) {}

  /**
   * Creates a missing object, or changes the fields that differ, and returns its row. An error is
   * thrown as an ApplyFileError with the line of the entry or field.
   */
  apply<Row extends { id: string }, Fields extends object>(
    plan: ObjectPlan<Row, Fields> & Pick<AppliedObject, "address">,
  ): Row {
    const row = this.change(plan);
    const { noun, address } = plan;
    this.outcome.objects.push({ noun, address, id: row.id, isNew: plan.row === undefined });
    return row;
  }

  /** Works like `apply`, for a part of an object: the outcome lists the changes, not the object. */
  change<Row extends { id: string }, Fields extends object>(plan: ObjectPlan<Row, Fields>): Row {
    const { noun, label, path, row, desired } = plan;
    if (!row) {
      this.note({ kind: "create", noun, label, fields: [] });
      return this.locatingErrors(path, plan.create);
    }
    const fields = differences(plan.current(row), desired);
    if (fields.length === 0) return row;
    this.note({ kind: "update", noun, label, fields });
    return this.locatingErrors(path, () => plan.update(row, changedOnly(desired, fields)));
  }

  /**
   * Lists an object that an earlier apply created and that the file no longer has, and deletes it if
   * this apply prunes.
   */
  handleLeftover(noun: Change["noun"], label: string, remove: () => void): void {
    this.outcome.leftovers.push(`${noun} ${label}`);
    if (!this.options.prune) return;
    this.note({ kind: "delete", noun, label, fields: [] });
    remove();
  }

  /** Handles the leftovers among stored objects of one kind: those without an entry in the file. */
  handleLeftovers(
    noun: Change["noun"],
    stored: readonly StoredObject[],
    entries: readonly { row: StoredObject | undefined }[],
    remove: (id: string) => void,
  ): void {
    const kept = new Set(entries.map(({ row }) => row?.row.id));
    for (const { row, ref } of stored) {
      if (row.managedBy !== "apply" || kept.has(row.id)) continue;
      this.handleLeftover(noun, ref, () => remove(row.id));
    }
  }

  /** Notes that an object outside the file no longer names the monitors of a field that this apply deleted. */
  noteLostMonitors(
    noun: "monitor" | "webhook",
    label: string,
    field: string,
    ids: readonly string[],
  ): void {
    const left = ids.filter((id) => !this.deletedMonitors.has(id));
    if (left.length === ids.length) return;
    const [from, to] = [ids, left].map((some) => this.refsOfMonitors(some));
    this.note({ kind: "update", noun, label, fields: [{ field, from, to }] });
  }

  /** Returns the refs of monitors by their ids, also of those that this apply deleted. */
  refsOfMonitors(ids: readonly string[]): string[] {
    return monitorRefs(this.tx, ids).map((ref) => this.deletedMonitors.get(ref) ?? ref);
  }

  /** Adds a change to the outcome. */
  note(change: Change): void {
    this.outcome.changes.push(change);
  }

  /** Runs work for an entry. A `Problem` is thrown as an ApplyFileError with its line. */
  locatingErrors<T>(path: Path, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const fields: readonly FieldError[] =
        error.fields.length > 0 ? error.fields : [{ pointer: "#", detail: error.message }];
      throw new ApplyFileError(
        fields.map(({ pointer, detail }) => {
          const field = pathOf(pointer);
          const line = this.file.lineOf([...path, ...field]);
          return { line, detail: `${nameOf(field)} ${detail}`.trimStart() };
        }),
      );
    }
  }
}
