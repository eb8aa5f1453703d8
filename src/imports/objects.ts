import { type FieldError, Problem } from "../base/errors";
import { crc32, sha256Hex } from "../base/hash";
import { numberedRef } from "../base/ids";
import type { ImportChange, Imported, ImportTarget } from "../base/import-report";
import { redactText } from "../base/redaction";
import { oneLine, toRef } from "../base/text";
import type { Reader } from "../db/statements";
import {
  type ComponentRow,
  findComponent,
  findGroup,
  type GroupRow,
} from "../features/components/store";
import { findIncident } from "../features/incidents/store";
import { findSchedule } from "../features/maintenance/schedules/records";
import { findMaintenance } from "../features/maintenance/store";
import { findMonitor } from "../features/monitors/store";
import { deleteLogo, putLogo } from "../features/pages/logo";
import { createPage, updatePage } from "../features/pages/pages";
import { DOMAINS_MAX, hostNameOf, toDomain } from "../features/pages/references";
import { isReservedSlug, isTimeZone, JOIN_MINUTES } from "../features/pages/rules";
import {
  findDefaultPage,
  findPage,
  findPageBySlug,
  listAllPages,
  type PageRow,
} from "../features/pages/store";
import { findWebhook } from "../features/webhooks/store";
import type { ForeignKey, FoundObject, FoundPage } from "./found";
import { fitDescription, fitName, takeNumber, textChange } from "./options";
import type { ImportRun, NotedRef } from "./run";

/** Object that one of the source became. */
export interface Written<Row> {
  row: Row;
  /** Differences in addition to those that the importer found. */
  changes?: readonly ImportChange[];
  /** Reason, in one sentence, for which it is switched off until something is done. */
  disabled?: string | undefined;
  /** Reason, in one sentence, for which it cannot be checked. */
  held?: string | undefined;
  /** True if it waits for the start of the import. */
  isWaiting?: boolean;
}

/** Functions that create, find and change objects of one kind. */
export interface Writer<Found, Row> {
  kind: Imported;
  /** Finds an object here; undefined if it was deleted. */
  find(id: string): Row | undefined;
  /** Returns a number that an edit here changes. */
  markOf(row: Row): number;
  /** Returns everything that decides if an object has changed in the source. */
  settingsOf(found: Found): unknown;
  /** Creates an object. Throws a Problem, before it writes, for one that is not valid here. */
  create(found: Found): Written<Row>;
  /** Changes an object that nobody edited here. Throws as `create` does. */
  update(found: Found, before: Row, noted: NotedRef): Written<Row>;
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

/** Objects with a name or a ref, as rows have them. */
type AnyRow = Parameters<typeof targetOf>[1];

/** Imports objects of one kind, in their order: each gets one verdict. */
export function importObjects<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  objects: readonly Found[],
): void {
  for (const found of objects) {
    const { foreign } = found;
    if (run.isReported(foreign)) {
      run.report("not_moved", foreign, { reason: "The source has it twice." });
      continue;
    }
    const noted = run.findRef(foreign);
    if (noted) importAgain(run, writer, found, noted);
    else create(run, writer, found);
  }
}

function create<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  found: Found,
): void {
  const { foreign } = found;
  const written = valueOrReason(() => writer.create(found));
  if (typeof written === "string") {
    run.report("not_moved", foreign, { reason: written });
    return;
  }
  const { row, disabled, held, isWaiting } = written;
  const changes = [...(written.changes ?? []), ...found.changes];
  const settingsHash = run.macOf(writer.settingsOf(found));
  const pausedBy = isWaiting ? run.id : null;
  noteRow(run, writer, found, row, { settingsHash, pausedBy });
  const verdict = changes.length > 0 ? "changed" : "created";
  run.report(held ? "held" : disabled ? "disabled" : verdict, foreign, {
    target: run.newTarget(targetOf(writer.kind, row)),
    changes,
    reason: held ?? disabled ?? null,
  });
}

/** Brings an object of an earlier import up to date, unless it was edited or deleted here. */
function importAgain<Found extends FoundObject<unknown>, Row extends AnyRow>(
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
  const row = writer.find(noted.id);
  if (!row) {
    run.report("kept", foreign, { reason: "It was deleted here." });
    return;
  }
  const target = targetOf(writer.kind, row);
  const isEdited = writer.markOf(row) !== noted.mark;
  const settingsHash = run.macOf(writer.settingsOf(found));
  if (noted.settingsHash.equals(settingsHash)) {
    const completed = writer.complete?.(found, row, isEdited);
    if (completed?.verdict === "updated") noteRow(run, writer, found, completed.row, noted);
    const { verdict = "unchanged", reason = null } = completed ?? {};
    run.report(verdict, foreign, { target, reason });
  } else if (isEdited) {
    run.report("kept", foreign, { target, reason: "It was edited here." });
  } else {
    update(run, writer, found, { row, noted, settingsHash, target });
  }
}

function update<Found extends FoundObject<unknown>, Row extends AnyRow>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  found: Found,
  before: { row: Row; noted: NotedRef; settingsHash: Buffer; target: ImportTarget },
): void {
  const { foreign } = found;
  const { noted, settingsHash } = before;
  const written = valueOrReason(() => writer.update(found, before.row, noted));
  if (typeof written === "string") {
    run.report("kept", foreign, { target: before.target, reason: written });
    return;
  }
  const { row, disabled, held, isWaiting } = written;
  const changes = [...(written.changes ?? []), ...found.changes];
  const pausedBy = isWaiting ? (noted.pausedBy ?? run.id) : null;
  noteRow(run, writer, found, row, { settingsHash, pausedBy });
  run.report(held ? "held" : disabled ? "disabled" : "updated", foreign, {
    target: targetOf(writer.kind, row),
    changes,
    reason: held ?? disabled ?? null,
  });
}

