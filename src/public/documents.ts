import type { Ctx } from "../context";
import { notFound } from "../base/errors";
import { getIncidentPart } from "../features/incidents/records";
import { presentIncident } from "../features/incidents/wire";
import { getMaintenancePart } from "../features/maintenance/records";
import { presentMaintenance } from "../features/maintenance/model";
import { historyStartOf, readHistory, readOpenIncidents } from "../features/status/history";
import type { Snapshot } from "../features/status/snapshot";
import { type EmbedTheme, renderEmbed } from "./embed";
import { renderHistoryPage } from "./history-page";
import { renderIncidentPage } from "./incident-page";
import { renderMaintenancePage } from "./maintenance-page";
import { formatCursor, monthOf, parseCursor } from "./month";
import { OPEN_SHOWN, renderOpenPage } from "./open-page";
import { contextOf, type Rendering } from "./page-context";
import { UPDATES_MAX } from "./permalink-parts";

/** Number of entries of one page of a month's history. */
const ENTRIES_MAX = 100;

/**
 * Creates the functions that render the documents below a status page. `renderingOf` returns the rendering
 * of a document that an open tab refreshes.
 */
export function createDocuments(ctx: Ctx, renderingOf: (snapshot: Snapshot) => Rendering) {
  /** Throws `not_found` where the page has no such incident, or only a draft of it. */
  function incidentPage(id: string, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const { record, isMore } = getIncidentPart(ctx.db, id, { before, limit: UPDATES_MAX });
    if (record.row.pageId !== document.page.id) throw notFound("incident");
    const incident = presentIncident(record, ctx.baseUrl);
    return renderIncidentPage(document, incident, { before, isMore }, renderingOf(snapshot));
  }

  function maintenancePage(id: string, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const { record, isMore } = getMaintenancePart(ctx.db, id, { before, limit: UPDATES_MAX });
    if (record.row.pageId !== document.page.id) throw notFound("maintenance");
    const maintenance = presentMaintenance(record, ctx.baseUrl);
    return renderMaintenancePage(document, maintenance, { before, isMore }, renderingOf(snapshot));
  }

  /** Throws `not_found` for a month before 1970 or in the future. Without a name it is the present month. */
  function historyPage(name: string | undefined, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const rendering = renderingOf(snapshot);
    const month = monthOf(name, ctx.clock.now(), contextOf(document, rendering).times);
    if (!month) throw notFound("month");
    const { id, created_at: createdAt } = document.page;
    const first = historyStartOf(ctx.db, { id, createdAt: Date.parse(createdAt) });
    const span = { pageId: id, from: month.from, to: month.to, before: parseCursor(before) };
    const { entries, next } = readHistory(ctx.db, span, ENTRIES_MAX);
    const previous = month.from > first ? month.previous : undefined;
    const part = { entries, before, next: next && formatCursor(next) };
    return renderHistoryPage(document, { ...month, previous }, part, rendering);
  }

  function openPage(before: string | undefined, snapshot: Snapshot) {
    const { document, openIncidentCount } = snapshot;
    const query = { pageId: document.page.id, before: parseCursor(before) };
    const { entries, next } = readOpenIncidents(ctx.db, query, OPEN_SHOWN);
    const part = { entries, before, next: next && formatCursor(next) };
    return renderOpenPage(document, openIncidentCount, part, renderingOf(snapshot));
  }

  /** Throws `not_found` for a private page, which no other site may show. */
  function embedPage(theme: EmbedTheme | undefined, snapshot: Snapshot) {
    if (snapshot.document.page.visibility !== "public") throw notFound("page");
    return renderEmbed(snapshot, theme, renderingOf(snapshot));
  }

  return { incidentPage, maintenancePage, historyPage, openPage, embedPage };
}
