import ical, { ICalEventStatus, ICalEventTransparency } from "ical-generator";
import type { Reader } from "../../db";
import { listMaintenance, type Maintenance, presentMaintenance } from "../../features/maintenance";
import type { Page } from "../../features/pages";
import type { Snapshot } from "../../features/status";
import { HOUR_MS, SECOND_MS } from "../../kernel/time";
import { exactTime } from "../../ui";
import { printable } from "../printable";
import { MAINTENANCE_WORDS } from "../words";

/** Maximum number of upcoming maintenances, and of the most recently planned ones in any status. */
const UPCOMING_MAX = 200;
const NEWEST_MAX = 100;
/** In code points. */
const DESCRIPTION_MAX_LENGTH = 4_000;
/** The format writes years with four digits. */
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59);

/** The maintenance that a page's calendar holds, in the order of its time. */
export function listCalendar(reader: Reader, snapshot: Snapshot, baseUrl: string): Maintenance[] {
  const { page, maintenance } = snapshot.document;
  const records = [
    ...listMaintenance(reader, { pageId: page.id, isUpcoming: 1, limit: UPCOMING_MAX }),
    ...listMaintenance(reader, { pageId: page.id, limit: NEWEST_MAX }),
  ];
  const all = [...maintenance, ...records.map((record) => presentMaintenance(record, baseUrl))];
  return [...new Map(all.map((one) => [one.id, one])).values()].sort((a, b) =>
    a.scheduled_for + a.id < b.scheduled_for + b.id ? -1 : 1,
  );
}

/**
 * Maintenance as a calendar (RFC 5545). An event's UID is the maintenance's id and its SEQUENCE the
 * version, so that calendars follow every change; what is cancelled stays, with that status.
 */
export function writeCalendar(page: Page, maintenances: readonly Maintenance[]): string {
  const calendar = ical({
    prodId: { company: "Allclear", product: "Maintenance", language: "EN" },
    // The library writes the calendar's own texts as they are.
    name: escapeText(printable(page.name)),
    source: `${page.url}/calendar.ics`,
    ttl: HOUR_MS / SECOND_MS,
  });
  for (const maintenance of maintenances) {
    calendar.createEvent({
      id: maintenance.id,
      sequence: maintenance.version,
      stamp: maintenance.updated_at,
      created: maintenance.created_at,
      lastModified: maintenance.updated_at,
      start: maintenance.scheduled_for,
      end: wholeSecondAfter(maintenance.scheduled_until),
      summary: printable(maintenance.name),
      description: printable(describe(maintenance)),
      url: maintenance.url,
      status:
        maintenance.status === "cancelled" ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
      // Whoever subscribes is not busy meanwhile.
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  // The last line ends as every line does.
  return `${calendar.toString()}\r\n`;
}

/** The format tells whole seconds; rounded up, what ends in the second of its beginning still ends after it. */
function wholeSecondAfter(iso: string): Date {
  const ms = Math.ceil(Date.parse(iso) / SECOND_MS) * SECOND_MS;
  return new Date(Math.min(ms, LAST_SECOND));
}

function describe({ components, truncated, updates, url }: Maintenance): string {
  const told = updates.map(
    ({ status, display_at: at, body }) =>
      `${MAINTENANCE_WORDS[status]} · ${exactTime(at)}\n${body}`,
  );
  if (components.length > 0) {
    const names = components.map(({ name }) => name).join(", ");
    told.unshift(`Affected: ${names}${truncated ? " and more" : ""}`);
  }
  // Two units each, and one code point more than there is room for.
  const beginning = told.join("\n\n").slice(0, 2 * DESCRIPTION_MAX_LENGTH + 2);
  const points = Array.from(beginning);
  const isCut = points.length > DESCRIPTION_MAX_LENGTH;
  const text = points.slice(0, DESCRIPTION_MAX_LENGTH).join("") + (isCut ? "…" : "");
  return `${text}\n\n${url}`;
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&");
}
