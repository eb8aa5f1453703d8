import { Type } from "@sinclair/typebox";
import type { Actor } from "../../base/actor";
import {
  conflict,
  type FieldError,
  invalidFields,
  invalidParameter,
  notFound,
} from "../../base/errors";
import { freeRef, type Manager } from "../../base/ids";
import { Text } from "../../base/schema";
import { toRef } from "../../base/text";
import { composed, examine, FieldErrors, type Valid } from "../../base/validation";
import { isTimeZone } from "../../base/zones";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { PageLook, StoredLook } from "../../db/tables/pages";
import { audit } from "../../events/audit";
import { canonicalTag, languageOf } from "../../languages/tags";
import { type Words, wordsOf } from "../../languages/words";
import { hostNameOf, toDomain, validateDomains } from "./addresses";
import { fullLook, lookErrors, lookOf, type PageLookInput, storedLook } from "./look";
import { fullMailSettings, type PageMailInput } from "./mail";
import { compatOf, isReservedSlug, JOIN_MINUTES, languagesOf, localeOf } from "./rules";
import { deletePageLinks, deletePagePassword } from "./access-store";
import {
  clearDefault,
  deletePageSlug,
  deletePageSlugs,
  erasePage,
  findDefaultPage,
  findPage,
  findPageByRef,
  findPageBySlug,
  insertPage,
  insertPageSlug,
  listAllPages,
  listPagesWithDomains,
  listSlugsOfPage,
  type PageRow,
  updatePageRow,
} from "./store";
import { PageInput, type PartialPageInput } from "./wire";

/** Properties of a page in addition to its fields: the manager, and if it is the sample page. */
interface PageMetadata {
  managedBy?: Manager;
  isSample?: boolean;
  /** False for a page that does not become the default, even if there is none. */
  canBeDefault?: boolean;
}

/**
 * Creates a page. The first real page becomes the default and erases the sample page, whose slug is
 * then free. Throws `validation_failed`, or `conflict` for a slug, a ref or a custom domain that is
 * taken.
 */
export function createPage(
  ctx: Ctx,
  tx: Tx,
  input: Valid<PageInput>,
  actor: Actor,
  metadata: PageMetadata = {},
): PageRow {
  requirePossible(input);
  const now = ctx.clock.now();
  const isSample = metadata.isSample ?? false;
  if (!isSample) eraseSamples(ctx, tx);
  const holderOf = (ref: string) => findPageByRef(tx, { ref });
  const ref = input.ref ?? freeRef(toRef(input.name) || input.slug, holderOf);
  requireFreeSlug(tx, input.slug, undefined);
  requireFreeRef(tx, ref);
  const { canBeDefault = true } = metadata;
  const isDefault =
    input.default === true || (canBeDefault && findDefaultPage(tx, {}) === undefined);
  if (isDefault) releaseDefault(ctx, tx);
  const row: PageRow = {
    id: ctx.newId("page"),
    ref,
    slug: input.slug,
    name: input.name,
    description: input.description ?? null,
    timeZone: input.time_zone ?? "UTC",
    locale: localeOf(input.locale ?? "en"),
    languages: languagesOf(input.languages ?? []),
    report: input.report ?? "team",
    visibility: input.visibility ?? "public",
    theme: input.theme ?? "system",
    accent: input.accent ?? null,
    historyDays: input.history_days ?? 90,
    joinMinutes: input.join_minutes ?? JOIN_MINUTES,
    isDefault,
    isSample,
    managedBy: metadata.managedBy ?? null,
    // Raised by the signal.
    contentVersion: 0,
    contentChangedAt: now,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    customDomains: takeDomains(ctx, tx, input.custom_domains ?? [], undefined),
    logo: null,
    compat: compatOf(input.compat ?? []),
    mail: fullMailSettings(input.mail),
    look: requireLook(fullLook(input.look)),
    favicon: null,
    networks: [],
    passwordId: null,
    hasLinks: false,
  };
  insertPage(tx, row);
  insertPageSlug(tx, { slug: row.slug, pageId: row.id, createdAt: now });
  if (!isSample) audit(ctx, tx, actor, "page.create", row.id, `Created the page “${row.name}”`);
  ctx.signals.pageChanged.raise(tx, row.id);
  ctx.signals.addressesChanged.raise(tx);
  return getPage(tx, row.id);
}

