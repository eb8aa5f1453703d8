/*
 * Pages in the configuration file: their schema, `applyPage` and `exportPage`. A password is hashed by
 * `preparePasswords`, before the transaction.
 */
import { type Static, Type } from "@sinclair/typebox";
import { canonicalNetworks } from "../../base/config/parse";
import { conflict, type FieldError } from "../../base/errors";
import { Nullable, Text } from "../../base/schema";
import { ANOTHER_SECRET, SECRET } from "../../base/secrets";
import { schemaErrors, validate } from "../../base/validation";
import type { Reader, Tx } from "../../db/statements";
import {
  type ApplyRun,
  nonDefault,
  type Path,
  type PreparedPassword,
  PreviousRefs,
  refOf,
} from "../apply/run";
import type { Passwords } from "../auth/passwords";
import { exportComponents, FileComponent, FileGroup } from "../components/file";
import type { ExportedMonitors } from "../monitors/file";
import { fullLook, lookOf } from "./look";
import { fullMailSettings, mailSettingsOf } from "./mail";
import { addPageErrors, createPage, updatePage } from "./pages";
import {
  PageNetworks,
  PageNetworksInput,
  PagePasswordInput,
  setPageNetworks,
  setPagePassword,
} from "./access";
import { toDomain } from "./addresses";
import { compatOf, JOIN_MINUTES, languagesOf, localeOf } from "./rules";
import { findPagePassword } from "./access-store";
import { findPageByRef, findPageBySlug, type PageRow } from "./store";
import { PageInput, PartialPageInput } from "./wire";

/** Longest password as it is written, in code points: it may be the name of a variable. */
const PASSWORD_TEXT_MAX = 1_000;

/**
 * Rules for visitors of a private page in a file. A password that is left out stays; null or an empty text removes it.
 * Links are made in the dashboard alone.
 */
const FileAccess = Type.Object(
  {
    password: Type.Optional(Nullable(Text({ maxLength: PASSWORD_TEXT_MAX }))),
    networks: Type.Optional(PageNetworks),
  },
  { additionalProperties: false },
);

/** A page in a file, with its groups and its components without a group. */
export const FilePage = Type.Object(
  {
    ...PageInput.properties,
    access: Type.Optional(FileAccess),
    previous_refs: PreviousRefs,
    previous_slugs: Type.Optional(Type.Array(Text({ maxLength: 63 }))),
    groups: Type.Optional(Type.Array(FileGroup)),
    components: Type.Optional(Type.Array(FileComponent)),
  },
  { additionalProperties: false },
);
export type FilePage = Static<typeof FilePage>;

/** Returns the page with its password replaced by the result of `change`, which receives it and its pointer. */
export function mapPagePassword(
  page: FilePage,
  change: (text: string, at: string) => string,
): FilePage {
  const { access } = page;
  if (typeof access?.password !== "string") return page;
  return { ...page, access: { ...access, password: change(access.password, "#/access/password") } };
}

/** Returns the errors of a page's password, in which variables are replaced. */
export function validatePagePassword({ access }: FilePage): FieldError[] {
  if (!access?.password) return [];
  return schemaErrors(PagePasswordInput, access).map(({ pointer, detail }) => ({
    pointer: `#/access${pointer.slice("#".length)}`,
    detail,
  }));
}

/**
 * Compares the passwords of pages with the stored ones and hashes those that differ. Both take too long for a
 * transaction.
 */
export async function preparePasswords(
  reader: Reader,
  pages: readonly FilePage[],
  passwords: Pick<Passwords, "hash" | "verify">,
): Promise<Map<string, PreparedPassword>> {
  const prepared = new Map<string, PreparedPassword>();
  const matched = new Set<string>();
  for (const page of pages) {
    const row = findDesiredPage(reader, page, matched);
    if (row) matched.add(row.id);
    const password = page.access?.password;
    if (!password) continue;
    const stored = row && findPagePassword(reader, { pageId: row.id })?.hash;
    // One after the other: the queue of verifications has few places.
    // oxlint-disable-next-line no-await-in-loop
    const isStored = stored !== undefined && (await passwords.verify(password, stored));
    // oxlint-disable-next-line no-await-in-loop
    prepared.set(
      page.slug,
      isStored ? { matches: stored } : { hash: await passwords.hash(password) },
    );
  }
  return prepared;
}

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
  const access = run.locatingErrors([...path, "access"], () => planAccess(run, desired, row));
  return run.apply({
    noun: "page",
    label: row?.slug ?? desired.slug,
    address: desired.slug,
    path,
    row,
    current: (stored) => ({ ...presentPageFields(stored), ...access.current }),
    desired: { ...desiredPage(desired, row ?? { ref, isDefault: false }), ...access.desired },
    create() {
      const body = validate(PageInput, { ...pageFields(desired), ref }, addPageErrors);
      const page = createPage(ctx, tx, body, options.actor, { managedBy: "apply" });
      return access.apply(page);
    },
    update(stored, { "access.networks": _n, "access.password": _p, ...fields }) {
      if (Object.keys(fields).length === 0) return access.apply(stored);
      const body = validate(PartialPageInput, fields, addPageErrors);
      return access.apply(updatePage(ctx, tx, stored.id, body, options.actor));
    },
  });
}

