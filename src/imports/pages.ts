import { validate } from "../base/validation";
import { conflict, invalidFields } from "../base/errors";
import { crc32, sha256Hex } from "../base/hash";
import { numberedRef } from "../base/ids";
import type { ForeignObject } from "../base/import-report";
import { toRef } from "../base/text";
import { isTimeZone } from "../base/zones";
import { keepKey, listKeptKeys } from "../features/compat/store";
import {
  createComponent,
  createGroup,
  nextPosition,
  updateComponent,
  updateGroup,
} from "../features/components/components";
import { setManualStatuses } from "../features/components/statuses";
import {
  type ComponentRow,
  findComponent,
  findGroup,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../features/components/store";
import {
  ComponentInput,
  GroupInput,
  PartialComponentInput,
  PartialGroupInput,
} from "../features/components/wire";
import { deleteLogo, putLogo } from "../features/pages/logo";
import { fullLook, lookOf } from "../features/pages/look";
import { addPageErrors, createPage, updatePage, validatePageInput } from "../features/pages/pages";
import { DOMAINS_MAX, hostNameOf, toDomain } from "../features/pages/addresses";
import { isReservedSlug, JOIN_MINUTES } from "../features/pages/rules";
import {
  findDefaultPage,
  findPage,
  findPageBySlug,
  listAllPages,
  type PageRow,
} from "../features/pages/store";
import { PageInput, PartialPageInput } from "../features/pages/wire";
import type { ForeignKey, FoundComponent, FoundGroup, FoundPage } from "./found";
import { Notes } from "./kit";
import {
  fitDescription,
  fitName,
  idOf,
  knownOf,
  RefNames,
  takeNumber,
  valueOrReason,
  type Writer,
} from "./objects";
import type { ImportRun } from "./run";

/** Returns how pages are imported. Of `pages` the default one becomes the default here, if there is none. */
export function pageWriter(
  run: ImportRun,
  pages: readonly FoundPage[],
): Writer<FoundPage, PageRow> {
  const { ctx, tx, actor } = run;
  const first =
    pages.find(({ isDefault }) => isDefault) ??
    pages.find(({ body }) => body.visibility !== "private");
  return {
    kind: "page",
    find: (id) => findPage(tx, { id }),
    markOf: pageMark,
    settingsOf: ({ body, logo = null }) => ({ body, logo: logo && sha256Hex(logo) }),
    create(found, notes) {
      const input = fitPage(run, notes, found, undefined);
      const custom_domains = takeDomains(run, notes, found, undefined);
      const holder = findDefaultPage(tx, {});
      const isDefault = found === first && (holder === undefined || holder.isSample);
      const whole = { ...input, custom_domains, default: isDefault };
      const metadata = { managedBy: "import", canBeDefault: false } as const;
      const page = createPage(ctx, tx, validate(PageInput, whole, addPageErrors), actor, metadata);
      writeLogo(run, notes, page, found.logo);
      takeNumber(run, notes, "page", page.id, found.number);
      if (found.isDefault && !isDefault) {
        notes.change("default", true, false, "There is a default page already.");
      }
      return { row: findPage(tx, page) ?? page };
    },
    update(found, notes, before) {
      const input = fitPage(run, notes, found, before);
      const custom_domains = takeDomains(run, notes, found, before);
      const whole = validate(PartialPageInput, { ...input, custom_domains }, addPageErrors);
      const page = updatePage(ctx, tx, before.id, whole, actor);
      writeLogo(run, notes, page, found.logo);
      return { row: findPage(tx, page) ?? page };
    },
    complete(found, row, isEdited) {
      const taken = takeDomains(run, new Notes(), found, row);
      if (taken.length === row.customDomains.length) return undefined;
      if (isEdited) {
        const reason = "It was edited here, so its custom domains are not taken over.";
        return { row, verdict: "kept", reason };
      }
      const page = updatePage(
        ctx,
        tx,
        row.id,
        validate(PartialPageInput, { custom_domains: taken }, addPageErrors),
        actor,
      );
      return { row: page, verdict: "updated", reason: "It got its custom domains." };
    },
  };
}

/** Returns the fields of a page within the limits of this installation. */
function fitPage(
  { tx }: ImportRun,
  notes: Notes,
  { foreign, body }: FoundPage,
  before: PageRow | undefined,
) {
  const name = fitName(notes, body.name, foreign.type);
  const description = fitDescription(notes, body.description);
  const slug = freeSlug(body.slug, (desired) => {
    const holder = findPageBySlug(tx, { slug: desired });
    return isReservedSlug(desired) || (holder !== undefined && holder.id !== before?.id);
  });
  notes.text("slug", body.slug, slug, "The slug is taken, reserved or not valid.");
  const { time_zone: zone = "UTC" } = body;
  const timeZone = isTimeZone(zone) ? zone : "UTC";
  notes.text("time_zone", zone, timeZone, "The time zone is not known.");
  return { ...body, name, description, slug, time_zone: timeZone };
}

/** Longest slug. */
const SLUG_MAX = 63;

/** Returns the first free slug of those that a text makes. */
function freeSlug(text: string, isTaken: (slug: string) => boolean): string {
  const desired =
    toRef(text)
      .slice(0, SLUG_MAX)
      .replace(/^-+|-+$/g, "") || "page";
  for (let count = 1; ; count++) {
    const slug = numberedRef(desired, count);
    if (!isTaken(slug)) return slug;
  }
}

/** Returns the custom domains of a page, with those of the source that can be taken over. */
function takeDomains(
  { ctx, tx, options }: ImportRun,
  notes: Notes,
  { domains = [] }: FoundPage,
  page: PageRow | undefined,
): string[] {
  const taken = [...(page?.customDomains ?? [])];
  const elsewhere = new Set(
    listAllPages(tx, {}).flatMap(({ id, customDomains }) => (id === page?.id ? [] : customDomains)),
  );
  for (const text of domains) {
    const domain = toDomain(text);
    if (domain !== undefined && taken.includes(domain)) continue;
    const reason = problemOf(domain);
    if (reason === undefined && domain !== undefined) taken.push(domain);
    else notes.change("custom_domains", text, null, reason ?? "");
  }
  return taken;

  function problemOf(domain: string | undefined): string | undefined {
    if (!options.takesDomains)
      return "The other product still answers there. Import with --take-domains to set it.";
    if (domain === undefined || domain === "localhost" || domain.endsWith(".localhost")) {
      return "It is no host name.";
    }
    if (domain === hostNameOf(ctx.baseUrl)) return "It is the host of the public address.";
    if (elsewhere.has(domain)) return "Another page has it.";
    return taken.length >= DOMAINS_MAX ? `A page has at most ${DOMAINS_MAX} of them.` : undefined;
  }
}

/** Sets or removes the logo, or notes why it cannot be used. */
function writeLogo(
  { ctx, tx, actor }: ImportRun,
  notes: Notes,
  { id, logo: before }: PageRow,
  logo: Uint8Array | null = null,
): void {
  if (logo === null) {
    if (before !== null) deleteLogo(ctx, tx, id, actor);
    return;
  }
  const written = valueOrReason(() => putLogo(ctx, tx, id, { bytes: logo }, actor));
  if (typeof written === "string") notes.drop("logo", written);
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
    create(found, notes) {
      const page = requirePage(run, found.page);
      const input = fitNames(notes, found);
      const { ref, position } = places.ofGroup(page, input.name);
      const placement = { position, managedBy: "import" } as const;
      const row = createGroup(
        ctx,
        tx,
        page,
        validate(GroupInput, { ...input, ref }),
        placement,
        actor,
      );
      takeNumber(run, notes, "group", row.id, found.number);
      return { row };
    },
    update: (found, notes, { id }) => ({
      row: updateGroup(ctx, tx, id, validate(PartialGroupInput, fitNames(notes, found)), actor),
    }),
  };
}

