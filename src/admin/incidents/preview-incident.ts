import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { getIncident, presentIncident, updateIncident } from "../../features/incidents";
import type { Actor } from "../../domain/actor";
import { renderIncidentPage } from "../../public/incident-page";
import type { Previewed } from "../preview";

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
