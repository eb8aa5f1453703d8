/*
 * One apply: `ApplyRun` creates and changes the objects of a file, and collects the outcome. The parts of the file that
 * belong to a feature (`file.ts`) use it with the functions below it.
 */
import { Type } from "@sinclair/typebox";
import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../../base/actor";
import { type FieldError, invalidFields, pointer, Problem } from "../../base/errors";
import { toRef } from "../../base/text";
import { RefText } from "../../base/texts";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { type ComponentRow, listComponentsOfPage, listGroups } from "../components/store";
import { findPageBySlug, type PageRow } from "../pages/store";
import type { Question } from "../webhooks/alerts/confirmation";
import { monitorRefs } from "../webhooks/monitors";

export interface ApplyOptions {
  /** True to remove objects that an earlier apply created and that the file no longer has. */
  prune: boolean;
  actor: Actor;
  /** Passwords of the pages of the file by slug, made by `preparePasswords`. */
  passwords: ReadonlyMap<string, PreparedPassword>;
}

/** Password of a page in a file: the stored hash that it matches, or its own hash. */
export type PreparedPassword = { matches: string } | { hash: string };

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
    /** Returns the line of a part of the file. */
    readonly lineOf: (path: Path) => number,
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
        fields.map(({ pointer: at, detail }) => {
          const field = pathOf(at);
          const line = this.lineOf([...path, ...field]);
          return { line, detail: `${nameOf(field)} ${detail}`.trimStart() };
        }),
      );
    }
  }
}

/** Errors of a file, each with its line, counted from 1. */
export class ApplyFileError extends Error {
  readonly problems: readonly { line: number; detail: string }[];

  constructor(problems: readonly { line: number; detail: string }[]) {
    const sorted = [...problems].sort((a, b) => a.line - b.line);
    super(sorted.map(({ line, detail }) => `line ${line}: ${detail}`).join("\n"));
    this.name = "ApplyFileError";
    this.problems = sorted;
  }
}

/** Position in a file: keys and indexes from its root. */
export type Path = readonly (string | number)[];

/** Returns the path of a JSON pointer such as `#/pages/0/slug`. */
export function pathOf(text: string): Path {
  return text
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Returns a path in readable form, such as `pages[0].slug`; empty for the root. */
export function nameOf(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

/** An object of the file that is identified by a ref: a page, group, component, location, monitor, webhook, template or schedule. */
export interface Named {
  ref?: string;
  /** Undefined only for webhooks. */
  name?: string;
  /** Slug, only of pages. */
  slug?: string;
  description?: string | null;
  previous_refs?: string[];
}

/** Field of an object that names its earlier refs. */
export const PreviousRefs = Type.Optional(Type.Array(RefText));

/**
 * Returns the ref of an object in a file: the one it states, else one derived from its name, else
 * from its description (webhooks). A page whose name gives none uses its slug. Empty if none of them
 * gives a ref.
 */
export function refOf({ ref, name, description, slug = "" }: Named): string {
  return ref ?? (toRef(name ?? description ?? "") || slug);
}

/** Returns the page that an entry names by its slug, or by an earlier one. Throws `validation_failed`. */
export function pageOfEntry(tx: Tx, slug: string): PageRow {
  const page = findPageBySlug(tx, { slug });
  if (page) return page;
  throw invalidFields([{ pointer: pointer("page"), detail: `is not the slug of a page: ${slug}` }]);
}

/** Returns the components of a page by its id, each page read once. */
export type ComponentsOf = (pageId: string) => readonly ComponentRow[];

export function createComponentsOf(reader: Reader): ComponentsOf {
  const lists = new Map<string, readonly ComponentRow[]>();
  return (pageId) => {
    const list = lists.get(pageId) ?? listComponentsOfPage(reader, { pageId });
    lists.set(pageId, list);
    return list;
  };
}

/** Returns the places of the pages' components in the file, and a comparison by them, with all others last. */
export function componentOrder(reader: Reader, pages: readonly PageRow[]) {
  const order = pages.flatMap((page) => componentsInOrder(reader, page));
  const ranks = new Map(order.map((id, index) => [id, index]));
  const rankOf = (id: string) => ranks.get(id) ?? order.length;
  return { ranks, compare: (a: string, b: string) => rankOf(a) - rankOf(b) };
}

/** Returns the ids of a page's components in the order of the file: those without a group first. */
function componentsInOrder(reader: Reader, { id: pageId }: PageRow): string[] {
  const byGroup = Map.groupBy(listComponentsOfPage(reader, { pageId }), ({ groupId }) => groupId);
  const groups = [null, ...listGroups(reader, { pageId }).map(({ id }) => id)];
  return groups.flatMap((group) => (byGroup.get(group) ?? []).map(({ id }) => id));
}

/** One field that an apply changes. */
interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

/** Returns the fields in which the desired values differ from the current ones. */
function differences<T extends object>(current: T, desired: T): FieldChange[] {
  return (Object.keys(desired) as (keyof T & string)[])
    .filter((field) => !isDeepStrictEqual(current[field], desired[field]))
    .map((field) => ({ field, from: current[field], to: desired[field] }));
}

/** Returns the desired values of changed fields. */
function changedOnly<T extends object>(desired: T, changes: readonly FieldChange[]): Partial<T> {
  const names = new Set(changes.map((change) => change.field));
  return Object.fromEntries(
    Object.entries(desired).filter(([field]) => names.has(field)),
  ) as Partial<T>;
}

/** Returns the fields that differ from their defaults. */
export function nonDefault<Fields extends object>(current: Fields, least: Fields): Partial<Fields> {
  return changedOnly(current, differences(least, current));
}

/** A change that an apply made or plans. */
interface Change {
  kind: "create" | "update" | "delete";
  noun:
    | "page"
    | "group"
    | "component"
    | "location"
    | "monitor"
    | "webhook"
    | "incident template"
    | "maintenance schedule";
  /**
   * Page slug and ref of a page, group or component, such as `acme/checkout-api`; only the ref of other
   * objects.
   */
  label: string;
  fields: FieldChange[];
}

const MARKS = { create: "+", update: "~", delete: "-" } as const;

/** Describes a change in one line, marked as in diffs. */
export function describeChange({ kind, noun, label, fields }: Change): string {
  const details = fields.map(({ field, from, to }) => `${field} ${show(from)} → ${show(to)}`);
  const tail = details.length > 0 ? `: ${details.join(", ")}` : "";
  return `${MARKS[kind]} ${noun} ${label}${tail}`;
}

function show(value: unknown): string {
  return value === null || value === undefined ? "none" : JSON.stringify(value);
}

/** An entry of a page in the file, and its row if it exists. */
export interface Entry<Item, Row> {
  item: Item;
  ref: string;
  /** Position in the file. */
  path: Path;
  row: Row | undefined;
}

/** Rows of one kind by ref. */
export class RowsByRef<Row extends { ref: string }> {
  readonly #rows: Map<string, Row>;

  constructor(rows: readonly Row[]) {
    this.#rows = new Map(rows.map((row) => [row.ref, row]));
  }

  /** Finds the row of an entry by its ref or an earlier one; no two entries get the same row. */
  match<Item extends Named>(item: Item, path: Path): Entry<Item, Row> {
    const ref = refOf(item);
    const stored = [ref, ...(item.previous_refs ?? [])].find((one) => this.#rows.has(one));
    const row = stored === undefined ? undefined : this.#rows.get(stored);
    if (row) this.#rows.delete(row.ref);
    return { item, ref, path, row };
  }
}