/** Returns how components are imported. */
export function componentWriter(
  run: ImportRun,
  places: PagePlaces,
): Writer<FoundComponent, ComponentRow> {
  const { ctx, tx, actor } = run;
  const groupOf = (key: ForeignKey | null, { id: pageId }: Pick<PageRow, "id">) => {
    const id = key === null ? undefined : idOf(run, key);
    const group = id === undefined ? undefined : findGroup(tx, { id });
    return group?.pageId === pageId ? group.id : null;
  };
  return {
    kind: "component",
    find: (id) => findComponent(tx, { id }),
    markOf: componentMark,
    settingsOf: ({ body, group = null }) => ({ body, group: group && knownOf(run, [group]) }),
    create(found, notes) {
      const { group = null, baseline = null, key = null, number } = found;
      const page = requirePage(run, found.page);
      const input = fitNames(notes, found);
      const { ref, position } = places.ofComponent(page, input.name);
      const placement = { position, managedBy: "import", groupId: groupOf(group, page) } as const;
      const row = createComponent(
        ctx,
        tx,
        page,
        validate(ComponentInput, { ...input, ref }),
        placement,
        actor,
      );
      if (baseline !== null) {
        const reason = { source: "manual", actor, reason: null, notify: false } as const;
        setManualStatuses(ctx, tx, new Map([[row.id, baseline]]), reason);
      }
      takeNumber(run, notes, "entry", row.id, number);
      if (key !== null && places.takeKey(page.id, key)) {
        keepKey(tx, { componentId: row.id, key });
      } else if (key !== null) {
        notes.change("key", key, null, "Another component of the page has the key already.");
      }
      return { row };
    },
    update(found, notes, { id, pageId, groupId: before }) {
      const { group = null } = found;
      const groupId = group === null ? null : (groupOf(group, { id: pageId }) ?? before);
      const input = validate(PartialComponentInput, fitNames(notes, found));
      return { row: updateComponent(ctx, tx, id, input, actor, { groupId }) };
    },
  };
}