/**
 * Changes a page; fields that the input leaves out stay. After a change of the slug the earlier one
 * still leads to the page. Throws `not_found`, `validation_failed`, or `conflict` for a slug, a ref
 * or a custom domain that is taken.
 */
export function updatePage(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<PartialPageInput>,
  actor: Actor,
): PageRow {
  const before = getPage(tx, id);
  requirePossible(input);
  const slug = input.slug ?? before.slug;
  if (slug !== before.slug) takeSlug(ctx, tx, slug, id);
  const becomesDefault = input.default === true && !before.isDefault;
  if (becomesDefault) releaseDefault(ctx, tx);
  const ref = input.ref ?? before.ref;
  if (ref !== before.ref) requireFreeRef(tx, ref);
  const now = ctx.clock.now();
  const after: PageRow = {
    ...before,
    ref,
    slug,
    name: input.name ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    timeZone: input.time_zone ?? before.timeZone,
    locale: input.locale === undefined ? before.locale : localeOf(input.locale),
    languages: input.languages === undefined ? before.languages : languagesOf(input.languages),
    report: input.report ?? before.report,
    visibility: input.visibility ?? before.visibility,
    theme: input.theme ?? before.theme,
    accent: input.accent === undefined ? before.accent : input.accent,
    historyDays: input.history_days ?? before.historyDays,
    joinMinutes: input.join_minutes ?? before.joinMinutes,
    customDomains:
      input.custom_domains === undefined
        ? before.customDomains
        : takeDomains(ctx, tx, input.custom_domains, id),
    compat: input.compat === undefined ? before.compat : compatOf(input.compat),
    mail: fullMailSettings({ ...before.mail, ...input.mail }),
    look: requireLook(fullLook({ ...lookOf(before), ...input.look }), before.look),
    isDefault: before.isDefault || becomesDefault,
    version: before.version + 1,
    updatedAt: now,
  };
  updatePageRow(tx, after);
  audit(ctx, tx, actor, "page.update", after.id, `Changed the page “${after.name}”`);
  touchPage(ctx, tx, id);
  ctx.signals.addressesChanged.raise(tx);
  return getPage(tx, id);
}

/** Changes settings of a page about e-mail; those that the input leaves out stay. Throws `not_found`. */
export function updatePageMail(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<PageMailInput>,
  actor: Actor,
): PageRow {
  return updatePage(ctx, tx, id, composed({ mail: input }), actor);
}

/** Returns a look as it is stored. Throws `validation_failed` if its settings contradict each other. */
function requireLook(look: PageLook, before?: Partial<StoredLook>): StoredLook {
  const errors = lookErrors(look, "#/look");
  if (errors.length > 0) throw invalidFields(errors);
  return storedLook(look, before);
}

/** Changes settings of the look of a page; those that the input leaves out stay. Throws `not_found` and `validation_failed`. */
export function updatePageLook(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<PageLookInput>,
  actor: Actor,
): PageRow {
  const errors = lookErrors(fullLook({ ...lookOf(getPage(tx, id)), ...input }), "#");
  if (errors.length > 0) throw invalidFields(errors);
  return updatePage(ctx, tx, id, composed({ look: input }), actor);
}

/** Marks the content of a page as changed, in the transaction of the change. */
export function touchPage(ctx: Ctx, tx: Tx, id: string): void {
  ctx.signals.pageChanged.raise(tx, id);
}

/** Returns a page by its id. Throws `not_found`. */
export function getPage(reader: Reader, id: string): PageRow {
  const row = findPage(reader, { id });
  if (!row) throw notFound("page");
  return row;
}

/** Returns the words in which Allclear writes to a page. */
export function wordsForPage(reader: Reader, pageId: string): Words {
  return wordsOf(getPage(reader, pageId).locale);
}

/** Finds a page by its id, its slug, or an earlier slug. */
export function findPageBySlugOrId(reader: Reader, slugOrId: string): PageRow | undefined {
  return findPageBySlug(reader, { slug: slugOrId }) ?? findPage(reader, { id: slugOrId });
}