/** Rules for visitors, as the plan shows them: a password by a word. */
interface ShownAccess {
  "access.networks": string[];
  "access.password": string | null;
}

/** Returns the rules for visitors of a page, current and desired, and the function that applies them. */
function planAccess({ ctx, tx, options }: ApplyRun, page: FilePage, row: PageRow | undefined) {
  const networks = canonicalNetworks(page.access?.networks ?? []);
  const hash = newHash(tx, page, row, options.passwords.get(page.slug));
  const current: ShownAccess = {
    "access.networks": row?.networks ?? [],
    "access.password": row?.passwordId == null ? null : SECRET,
  };
  const shown = current["access.password"] === null ? SECRET : ANOTHER_SECRET;
  const desired: ShownAccess = {
    "access.networks": networks,
    "access.password":
      hash === undefined ? current["access.password"] : hash === null ? null : shown,
  };
  return {
    current,
    desired,
    apply({ id }: PageRow): PageRow {
      const input = validate(PageNetworksInput, { networks });
      const changed = setPageNetworks(ctx, tx, id, input, options.actor);
      return hash === undefined ? changed : setPagePassword(ctx, tx, id, hash, options.actor);
    },
  };
}

/** Returns the hash of a page's new password; null to remove the password, undefined to keep it. */
function newHash(
  tx: Tx,
  { access }: FilePage,
  row: PageRow | undefined,
  prepared: PreparedPassword | undefined,
): string | null | undefined {
  if (access?.password === undefined) return undefined;
  if (!access.password) return null;
  if (prepared && "hash" in prepared) return prepared.hash;
  const stored = row && findPagePassword(tx, { pageId: row.id })?.hash;
  if (prepared && prepared.matches === stored) return undefined;
  throw conflict("has a password that was changed meanwhile: apply the file again");
}

/** Finds the page of an entry: by its ref, by an earlier ref, or by one of its slugs. */
export function findDesiredPage(
  reader: Reader,
  desired: FilePage,
  matched: ReadonlySet<string>,
): PageRow | undefined {
  const refs = [refOf(desired), ...(desired.previous_refs ?? [])];
  const slugs = [desired.slug, ...(desired.previous_slugs ?? [])];
  const candidates = [
    ...refs.map((ref) => findPageByRef(reader, { ref })),
    ...slugs.map((slug) => findPageBySlug(reader, { slug })),
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
  const {
    groups: _g,
    components: _c,
    previous_refs: _r,
    previous_slugs: _s,
    access: _a,
    ...fields
  } = page;
  return fields;
}

/** Returns a page for the file, with its groups, components and monitors, but without its password and its links. */
export function exportPage(reader: Reader, row: PageRow, monitors: ExportedMonitors): FilePage {
  const current = presentPageFields(row);
  const { slug, name, ref } = current;
  const least = desiredPage({ slug, name }, { ref, isDefault: false });
  const components = exportComponents(reader, row, monitors);
  const { networks } = row;
  const access = networks.length > 0 && { access: { networks } };
  const { look, ...fields } = nonDefault(current, least);
  const shownLook = look && { look: nonDefault(current.look, fullLook(undefined)) };
  return { slug, name, ref, ...fields, ...shownLook, ...access, ...components };
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
    locale: localeOf(page.locale ?? "en"),
    languages: languagesOf(page.languages ?? []),
    visibility: page.visibility ?? "public",
    theme: page.theme ?? "system",
    accent: page.accent ?? null,
    history_days: page.history_days ?? 90,
    join_minutes: page.join_minutes ?? JOIN_MINUTES,
    // In the form that is stored.
    custom_domains: (page.custom_domains ?? []).map((text) => toDomain(text) ?? text),
    default: stored.isDefault || (page.default ?? false),
    compat: compatOf(page.compat ?? []),
    report: page.report ?? "team",
    mail: fullMailSettings(page.mail),
    look: fullLook(page.look),
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
    languages: row.languages,
    visibility: row.visibility,
    theme: row.theme,
    accent: row.accent,
    history_days: row.historyDays,
    join_minutes: row.joinMinutes,
    custom_domains: row.customDomains,
    default: row.isDefault,
    compat: row.compat,
    report: row.report,
    mail: mailSettingsOf(row),
    look: lookOf(row),
  };
}
