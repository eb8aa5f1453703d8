import ical, { ICalEventStatus, ICalEventTransparency } from "ical-generator";
import type { Reader } from "../../db/statements";
import { listMaintenance, listPendingMaintenance } from "../../features/maintenance/lists";
import { type Maintenance, presentMaintenance } from "../../features/maintenance/model";
import type { Page } from "../../features/pages/model";
import type { Snapshot } from "../../features/status/snapshot";
import { HOUR_MS, SECOND_MS } from "../../base/time";
import { withLineFeeds } from "../../base/text";
import { exactTime } from "../../ui/times";
import { printable } from "../printable";
import { MAINTENANCE_WORDS } from "../words";

/** Maximum number of maintenances that have not ended, and of the most recently planned others. */
const UPCOMING_MAX = 500;
const NEWEST_MAX = 100;
/** Maximum length of a description, in code points, and bytes of all descriptions without their links. */
const DESCRIPTION_MAX_LENGTH = 4_000;
const DESCRIPTIONS_MAX_BYTES = 1_048_576;
/** Last time that the format can write: its years have four digits. */
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Returns the maintenance in a page's calendar, ordered by start. Each occurrence of a schedule is an event of
 * its own: a rule of the format (RRULE) cannot express most cron expressions, and each can be changed.
 */
export function listCalendar(reader: Reader, snapshot: Snapshot, baseUrl: string): Maintenance[] {
  const { page, maintenance } = snapshot.document;
  const records = [
    ...listPendingMaintenance(reader, { pageId: page.id, limit: UPCOMING_MAX }),
    ...listMaintenance(reader, { pageId: page.id, isUpcoming: 0, limit: NEWEST_MAX }),
  ];
  const all = [...maintenance, ...records.map((record) => presentMaintenance(record, baseUrl))];
  return [...new Map(all.map((one) => [one.id, one])).values()].sort((a, b) =>
    a.scheduled_for + a.id < b.scheduled_for + b.id ? -1 : 1,
  );
}

/**
 * Writes maintenance as a calendar (RFC 5545). The UID of an event is the id and its SEQUENCE the version
 * of the maintenance, so that calendars follow every change. Cancelled maintenance keeps its event. If all
 * descriptions are too long, those of the earliest maintenance are left out but for their links.
 */
export function writeCalendar(page: Page, maintenances: readonly Maintenance[]): string {
  const calendar = ical({
    prodId: { company: "Allclear", product: "Maintenance", language: "EN" },
    // The library does not escape the texts of the calendar itself.
    name: escapeText(lineOf(page.name)),
    source: `${page.url}/calendar.ics`,
    ttl: HOUR_MS / SECOND_MS,
  });
  let left = DESCRIPTIONS_MAX_BYTES;
  const descriptions = maintenances.toReversed().map((maintenance) => {
    const text = describe(maintenance);
    left -= Buffer.byteLength(text);
    return left < 0 ? maintenance.url : `${text}\n\n${maintenance.url}`;
  });
  for (const maintenance of maintenances) {
    const description = descriptions.pop() ?? maintenance.url;
    calendar.createEvent({
      id: maintenance.id,
      sequence: maintenance.version,
      stamp: maintenance.updated_at,
      created: maintenance.created_at,
      lastModified: maintenance.updated_at,
      start: maintenance.scheduled_for,
      end: wholeSecondAfter(maintenance.scheduled_until),
      summary: lineOf(maintenance.name),
      description: printable(withLineFeeds(description)),
      url: maintenance.url,
      status:
        maintenance.status === "cancelled" ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
      // The event does not mark subscribers as busy.
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  // The library omits the line break at the end.
  return `${calendar.toString()}\r\n`;
}

/** Rounds up to whole seconds, as the format needs them, so that an event never ends at its start. */
function wholeSecondAfter(iso: string): Date {
  const ms = Math.ceil(Date.parse(iso) / SECOND_MS) * SECOND_MS;
  return new Date(Math.min(ms, LAST_SECOND));
}

function describe({ components, truncated, updates }: Maintenance): string {
  const texts = updates.map(
    ({ status, display_at: at, body }) =>
      `${MAINTENANCE_WORDS[status]} · ${exactTime(at)}\n${body}`,
  );
  if (components.length > 0) {
    const names = components.map(({ name }) => name).join(", ");
    texts.unshift(`Affected: ${names}${truncated ? " and more" : ""}`);
  }
  // Enough UTF-16 units to see if there is one code point too many.
  const beginning = texts.join("\n\n").slice(0, 2 * DESCRIPTION_MAX_LENGTH + 2);
  const points = Array.from(beginning);
  const isTruncated = points.length > DESCRIPTION_MAX_LENGTH;
  return points.slice(0, DESCRIPTION_MAX_LENGTH).join("") + (isTruncated ? "…" : "");
}

/** Returns a name on one line: earlier versions accepted other separators of lines in names. */
function lineOf(name: string): string {
  return printable(withLineFeeds(name)).replaceAll("\n", " ");
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&");
}
