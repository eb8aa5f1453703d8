import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { type FieldError, Problem } from "../../errors";
import type { Actor } from "../../kernel/actor";
import {
  type ComponentRow,
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
  updateComponent,
  updateGroup,
} from "../components";
import {
  createPage,
  deletePage,
  findPageByRef,
  findPageBySlug,
  listAllPages,
  type PageRow,
  updatePage,
} from "../pages";
import { type Change, changedOnly, differences } from "./difference";
import {
  presentComponentFields,
  presentGroupFields,
  presentPageFields,
  wantedComponent,
  wantedGroup,
  wantedPage,
} from "./fields";
import { ApplyFileError, pageFields, type Path, type ReadFile, refOf } from "./file";
import type { FileComponent, FileGroup, FilePage } from "./model";

export interface ApplyOptions {
  /** Whether to remove what an earlier apply made and the file no longer holds. */
  prune: boolean;
  actor: Actor;
}

export interface ApplyOutcome {
  changes: Change[];
  /** What an earlier apply made and the file no longer holds: there still, unless pruned. */
  leftovers: string[];
}

/**
 * Makes pages, groups and components what the file says, inside one transaction. A field that the
 * file leaves out gets its default; a status is never touched; what was made otherwise and is not in
 * the file stays. Running it again changes nothing.
 *
 * Throws an ApplyFileError that names the line where the database forbids something.
 */
export function applyFile(
  ctx: AppContext,
  tx: Tx,
  file: ReadFile,
  options: ApplyOptions,
): ApplyOutcome {
  const run = new Reconciliation(ctx, tx, file, options);
  run.prunePages();
  for (const [index, page] of file.content.pages.entries()) run.page(page, ["pages", index]);
  return run.outcome;
}

class Reconciliation {
  readonly outcome: ApplyOutcome = { changes: [], leftovers: [] };
  /** What an entry of the file stands for already: no other can mean the same. */
  readonly #claimed = new Set<string>();

  constructor(
    private readonly ctx: AppContext,
    private readonly tx: Tx,
    private readonly file: ReadFile,
    private readonly options: ApplyOptions,
  ) {}

