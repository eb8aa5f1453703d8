import type { Actor } from "../../../base/actor";
import type { ComponentStatus } from "../../../base/status";
import { composed } from "../../../base/validation";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { renderIncidentPage } from "../../../public/entry-pages";
import { type PageComponents, readPageComponents } from "../../../ui/forms/object-fields";
import type { Previewed } from "../../../ui/frame/changes";
import { incidentPath, INCIDENTS_PATH } from "../../../ui/frame/paths";
import { sumEndedCauses } from "../../components/cause-store";
import { recentTimesOf } from "../../monitors/overview";
import { getMonitorRecord } from "../../monitors/records";
import { getPage } from "../../pages/pages";
import type { PageRow } from "../../pages/store";
import { areBuiltInTemplatesHidden } from "../../settings/settings";
import { type AudienceNote, audienceNoteOf, readNotified } from "../../timeline/screens/mail";
import { readTimelineView, type TimelineView } from "../../timeline/screens/updates";
import { updateIncident } from "../incidents";
import { readOutages } from "../outage-store";
import { getIncident, type IncidentRecord } from "../records";
import { type Incident, presentIncident } from "../wire";
import { type Detected, detectingMonitors } from "./detected-by";

/** One incident with the data that its forms need. */
export interface IncidentForm extends PageComponents {
  incident: Incident;
  page: PageRow;
}

/** Reads one incident for a form, including a draft. Throws `not_found`. */
export function readIncidentForm({ baseUrl }: Ctx, reader: Reader, id: string): IncidentForm {
  const record = getIncident(reader, id, true);
  const { pageId } = record.row;
  return {
    incident: presentIncident(record, baseUrl, true),
    page: getPage(reader, pageId),
    ...readPageComponents(reader, pageId),
  };
}

/** One incident with the related data that its screens show. */
export interface IncidentView extends TimelineView, Detected {
  /** True if the form for the next update offers the built-in templates. */
  offersBuiltIn: boolean;
  /** Sentences about the subscribers who get a mail about the next update. */
  audience: AudienceNote | undefined;
  /** Statuses that a resolved incident gave components, by component id; empty for an open one. */
  spent: ReadonlyMap<string, readonly StatusTime[]>;
}

/** Time for which a component had a status because of an incident, in ms. */
export interface StatusTime {
  status: ComponentStatus;
  ms: number;
}

/** Audit log actions that write an update. */
const WRITING = ["incident.create", "incident.add_update"];

/** Reads one incident with all related data, including a draft. Throws `not_found`. */
export function readIncidentView(ctx: Ctx, reader: Reader, id: string): IncidentView {
  const record = getIncident(reader, id, true);
  const { baseUrl, clock } = ctx;
  const { pageId } = record.row;
  const timeline = readTimelineView(reader, record, WRITING);
  return {
    incident: presentIncident(record, baseUrl, true),
    ...readDetected(reader, record.row, clock.now()),
    notified: readNotified(reader, { pageId, prefix: "incident.", subjectId: id }),
    offersBuiltIn: !areBuiltInTemplatesHidden(reader),
    audience: audienceNoteOf(ctx, reader, timeline.page, { id, kind: "incident" }),
    spent: record.row.resolvedAt === null ? new Map() : readStatusTimes(reader, id),
    ...timeline,
  };
}

function readStatusTimes(reader: Reader, incidentId: string): IncidentView["spent"] {
  const sums = sumEndedCauses(reader, { source: "incident", sourceId: incidentId });
  return Map.groupBy(sums, ({ componentId }) => componentId);
}

/** Reads the monitors of an incident with their outages. */
function readDetected(
  reader: Reader,
  row: IncidentRecord["row"],
  now: number,
): Omit<Detected, "incident" | "notified"> {
  const { outages, ...state } = readOutages(reader, row);
  const monitors = detectingMonitors(outages);
  const [first] = monitors;
  if (!first || first.isDeleted || monitors.length > 1) {
    return { monitors, outages: state, only: undefined };
  }
  const record = getMonitorRecord(reader, first.id);
  const { num } = record.row;
  const only = { record, recent: recentTimesOf(reader, [num], now).get(num) };
  return { monitors, outages: state, only };
}

/**
 * Prepares the preview of an incident's page, from a transaction that is rolled back. A draft is
 * shown as if published.
 */
export function previewIncident(ctx: Ctx, tx: Tx, id: string, actor: Actor): Previewed {
  if (getIncident(tx, id, true).row.draft) {
    updateIncident(ctx, tx, id, composed({ draft: false }), actor);
  }
  const record = getIncident(tx, id, true);
  const incident = presentIncident(record, ctx.baseUrl);
  return {
    pageId: record.row.pageId,
    render: ({ document }) => renderIncidentPage(document, incident),
  };
}

/** Returns the links from the list to an incident, for the screens below it. */
export function incidentCrumbs({ id, name }: { id: string; name: string }) {
  return [
    { href: INCIDENTS_PATH, label: "Incidents" },
    { href: incidentPath(id), label: name },
  ];
}