/** Returns the fields of a group or component within the limits of this installation. */
function fitNames<Body extends { name: string; description?: string | null }>(
  notes: Notes,
  { foreign, body }: { foreign: { type: string }; body: Body },
) {
  const name = fitName(notes, body.name, foreign.type);
  return { ...body, name, description: fitDescription(notes, body.description) };
}

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
    return createComponent(
      ctx,
      tx,
      this.#page,
      validate(ComponentInput, { name, ref }),
      placement,
      actor,
    ).id;
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
    const input = validate(PageInput, { slug, name: NAME, visibility: "private" }, addPageErrors);
    // The first public page becomes the default.
    const metadata = { managedBy: "import", canBeDefault: false } as const;
    const page = createPage(ctx, tx, input, actor, metadata);
    const { id, ref, name } = page;
    // The source has no settings of it.
    const settingsHash = this.#run.macOf(null);
    const mark = pageMark(page);
    this.#run.note(foreign, { kind: "page", id, mark, settingsHash, pausedBy: null });
    const notes = new Notes();
    notes.text("slug", desired, slug, "The slug is taken.");
    this.#run.report(count === 1 ? "created" : "changed", foreign, {
      target: this.#run.newTarget({ kind: "page", id, ref, name }),
      changes: notes.changes,
      reason: REASON,
    });
    return page;
  }
}

/** Returns a checksum of the settings of a page, which is the default page or not without having been edited. */
export function pageMark(row: PageRow): number {
  const { slug, name, description, timeZone, locale, visibility, theme, accent } = row;
  const { historyDays, customDomains, logo, compat, mail, joinMinutes, languages, report } = row;
  const texts = [slug, name, description, timeZone, locale, visibility, theme, accent, logo];
  // Checksums of earlier versions do not have these settings.
  const join = joinMinutes === JOIN_MINUTES ? [] : [joinMinutes];
  const own = { ...lookOf(row), favicon: row.favicon };
  const hasOwn = !Bun.deepEquals(own, { ...fullLook(undefined), favicon: null });
  const more = [
    ...(languages.length === 0 ? [] : [languages]),
    ...(report === "team" ? [] : [report]),
    ...(hasOwn ? [own] : []),
  ];
  return crc32(JSON.stringify([texts, historyDays, customDomains, compat, mail, ...join, ...more]));
}

/** Returns a checksum of the settings of a group, which is moved without being edited. */
function groupMark({ ref, name, description, collapse }: GroupRow): number {
  return crc32(JSON.stringify([ref, name, description, collapse]));
}

/**
 * Returns a checksum of the settings of a component. Its status, its position, and the day from which its uptime is
 * known are none, since incidents, orders and histories set them.
 */
function componentMark(row: ComponentRow): number {
  const { ref, name, description, groupId, showcase, onlyShowIfDegraded, showLatency, tags } = row;
  const flags = [showcase, onlyShowIfDegraded, showLatency];
  const goal = row.uptimeGoal === null ? [] : [row.uptimeGoal];
  return crc32(JSON.stringify([ref, name, description, groupId, flags, tags, ...goal]));
}