  page(wanted: FilePage, path: Path): void {
    const { ctx, tx, options } = this;
    const known = this.#findPage(wanted);
    if (known) this.#claimed.add(known.id);
    const row = this.#at(path, () => {
      if (!known) {
        this.#note("create", "page", wanted.slug);
        const input = { ...pageFields(wanted), ref: refOf(wanted) };
        return createPage(ctx, tx, input, options.actor, { managedBy: "apply" });
      }
      const fields = wantedPage(wanted, known);
      const changes = differences(presentPageFields(known), fields);
      if (changes.length === 0) return known;
      this.outcome.changes.push({
        kind: "update",
        noun: "page",
        label: known.slug,
        fields: changes,
      });
      return updatePage(ctx, tx, known.id, changedOnly(fields, changes), options.actor);
    });

    const kept = new Set<string>();
    let position = 0;
    for (const [index, component] of (wanted.components ?? []).entries()) {
      const at = [...path, "components", index];
      kept.add(this.#component(row, component, null, position++, at));
    }
    for (const [index, group] of (wanted.groups ?? []).entries()) {
      const at = [...path, "groups", index];
      const groupId = this.#group(row, group, index, at);
      kept.add(groupId);
      for (const [inner, component] of (group.components ?? []).entries()) {
        kept.add(
          this.#component(row, component, groupId, position++, [...at, "components", inner]),
        );
      }
    }
    this.#pruneInside(row, kept);
  }

  /** Pages go first, so that the slugs and refs of those that are gone are free for those that come. */
  prunePages(): void {
    const wanted = this.file.content.pages.map((page) => this.#findPage(page)?.id);
    for (const page of listAllPages(this.tx, {})) {
      if (page.managedBy !== "apply" || wanted.includes(page.id)) continue;
      this.#leave("page", page.slug, () =>
        deletePage(this.ctx, this.tx, page.id, this.options.actor),
      );
    }
  }

  #group(page: PageRow, wanted: FileGroup, position: number, path: Path): string {
    const { ctx, tx, options } = this;
    const { components: _components, previous_refs = [], ...input } = wanted;
    const ref = refOf(wanted);
    const known = this.#claim(listGroups(tx, { pageId: page.id }), [ref, ...previous_refs]);
    const label = `${page.slug}/${ref}`;
    return this.#at(path, () => {
      if (!known) {
        this.#note("create", "group", label);
        const placement = { position, managedBy: "apply" as const };
        return createGroup(ctx, tx, page, { ...input, ref }, placement, options.actor).id;
      }
      const fields = { ...wantedGroup(input, ref), position };
      const changes = differences(presentGroupFields(known), fields);
      if (changes.length > 0) {
        this.outcome.changes.push({ kind: "update", noun: "group", label, fields: changes });
        updateGroup(ctx, tx, known.id, changedOnly(fields, changes), options.actor);
      }
      return known.id;
    });
  }

  #component(
    page: PageRow,
    wanted: FileComponent,
    groupId: string | null,
    position: number,
    path: Path,
  ): string {
    const { ctx, tx, options } = this;
    const { previous_refs = [], ...input } = wanted;
    const ref = refOf(wanted);
    const known = this.#claim(listComponentsOfPage(tx, { pageId: page.id }), [
      ref,
      ...previous_refs,
    ]);
    const label = `${page.slug}/${ref}`;
    return this.#at(path, () => {
      if (!known) {
        this.#note("create", "component", label);
        const placement = { position, groupId, managedBy: "apply" as const };
        return createComponent(ctx, tx, page, { ...input, ref }, placement, options.actor).id;
      }
      const fields = { ...wantedComponent(input, ref), position, groupId };
      const changes = differences(presentComponentFields(known), fields);
      if (changes.length > 0) {
        this.outcome.changes.push({ kind: "update", noun: "component", label, fields: changes });
        updateComponent(ctx, tx, known.id, changedOnly(fields, changes), options.actor);
      }
      return known.id;
    });
  }

  #pruneInside(page: PageRow, kept: ReadonlySet<string>): void {
    const { ctx, tx, options } = this;
    const isLeftover = (row: GroupRow | ComponentRow) =>
      row.managedBy === "apply" && !kept.has(row.id);
    for (const row of listComponentsOfPage(tx, { pageId: page.id }).filter(isLeftover)) {
      this.#leave("component", `${page.slug}/${row.ref}`, () =>
        deleteComponent(ctx, tx, row.id, options.actor),
      );
    }
    for (const row of listGroups(tx, { pageId: page.id }).filter(isLeftover)) {
      this.#leave("group", `${page.slug}/${row.ref}`, () =>
        deleteGroup(ctx, tx, row.id, options.actor),
      );
    }
  }

  /** The page that a file means: by its ref, by one it had before, or by a slug of its. */
  #findPage(wanted: FilePage): PageRow | undefined {
    const refs = [refOf(wanted), ...(wanted.previous_refs ?? [])];
    const slugs = [wanted.slug, ...(wanted.previous_slugs ?? [])];
    const found = [
      ...refs.map((ref) => findPageByRef(this.tx, { ref })),
      ...slugs.map((slug) => findPageBySlug(this.tx, { slug })),
    ];
    return found.find((row) => row !== undefined && !row.isSample && !this.#claimed.has(row.id));
  }

  /** The object that an entry means, by its ref or one that it had before. */
  #claim<Row extends { id: string; ref: string }>(
    rows: readonly Row[],
    refs: readonly string[],
  ): Row | undefined {
    const free = rows.filter((row) => !this.#claimed.has(row.id));
    const found = refs
      .map((ref) => free.find((row) => row.ref === ref))
      .find((row) => row !== undefined);
    if (found) this.#claimed.add(found.id);
    return found;
  }

  #note(kind: Change["kind"], noun: Change["noun"], label: string): void {
    this.outcome.changes.push({ kind, noun, label, fields: [] });
  }

  #leave(noun: Change["noun"], label: string, remove: () => void): void {
    this.outcome.leftovers.push(`${noun} ${label}`);
    if (!this.options.prune) return;
    this.#note("delete", noun, label);
    remove();
  }

  /** Does something for a part of the file; a refusal is told with the line of that part. */
  #at<T>(path: Path, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const fields: readonly FieldError[] =
        error.fields.length > 0 ? error.fields : [{ pointer: "#", detail: error.message }];
      throw new ApplyFileError(
        fields.map(({ pointer, detail }) => {
          const field = pointer.replace(/^#\/?/, "");
          const line = this.file.lineOf(field === "" ? path : [...path, field]);
          return { line, detail: field === "" ? detail : `${field} ${detail}` };
        }),
      );
    }
  }
}
