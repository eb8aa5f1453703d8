import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import {
  getIncident,
  type Incident,
  presentIncident,
  updateIncident,
} from "../../features/incidents";
import { areBuiltInTemplatesHidden } from "../../features/settings";
import { renderIncidentPage } from "../../public/incident-page";
import type { Previewed } from "../preview";
import { readTimelineView, type TimelineView } from "../timeline/timeline-view";

/** One incident with the related data that its screens show. */
export interface IncidentView extends TimelineView {
  incident: Incident;
  /** True if the form for the next update offers the built-in templates. */
  offersBuiltIn: boolean;
}

/** Audit log actions that write an update. */
const WRITING = ["incident.create", "incident.add_update"];

/** Reads one incident, including a draft. Throws `not_found`. */
export function readIncidentView(
  { baseUrl }: Pick<AppContext, "baseUrl">,
  reader: Reader,
  id: string,
): IncidentView {
  const record = getIncident(reader, id, true);
  return {
    incident: presentIncident(record, baseUrl, true),
    offersBuiltIn: !areBuiltInTemplatesHidden(reader),
    ...readTimelineView(reader, record, WRITING),
  };
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