function noteRow<Found extends FoundObject<unknown>, Row extends AnyRow>(
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

/** Longest slug. */
const SLUG_MAX = 63;

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
    settingsOf: ({ body, logo }) => ({ body, logo: logo && sha256Hex(logo) }),
    create(found) {
      const { input, changes } = fit(run, found, undefined);
      const domains = takeDomains(run, found, undefined);
      const holder = findDefaultPage(tx, {});
      const isDefault = found === first && (holder === undefined || holder.isSample);
      const page = createPage(
        ctx,
        tx,
        { ...input, custom_domains: domains.taken, default: isDefault },
        actor,
        { managedBy: "import", canBeDefault: false },
      );
      const ofLogo = writeLogo(run, page, found.logo);
      changes.push(
        ...domains.changes,
        ...ofLogo,
        ...takeNumber(run, "page", page.id, found.number),
      );
      if (found.isDefault && !isDefault) {
        const reason = "There is a default page already.";
        changes.push({ field: "default", from: true, to: false, reason });
      }
      return { row: findPage(tx, page) ?? page, changes };
    },
    update(found, before) {
      const { input, changes } = fit(run, found, before);
      const domains = takeDomains(run, found, before);
      const whole = { ...input, custom_domains: domains.taken };
      const page = updatePage(ctx, tx, before.id, whole, actor);
      changes.push(...domains.changes, ...writeLogo(run, page, found.logo));
      return { row: findPage(tx, page) ?? page, changes };
    },
    complete(found, row, isEdited) {
      const { taken } = takeDomains(run, found, row);
      if (taken.length === row.customDomains.length) return undefined;
      if (isEdited) {
        const reason = "It was edited here, so its custom domains are not taken over.";
        return { row, verdict: "kept", reason };
      }
      const page = updatePage(ctx, tx, row.id, { custom_domains: taken }, actor);
      return { row: page, verdict: "updated", reason: "It got its custom domains." };
    },
  };
}

/** Returns the fields of a page within the limits of this installation. */
function fit({ tx }: ImportRun, { foreign, body }: FoundPage, before: PageRow | undefined) {
  const name = fitName(body.name, foreign.type);
  const description = fitDescription(body.description);
  const slug = freeSlug(body.slug, (desired) => {
    const holder = findPageBySlug(tx, { slug: desired });
    return isReservedSlug(desired) || (holder !== undefined && holder.id !== before?.id);
  });
  const { time_zone: zone = "UTC" } = body;
  const timeZone = isTimeZone(zone) ? zone : "UTC";
  const changes: ImportChange[] = [
    ...name.changes,
    ...description.changes,
    ...textChange("slug", body.slug, slug, "The slug is taken, reserved or not valid."),
    ...textChange("time_zone", zone, timeZone, "The time zone is not known."),
  ];
  const fitted = { name: name.value, description: description.value, slug, time_zone: timeZone };
  return { input: { ...body, ...fitted }, changes };
}

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
  { domains }: FoundPage,
  page: PageRow | undefined,
): { taken: string[]; changes: ImportChange[] } {
  const taken = [...(page?.customDomains ?? [])];
  const changes: ImportChange[] = [];
  const elsewhere = new Set(
    listAllPages(tx, {}).flatMap(({ id, customDomains }) => (id === page?.id ? [] : customDomains)),
  );
  for (const text of domains) {
    const domain = toDomain(text);
    if (domain !== undefined && taken.includes(domain)) continue;
    const reason = problemOf(domain);
    if (reason === undefined && domain !== undefined) taken.push(domain);
    else changes.push({ field: "custom_domains", from: text, to: null, reason: reason ?? "" });
  }
  return { taken, changes };

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

/** Sets or removes the logo. Returns the difference if it cannot be used. */
function writeLogo(
  { ctx, tx, actor }: ImportRun,
  { id, logo: before }: PageRow,
  logo: Uint8Array | null,
): ImportChange[] {
  if (logo === null) {
    if (before !== null) deleteLogo(ctx, tx, id, actor);
    return [];
  }
  const written = valueOrReason(() => putLogo(ctx, tx, id, { bytes: logo }, actor));
  if (typeof written !== "string") return [];
  return [{ field: "logo", from: "set", to: "none", reason: written }];
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
export function idOf(run: ImportRun, key: ForeignKey | null): string | undefined {
  const noted = key === null ? undefined : run.findNoted(key);
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

/** Returns a checksum of the settings of a page, which is the default page or not without having been edited. */
export function pageMark(row: PageRow): number {
  const { slug, name, description, timeZone, locale, visibility, theme, accent } = row;
  const { historyDays, customDomains, logo, compat, mail, joinMinutes } = row;
  const texts = [slug, name, description, timeZone, locale, visibility, theme, accent, logo];
  // Checksums of earlier versions do not have the setting.
  const join = joinMinutes === JOIN_MINUTES ? [] : [joinMinutes];
  return crc32(JSON.stringify([texts, historyDays, customDomains, compat, mail, ...join]));
}

/** Returns a checksum of the settings of a group, which is moved without being edited. */
export function groupMark({ ref, name, description, collapse }: GroupRow): number {
  return crc32(JSON.stringify([ref, name, description, collapse]));
}

/**
 * Returns a checksum of the settings of a component. Its status, its position, and the day from which its uptime is
 * known are none, since incidents, orders and histories set them.
 */
export function componentMark(row: ComponentRow): number {
  const { ref, name, description, groupId, showcase, onlyShowIfDegraded, showLatency, tags } = row;
  const flags = [showcase, onlyShowIfDegraded, showLatency];
  return crc32(JSON.stringify([ref, name, description, groupId, flags, tags]));
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
