import { crc32 } from "../base/hash";
import { numberedRef } from "../base/ids";
import type { Imported, ImportTarget } from "../base/import-report";
import { toRef } from "../base/text";
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
import { JOIN_MINUTES } from "../features/pages/rules";
import { findPage, type PageRow } from "../features/pages/store";
import { findWebhook } from "../features/webhooks/store";
import type { ImportRun } from "./run";
import type { ForeignKey } from "./source";

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
