import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import {
  getIncident,
  type Incident,
  presentIncident,
  updateIncident,
} from "../../features/incidents";
import {
  getMonitorRecord,
  listMonitorsOfIncident,
  type MonitorRecord,
  type RecentTimes,
  recentTimesOf,
} from "../../features/monitors";
import { areBuiltInTemplatesHidden } from "../../features/settings";
import { renderIncidentPage } from "../../public/incident-page";
import type { Previewed } from "../preview";
import { type NotifiedWebhook, readNotified } from "../timeline/notified";
import { type AudienceNote, audienceNoteOf } from "../timeline/audience";
import { readTimelineView, type TimelineView } from "../timeline/timeline-view";

/** One incident with the related data that its screens show. */
export interface IncidentView extends TimelineView {
  incident: Incident;
  /** True if the form for the next update offers the built-in templates. */
  offersBuiltIn: boolean;
  /** Monitors that opened the incident, each with its last 24 hours. */
  monitors: readonly DetectingMonitor[];
  notified: readonly NotifiedWebhook[];
  /** Sentences about the subscribers who get a mail about the next update. */
  audience: AudienceNote | undefined;
}

/** Monitor that opened an incident. */
interface DetectingMonitor {
  record: MonitorRecord;
  recent: RecentTimes | undefined;
}

/** Maximum number of monitors that an incident's screen shows. */
const MONITORS_MAX = 10;

/** Audit log actions that write an update. */
const WRITING = ["incident.create", "incident.add_update"];

/** Reads one incident, including a draft. Throws `not_found`. */
export function readIncidentView(
  ctx: Pick<AppContext, "baseUrl" | "clock" | "config" | "db">,
  reader: Reader,
  id: string,
): IncidentView {
  const record = getIncident(reader, id, true);
  const { baseUrl, clock } = ctx;
  const { source, pageId } = record.row;
  const timeline = readTimelineView(reader, record, WRITING);
  return {
    incident: presentIncident(record, baseUrl, true),
    monitors: source === "monitor" ? readMonitors(reader, id, clock.now()) : [],
    notified: readNotified(reader, { pageId, prefix: "incident.", subjectId: id }),
    offersBuiltIn: !areBuiltInTemplatesHidden(reader),
    audience: audienceNoteOf(ctx, reader, timeline.page, { id, kind: "incident" }),
    ...timeline,
  };
}

function readMonitors(reader: Reader, incidentId: string, now: number): DetectingMonitor[] {
  const records = listMonitorsOfIncident(reader, { incidentId, limit: MONITORS_MAX }).map(
    ({ id }) => getMonitorRecord(reader, id),
  );
  const nums = records.map(({ row }) => row.num);
  const recent = recentTimesOf(reader, nums, now);
  return records.map((record) => ({ record, recent: recent.get(record.row.num) }));
}

/**
 * Prepares the preview of an incident's page, from a transaction that is rolled back. A draft is
 * shown as if published.
 */
export function previewIncident(ctx: AppContext, tx: Tx, id: string, actor: Actor): Previewed {
  if (getIncident(tx, id, true).row.draft) updateIncident(ctx, tx, id, { draft: false }, actor);
  const record = getIncident(tx, id, true);
  const incident = presentIncident(record, ctx.baseUrl);
  return {
    pageId: record.row.pageId,
    render: ({ document }) => renderIncidentPage(document, incident),
  };
}
