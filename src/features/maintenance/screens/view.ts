import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import { renderMaintenancePage } from "../../../public/entry-pages";
import type { Previewed } from "../../../ui/frame/changes";
import { audienceNoteOf, type NotifiedWebhook, readNotified } from "../../timeline/screens/mail";
import { readTimelineView, type TimelineView } from "../../timeline/screens/updates";
import { getMaintenanceRecord } from "../records";
import { findSchedule } from "../schedules/store";
import { type Maintenance, presentMaintenance } from "../wire";

/** One maintenance with the related data that its screens show. */
export interface MaintenanceView extends TimelineView {
  maintenance: Maintenance;
  /** Components of the maintenance that are no longer on the page. */
  missingComponents: Maintenance["components"];
  /** The schedule that made it, if that exists. */
  schedule: { id: string; name: string } | undefined;
  notified: readonly NotifiedWebhook[];
  /** Sentence about the subscribers who get a mail about the next update. */
  audience: string | undefined;
}

/** Audit log actions that write an update. */
const WRITING = ["plan", "add_update", "cancel", "start", "complete"].map(
  (verb) => `maintenance.${verb}`,
);

/** Reads one maintenance. Throws `not_found`. */
export function readMaintenanceView(ctx: Ctx, reader: Reader, id: string): MaintenanceView {
  const record = getMaintenanceRecord(reader, id);
  const maintenance = presentMaintenance(record, ctx.baseUrl);
  const view = readTimelineView(reader, record, WRITING);
  const onPage = new Set(view.components.map((component) => component.id));
  const missingComponents = maintenance.components.filter((component) => !onPage.has(component.id));
  const { pageId } = record.row;
  const notified = readNotified(reader, { pageId, prefix: "maintenance.", subjectId: id });
  // Updates name no component, so the sentence for the present ones is right.
  const audience = audienceNoteOf(ctx, reader, view.page, { id, kind: "maintenance" })?.exact;
  const { scheduleId } = record.row;
  const schedule = scheduleId === null ? undefined : findSchedule(reader, scheduleId)?.row;
  return { maintenance, missingComponents, schedule, notified, audience, ...view };
}

/** Prepares the preview of a maintenance's page, from a transaction that is rolled back. */
export function previewMaintenance({ baseUrl }: Ctx, reader: Reader, id: string): Previewed {
  const record = getMaintenanceRecord(reader, id);
  const maintenance = presentMaintenance(record, baseUrl);
  return {
    pageId: record.row.pageId,
    render: ({ document }) => renderMaintenancePage(document, maintenance),
  };
}