/** Returns all errors of a page's fields: schema, reserved slugs, unknown time zones, hosts. */
export function validatePageInput(input: PageInput): FieldError[] {
  const { errors, valid } = examine(PageInput, input, Number.POSITIVE_INFINITY);
  addPageErrors((valid ?? {}) as Partial<PageInput>, errors);
  return [...errors.all];
}

/** Adds the errors of a page's valid fields that the schema cannot express. Forms and files pass it to `validate`. */
export function addPageErrors(
  {
    slug = "",
    time_zone: timeZone,
    locale,
    languages = [],
    custom_domains: domains = [],
  }: Partial<PageInput>,
  errors: FieldErrors,
): void {
  if (isReservedSlug(slug)) errors.add(["slug"], "is reserved");
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    errors.add(["time_zone"], "must be a time zone, such as Europe/Berlin");
  }
  if (locale !== undefined && canonicalTag(locale) === undefined) {
    errors.add(["locale"], "must be a language tag, such as en or pt-BR");
  }
  for (const [index, language] of languages.entries()) {
    if (languageOf(language) === undefined) {
      errors.add(["languages", index], "must be a language with a catalog, such as de or pt-BR");
    }
  }
  // An invalid list has its errors already.
  if (errors.all.some(({ pointer }) => pointer.startsWith("#/custom_domains"))) return;
  errors.addAll([], validateDomains(domains));
}

function requirePossible(input: Partial<PageInput>): void {
  const errors = new FieldErrors();
  addPageErrors(input, errors);
  errors.throwIfAny();
}

function requireFreeRef(tx: Tx, ref: string): void {
  if (findPageByRef(tx, { ref })) throw conflict(`The ref ${ref} is taken by another page.`);
}

function takeSlug(ctx: Ctx, tx: Tx, slug: string, pageId: string): void {
  // An earlier slug still belongs to the page and has a row.
  if (requireFreeSlug(tx, slug, pageId)) return;
  insertPageSlug(tx, { slug, pageId, createdAt: ctx.clock.now() });
}

/**
 * Returns true if the slug is already one of the page's. Throws `conflict` if it is another page's.
 */
function requireFreeSlug(tx: Tx, slug: string, pageId: string | undefined): boolean {
  const holder = findPageBySlug(tx, { slug });
  if (holder && holder.id !== pageId) throw conflict(`The slug ${slug} is taken.`);
  return holder !== undefined;
}

/**
 * Returns the custom domains of a page in the form that is stored. They are valid already. Throws
 * `validation_failed` for the host of the public address, where dashboard and API are, and
 * `conflict` for a domain of another page.
 */
function takeDomains(
  ctx: Ctx,
  tx: Tx,
  texts: readonly string[],
  pageId: string | undefined,
): string[] {
  const domains = texts.flatMap((text) => toDomain(text) ?? []);
  const own = domains.indexOf(hostNameOf(ctx.baseUrl));
  if (own !== -1) {
    const detail = "is the host of the public address, where the dashboard and the API are";
    throw invalidFields([{ pointer: `#/custom_domains/${own}`, detail }]);
  }
  if (domains.length === 0) return domains;
  for (const other of listPagesWithDomains(tx, {})) {
    const taken =
      other.id === pageId ? undefined : domains.find((d) => other.customDomains.includes(d));
    if (taken) throw conflict(`The custom domain ${taken} is used by the page ${other.slug}.`);
  }
  return domains;
}

function releaseDefault(ctx: Ctx, tx: Tx): void {
  const holder = findDefaultPage(tx, {});
  if (!holder) return;
  clearDefault(tx, { now: ctx.clock.now() });
  touchPage(ctx, tx, holder.id);
}

function eraseSamples(ctx: Ctx, tx: Tx): void {
  for (const page of listAllPages(tx, {})) {
    if (!page.isSample) continue;
    erasePage(tx, { id: page.id });
    ctx.signals.pageChanged.raise(tx, page.id);
    ctx.signals.addressesChanged.raise(tx);
  }
}

