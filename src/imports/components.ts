import { conflict } from "../base/errors";
import type { ImportChange } from "../base/import-report";
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
import { findPage, type PageRow } from "../features/pages/store";
import { componentMark, groupMark, idOf, knownOf, RefNames } from "./here";
import type { Writer } from "./objects";
import { fitDescription, fitName, takeNumber } from "./options";
import type { ImportRun } from "./run";
import type { ForeignKey, FoundComponent, FoundGroup } from "./source";

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
