/* Pages in the configuration file: their schema, `applyPage` and `exportPage`. */
import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/schema";
import { validate } from "../../base/validation";
import type { Reader, Tx } from "../../db/statements";
import { type ApplyRun, nonDefault, type Path, PreviousRefs, refOf } from "../apply/run";
import { exportComponents, FileComponent, FileGroup } from "../components/file";
import type { ExportedMonitors } from "../monitors/file";
import { fullMailSettings, mailSettingsOf } from "./mail";
import { addPageErrors, createPage, updatePage } from "./pages";
import { toDomain } from "./addresses";
import { compatOf, JOIN_MINUTES } from "./rules";
import { findPageByRef, findPageBySlug, type PageRow } from "./store";
import { PageInput, PartialPageInput } from "./wire";

/** A page in a file, with its groups and its components without a group. */
export const FilePage = Type.Object(
  {
    ...PageInput.properties,
    previous_refs: PreviousRefs,
    previous_slugs: Type.Optional(Type.Array(Text({ maxLength: 63 }))),
    groups: Type.Optional(Type.Array(FileGroup)),
    components: Type.Optional(Type.Array(FileComponent)),
  },
  { additionalProperties: false },
);
export type FilePage = Static<typeof FilePage>;

/** Applies one page. `matched` holds the ids of the pages that earlier entries matched. */
export function applyPage(
  run: ApplyRun,
  desired: FilePage,
  matched: Set<string>,
  path: Path,
): PageRow {
  const { ctx, tx, options } = run;
  const row = findDesiredPage(tx, desired, matched);
  if (row) matched.add(row.id);
  const ref = refOf(desired);
  return run.apply({
    noun: "page",
    label: row?.slug ?? desired.slug,
    address: desired.slug,
    path,
    row,
    current: presentPageFields,
    desired: desiredPage(desired, row ?? { ref, isDefault: false }),
    create: () =>
      createPage(
        ctx,
        tx,
        validate(PageInput, { ...pageFields(desired), ref }, addPageErrors),
        options.actor,
        { managedBy: "apply" },
      ),
    update: (stored, fields) =>
      updatePage(
        ctx,
        tx,
        stored.id,
        validate(PartialPageInput, fields, addPageErrors),
        options.actor,
      ),
  });
}

/** Finds the page of an entry: by its ref, by an earlier ref, or by one of its slugs. */
export function findDesiredPage(
  tx: Tx,
  desired: FilePage,
  matched: ReadonlySet<string>,
): PageRow | undefined {
  const refs = [refOf(desired), ...(desired.previous_refs ?? [])];
  const slugs = [desired.slug, ...(desired.previous_slugs ?? [])];
  const candidates = [
    ...refs.map((ref) => findPageByRef(tx, { ref })),
    ...slugs.map((slug) => findPageBySlug(tx, { slug })),
  ];
  return candidates.find((row) => row !== undefined && !row.isSample && !matched.has(row.id));
}

/** Frees domains that move to another page, so that the order of pages does not matter. */
export function freeMovedDomains(run: ApplyRun, pages: readonly FilePage[]): void {
  const { ctx, tx, options } = run;
  if (pages.every((page) => !page.custom_domains?.length)) return;
  const matched = new Set<string>();
  const entries = pages.map((page, index) => {
    const row = findDesiredPage(tx, page, matched);
    if (row) matched.add(row.id);
    const { custom_domains } = desiredPage(page, row ?? { ref: "", isDefault: false });
    return { row, domains: custom_domains, path: ["pages", index] };
  });
  for (const { row, domains, path } of entries) {
    if (!row) continue;
    const isTaken = (domain: string) =>
      !domains.includes(domain) && entries.some((other) => other.domains.includes(domain));
    run.change({
      noun: "page",
      label: row.slug,
      path,
      row,
      current: (stored) => ({ custom_domains: stored.customDomains }),
      desired: { custom_domains: row.customDomains.filter((domain) => !isTaken(domain)) },
      create: () => row,
      update: (stored, fields) =>
        updatePage(
          ctx,
          tx,
          stored.id,
          validate(PartialPageInput, fields, addPageErrors),
          options.actor,
        ),
    });
  }
}

/** Returns the fields of a page that the page service takes: without its parts and earlier names. */
export function pageFields(page: FilePage): PageInput {
  const { groups: _g, components: _c, previous_refs: _r, previous_slugs: _s, ...fields } = page;
  return fields;
}

/** Returns a page for the file, with its groups, components and monitors. */
export function exportPage(reader: Reader, row: PageRow, monitors: ExportedMonitors): FilePage {
  const current = presentPageFields(row);
  const { slug, name, ref } = current;
  const least = desiredPage({ slug, name }, { ref, isDefault: false });
  const components = exportComponents(reader, row, monitors);
  return { slug, name, ref, ...nonDefault(current, least), ...components };
}

/*
 * Desired and current fields by the names in the file, for comparison. Fields that a file leaves out have their
 * defaults. `Required` makes the compiler report a new field that is missing here.
 */

/**
 * Returns the desired fields of a page. `stored` is the current page, which cannot stop being the
 * default.
 */
function desiredPage(
  page: PageInput,
  stored: Pick<PageRow, "ref" | "isDefault">,
): Required<PageInput> {
  return {
    slug: page.slug,
    name: page.name,
    ref: page.ref ?? stored.ref,
    description: page.description ?? null,
    time_zone: page.time_zone ?? "UTC",
    locale: page.locale ?? "en",
    visibility: page.visibility ?? "public",
    theme: page.theme ?? "system",
    accent: page.accent ?? null,
    history_days: page.history_days ?? 90,
    join_minutes: page.join_minutes ?? JOIN_MINUTES,
    // In the form that is stored.
    custom_domains: (page.custom_domains ?? []).map((text) => toDomain(text) ?? text),
    default: stored.isDefault || (page.default ?? false),
    compat: compatOf(page.compat ?? []),
    mail: fullMailSettings(page.mail),
  };
}

function presentPageFields(row: PageRow): Required<PageInput> {
  return {
    slug: row.slug,
    name: row.name,
    ref: row.ref,
    description: row.description,
    time_zone: row.timeZone,
    locale: row.locale,
    visibility: row.visibility,
    theme: row.theme,
    accent: row.accent,
    history_days: row.historyDays,
    join_minutes: row.joinMinutes,
    custom_domains: row.customDomains,
    default: row.isDefault,
    compat: row.compat,
    mail: mailSettingsOf(row),
  };
}