/**
 * Removes a page: it is not found from now on, its slugs are free, and another page becomes the
 * default. Its components, incidents, maintenance, monitors and webhooks are not changed:
 * `deletePage` ends them first. Throws `not_found`.
 */
export function removePage(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  // First, since it raises the content version of the row that is read below.
  touchPage(ctx, tx, id);
  const row = getPage(tx, id);
  const now = ctx.clock.now();
  updatePageRow(tx, {
    ...row,
    isDefault: false,
    networks: [],
    passwordId: null,
    hasLinks: false,
    version: row.version + 1,
    updatedAt: now,
    deletedAt: now,
  });
  deletePageSlugs(tx, { pageId: id });
  deletePagePassword(tx, { pageId: id });
  deletePageLinks(tx, { pageId: id });
  ctx.signals.addressesChanged.raise(tx);
  audit(ctx, tx, actor, "page.delete", row.id, `Deleted the page “${row.name}”`);
  if (row.isDefault) promoteNextDefault(ctx, tx, id);
}

/**
 * Returns the page that becomes the default when a page is removed: the oldest public one, or the
 * oldest private one without any public. Undefined if there is no other page.
 */
export function findNextDefaultPage(reader: Reader, removedId: string): PageRow | undefined {
  const others = listAllPages(reader, {}).filter(({ id }) => id !== removedId);
  return others.findLast(({ visibility }) => visibility === "public") ?? others.at(-1);
}

/** Makes another page the default, which is served at `/`. */
function promoteNextDefault(ctx: Ctx, tx: Tx, removedId: string): void {
  const next = findNextDefaultPage(tx, removedId);
  if (!next) return;
  const now = ctx.clock.now();
  updatePageRow(tx, { ...next, isDefault: true, version: next.version + 1, updatedAt: now });
  touchPage(ctx, tx, next.id);
}

/** An earlier slug of a page, which still leads to it. */
export interface OldSlug {
  slug: string;
  /** Time at which the page got it, in unix ms. */
  createdAt: number;
}

/** Lists the earlier slugs of a page that were not released, newest first. */
export function listOldSlugs(reader: Reader, page: { id: string; slug: string }): OldSlug[] {
  return listSlugsOfPage(reader, { pageId: page.id }).filter(({ slug }) => slug !== page.slug);
}

/**
 * Releases an earlier slug of a page: it no longer leads to the page, and any page may take it.
 * Throws `not_found` for a slug of another page, `conflict` for the current one.
 */
export function releaseSlug(ctx: Ctx, tx: Tx, pageId: string, slug: string, actor: Actor): void {
  const page = getPage(tx, pageId);
  if (slug === page.slug) {
    throw conflict(`The slug ${slug} is the current one and cannot be released.`);
  }
  if (!listOldSlugs(tx, page).some((old) => old.slug === slug)) throw notFound("slug");
  deletePageSlug(tx, { pageId, slug });
  const summary = `Released the old slug ${slug} of the page “${page.name}”`;
  audit(ctx, tx, actor, "page.release_slug", page.id, summary);
  touchPage(ctx, tx, page.id);
  ctx.signals.addressesChanged.raise(tx);
}

const UNKNOWN_PAGE = "is not the slug or id of a page";

/** Query parameter that filters by a page. */
export const PageFilter = {
  page: Type.Optional(
    Text({ maxLength: 100, description: "A page's slug or id. Default: all pages." }),
  ),
};

/**
 * Returns the id of the page that the query parameter `page` names; undefined without the
 * parameter. Throws `invalid_request` for an unknown page.
 */
export function readPageFilter(
  reader: Reader,
  { page }: { page?: string | undefined },
): string | undefined {
  if (page === undefined) return undefined;
  const pageRow = findPageBySlugOrId(reader, page);
  if (!pageRow) throw invalidParameter("page", UNKNOWN_PAGE);
  return pageRow.id;
}

/** Returns the page that the field `page` of a body names. Adds an error if that page does not exist. */
export function findNamedPage(
  reader: Reader,
  errors: FieldErrors,
  slugOrId: string,
): PageRow | undefined {
  const page = findPageBySlugOrId(reader, slugOrId);
  if (!page) errors.add(["page"], UNKNOWN_PAGE);
  return page;
}
