import { conflict, invalidFields } from "../base/errors";
import { numberedRef } from "../base/ids";
import type { ForeignObject, ImportChange } from "../base/import-report";
import { keepKey, listKeptKeys } from "../features/compat/store";
import {
  createComponent,
  createGroup,
  nextPosition,
  updateComponent,
  updateGroup,
} from "../features/components/components";
import { setManualStatuses } from "../features/components/set-status";
import {
  type ComponentRow,
  findComponent,
  findGroup,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../features/components/store";
import { createPage, validatePageInput } from "../features/pages/pages";
import { findPage, findPageBySlug, type PageRow } from "../features/pages/store";
import type { ForeignKey, FoundComponent, FoundGroup } from "./found";
import {
  componentMark,
  groupMark,
  idOf,
  knownOf,
  pageMark,
  RefNames,
  type Writer,
} from "./objects";
import { fitDescription, fitName, takeNumber } from "./options";
import type { ImportRun } from "./run";

/** Free refs and positions of the groups or components of a page. */
interface Places {
  page: PageRow;
  refs: RefNames;
  position: number;
}

/** Remembers the free places and keys of pages, since thousands of components may be added. */
export class PagePlaces {
  readonly #run: ImportRun;
  readonly #groups = new Map<string, Places>();
  readonly #components = new Map<string, Places>();
  readonly #keys = new Map<string, Set<string>>();

  constructor(run: ImportRun) {
    this.#run = run;
  }

  /** Returns a free ref and the last position for a group of a page. */
  ofGroup(page: PageRow, name: string) {
    const siblings = () => listGroups(this.#run.tx, { pageId: page.id });
    return next(this.#groups, page, siblings, name, "group");
  }

  /** Returns a free ref and the last position for a component of a page. */
  ofComponent(page: PageRow, name: string) {
    const siblings = () => listComponentsOfPage(this.#run.tx, { pageId: page.id });
    return next(this.#components, page, siblings, name, "component");
  }

  /** Takes a key for Gatus' clients. Returns false if a component of the page has it. */
  takeKey(pageId: string, key: string): boolean {
    let keys = this.#keys.get(pageId);
    if (!keys) {
      keys = new Set(listKeptKeys(this.#run.tx, { pageId }).map((kept) => kept.key));
      this.#keys.set(pageId, keys);
    }
    const isFree = !keys.has(key);
    keys.add(key);
    return isFree;
  }
}

function next(
  places: Map<string, Places>,
  page: PageRow,
  listSiblings: () => readonly { ref: string; position: number }[],
  name: string,
  fallback: string,
): { ref: string; position: number } {
  let place = places.get(page.id);
  if (!place) {
    const siblings = listSiblings();
    const taken = new Set(siblings.map(({ ref }) => ref));
    const refs = new RefNames((ref) => taken.has(ref));
    place = { page, refs, position: nextPosition(siblings) };
    places.set(page.id, place);
  }
  const { refs, position } = place;
  place.position += 1;
  return { ref: refs.next(name, fallback), position };
}

/** Returns the page here that one of the source became. Throws `conflict` without one. */
export function requirePage(run: ImportRun, key: ForeignKey): PageRow {
  const id = idOf(run, key);
  const page = id === undefined ? undefined : findPage(run.tx, { id });
  if (page) return page;
  const isDeleted = run.findNoted(key) !== undefined;
  throw conflict(isDeleted ? "Its page was deleted here." : "Its page is not imported.");
}

/** Returns how groups are imported. */
export function groupWriter(run: ImportRun, places: PagePlaces): Writer<FoundGroup, GroupRow> {
  const { ctx, tx, actor } = run;
  return {
    kind: "group",
    find: (id) => findGroup(tx, { id }),
    markOf: groupMark,
    settingsOf: ({ body }) => body,
    create(found) {
      const page = requirePage(run, found.page);
      const { input, changes } = fit(found);
      const { ref, position } = places.ofGroup(page, input.name);
      const placement = { position, managedBy: "import" } as const;
      const row = createGroup(ctx, tx, page, { ...input, ref }, placement, actor);
      return { row, changes: [...changes, ...takeNumber(run, "group", row.id, found.number)] };
    },
    update(found, { id }) {
      const { input, changes } = fit(found);
      return { row: updateGroup(ctx, tx, id, input, actor), changes };
    },
  };
}

/** Returns how components are imported. */
export function componentWriter(
  run: ImportRun,
  places: PagePlaces,
): Writer<FoundComponent, ComponentRow> {
  const { ctx, tx, actor } = run;
  const groupOf = (key: ForeignKey | null, { id: pageId }: Pick<PageRow, "id">) => {
    const id = idOf(run, key);
    const group = id === undefined ? undefined : findGroup(tx, { id });
    return group?.pageId === pageId ? group.id : null;
  };
  return {
    kind: "component",
    find: (id) => findComponent(tx, { id }),
    markOf: componentMark,
    settingsOf: ({ body, group }) => ({ body, group: group && knownOf(run, [group]) }),
    create(found) {
      const page = requirePage(run, found.page);
      const { input, changes } = fit(found);
      const { ref, position } = places.ofComponent(page, input.name);
      const groupId = groupOf(found.group, page);
      const placement = { position, managedBy: "import", groupId } as const;
      const row = createComponent(ctx, tx, page, { ...input, ref }, placement, actor);
      const { id } = row;
      if (found.baseline !== null) {
        const reason = { source: "manual", actor, reason: null, notify: false } as const;
        setManualStatuses(ctx, tx, new Map([[id, found.baseline]]), reason);
      }
      const ofNumber = takeNumber(run, "entry", id, found.number);
      return { row, changes: [...changes, ...ofNumber, ...takeKey(run, places, row, found.key)] };
    },
    update(found, { id, pageId, groupId: before }) {
      const { input, changes } = fit(found);
      const groupId =
        found.group === null ? null : (groupOf(found.group, { id: pageId }) ?? before);
      return { row: updateComponent(ctx, tx, id, { ...input, groupId }, actor), changes };
    },
  };
}

/** Returns the fields of a group or component within the limits of this installation. */
function fit<Body extends { name: string; description?: string | null }>({
  foreign,
  body,
}: {
  foreign: { type: string };
  body: Body;
}) {
  const name = fitName(body.name, foreign.type);
  const description = fitDescription(body.description);
  const input = { ...body, name: name.value, description: description.value };
  return { input, changes: [...name.changes, ...description.changes] };
}

/** Keeps the key that a new component has for Gatus' clients. Returns the difference if it cannot have that. */
function takeKey(
  { tx }: ImportRun,
  places: PagePlaces,
  { id: componentId, pageId }: ComponentRow,
  key: string | null,
): ImportChange[] {
  if (key === null) return [];
  if (!places.takeKey(pageId, key)) {
    const reason = "Another component of the page has the key already.";
    return [{ field: "key", from: key, to: null, reason }];
  }
  keepKey(tx, { componentId, key });
  return [];
}

const NAME = "Internal";
/** No other object of a source has this type. */
export const INTERNAL_TYPE = "internal page";
const REASON = "Monitors that are on no page get a component on this private page.";

/** Private page on which monitors that are on no page get components. It is made with the first of them. */
export class InternalPage {
  readonly #run: ImportRun;
  readonly #places: PagePlaces;
  #page: PageRow | null | undefined;

  /** Throws `validation_failed` for a slug that no page can have. */
  constructor(run: ImportRun, places: PagePlaces) {
    this.#run = run;
    this.#places = places;
    const slug = run.options.internalPage;
    const errors = slug === null ? [] : validatePageInput({ slug, name: NAME });
    if (errors.length > 0) throw invalidFields(errors);
  }

  /** Adds a component. Returns its id; undefined without such a page, by option, or deleted or published here. */
  addComponent(name: string): string | undefined {
    const slug = this.#run.options.internalPage;
    if (slug === null) return undefined;
    if (this.#page === undefined) this.#page = this.#findOrCreate(slug) ?? null;
    if (this.#page === null) return undefined;
    const { ctx, tx, actor } = this.#run;
    const { ref, position } = this.#places.ofComponent(this.#page, name);
    const placement = { position, managedBy: "import", groupId: null } as const;
    return createComponent(ctx, tx, this.#page, { name, ref }, placement, actor).id;
  }

  /** Returns the page of an earlier import, a private page of that name, or a new one. */
  #findOrCreate(slug: string): PageRow | undefined {
    const { tx } = this.#run;
    const foreign = { type: INTERNAL_TYPE, id: slug, name: NAME };
    const noted = this.#run.findRef(foreign);
    if (noted) {
      const page = findPage(tx, { id: noted.id });
      if (page?.visibility === "private") return page;
      const reason = `It was ${page ? "published" : "deleted"} here, so new monitors have no component.`;
      this.#run.report("kept", foreign, { reason });
      return undefined;
    }
    const holder = findPageBySlug(tx, { slug });
    return holder?.visibility === "private" ? holder : this.#create(foreign, slug);
  }

  #create(foreign: ForeignObject, desired: string): PageRow {
    const { ctx, tx, actor } = this.#run;
    let count = 1;
    while (findPageBySlug(tx, { slug: numberedRef(desired, count) })) count += 1;
    const slug = numberedRef(desired, count);
    const input = { slug, name: NAME, visibility: "private" } as const;
    // The first public page becomes the default.
    const metadata = { managedBy: "import", canBeDefault: false } as const;
    const page = createPage(ctx, tx, input, actor, metadata);
    const { id, ref, name } = page;
    // The source has no settings of it.
    const settingsHash = this.#run.macOf(null);
    const mark = pageMark(page);
    this.#run.note(foreign, { kind: "page", id, mark, settingsHash, pausedBy: null });
    const changes: ImportChange[] =
      count === 1 ? [] : [{ field: "slug", from: desired, to: slug, reason: "The slug is taken." }];
    this.#run.report(count === 1 ? "created" : "changed", foreign, {
      target: this.#run.newTarget({ kind: "page", id, ref, name }),
      changes,
      reason: REASON,
    });
    return page;
  }
}
