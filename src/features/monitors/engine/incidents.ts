import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import { SYSTEM_ACTOR } from "../../../domain/actor";
import { MINUTE_MS, toIso } from "../../../kernel/time";
import {
  addUpdate,
  createIncident,
  editUpdate,
  getIncident,
  hasRoomForUpdate,
  updateIncident,
} from "../../incidents";
import { probeOf } from "../probes";
import type { AffectedComponent } from "../records";
import { findIncidentState } from "../evaluation-store";
import {
  findNewestIncidentOf,
  insertMonitorIncident,
  listUnresolvedIncidentsOf,
  type MonitorRow,
  saveMonitorIncident,
} from "../store";

type Services = Pick<AppContext, "baseUrl" | "clock" | "newId" | "outbox" | "signals">;

/** Time after a recovery in which a new outage continues the earlier incident. */
const REOPEN_MS = 30 * MINUTE_MS;

/** Maximum length of an incident's name, in code points. */
const NAME_MAX = 255;

/** Start of an outage (unix ms) and its observation as publishable text. */
interface Failure {
  at: number;
  publicMessage: string | null;
}

/**
 * Opens an incident, or a draft, on each page of the components of a monitor that went down. Its last
 * incident there is used instead if it is still open, or if the monitor resolved it within the last half
 * hour, no one else changed it and it has room for updates. An unchanged draft moves to this outage.
 */
export function openIncidents(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  components: readonly AffectedComponent[],
  failure: Failure,
): void {
  if (monitor.openIncident === "never") return;
  const pages = Map.groupBy(components, ({ pageId }) => pageId);
  for (const [pageId, ofPage] of pages) {
    const last = findNewestIncidentOf(tx, { monitorId: monitor.id, pageId });
    const incident = last && findIncidentState(tx, { id: last.incidentId });
    const isOurs = incident !== undefined && incident.version === last?.version;
    if (incident && incident.status !== "resolved") {
      if (isOurs && incident.draft) moveDraft(ctx, tx, monitor, incident.id, failure);
    } else if (
      isOurs &&
      isRecent(last?.resolvedAt, failure.at) &&
      hasRoomForUpdate(tx, incident.id)
    ) {
      reopen(ctx, tx, monitor, incident.id, failure);
    } else {
      create(ctx, tx, monitor, ofPage, failure);
    }
  }
}

/**
 * Resolves the incidents that the monitor opened when it recovers at `at` (unix ms). Incidents that
 * someone else changed and drafts stay unchanged.
 */
export function resolveIncidents(ctx: Services, tx: Tx, monitor: MonitorRow, at: number): void {
  for (const { incidentId, version } of listUnresolvedIncidentsOf(tx, { monitorId: monitor.id })) {
    const incident = findIncidentState(tx, { id: incidentId });
    if (!incident || incident.draft || incident.version !== version) continue;
    if (incident.status === "resolved") continue;
    const update = { status: "resolved" as const, body: "Automatic checks succeed again." };
    addUpdate(ctx, tx, incidentId, { ...update, ...momentOf(ctx, "display_at", at) }, SYSTEM_ACTOR);
    saveVersion(tx, monitor, incidentId, at);
  }
}

function isRecent(resolvedAt: number | null | undefined, at: number): boolean {
  return typeof resolvedAt === "number" && at - resolvedAt < REOPEN_MS;
}

function create(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  components: readonly AffectedComponent[],
  failure: Failure,
): void {
  const { pageId = "" } = components[0] ?? {};
  const { row } = createIncident(
    ctx,
    tx,
    {
      page: pageId,
      name: incidentName(monitor.name),
      body: bodyOf(monitor, "Automatic checks are failing.", failure),
      components: Object.fromEntries(components.map(({ id }) => [id, monitor.onDown])),
      draft: monitor.openIncident === "draft",
      ...momentOf(ctx, "started_at", failure.at),
    },
    "monitor",
    SYSTEM_ACTOR,
  );
  insertMonitorIncident(tx, {
    monitorId: monitor.id,
    incidentId: row.id,
    pageId,
    version: row.version,
    openedAt: failure.at,
    resolvedAt: null,
  });
}

function reopen(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  incidentId: string,
  failure: Failure,
): void {
  const body = bodyOf(monitor, "Automatic checks are failing again.", failure);
  const update = { status: "investigating" as const, body };
  const moment = momentOf(ctx, "display_at", failure.at);
  addUpdate(ctx, tx, incidentId, { ...update, ...moment }, SYSTEM_ACTOR);
  saveVersion(tx, monitor, incidentId, null);
}

/** Moves a draft to the current outage, so that publishing it does not affect earlier history. */
function moveDraft(
  ctx: Services,
  tx: Tx,
  monitor: MonitorRow,
  incidentId: string,
  failure: Failure,
): void {
  const first = getIncident(tx, incidentId, true).updates.at(-1);
  if (!first) return;
  const body = bodyOf(monitor, "Automatic checks are failing.", failure);
  const began = momentOf(ctx, "display_at", failure.at);
  editUpdate(ctx, tx, incidentId, first.id, { body, ...began }, SYSTEM_ACTOR);
  const start = momentOf(ctx, "started_at", failure.at);
  if (start.started_at !== undefined) updateIncident(ctx, tx, incidentId, start, SYSTEM_ACTOR);
  saveVersion(tx, monitor, incidentId, null);
}

/** Stores the current version of an incident, so that later changes by others are noticed. */
function saveVersion(
  tx: Tx,
  monitor: MonitorRow,
  incidentId: string,
  resolvedAt: number | null,
): void {
  const version = findIncidentState(tx, { id: incidentId })?.version ?? 0;
  saveMonitorIncident(tx, { monitorId: monitor.id, incidentId, version, resolvedAt });
}

/**
 * Returns the time for an incident, or none for the current time if the clock was set back before
 * the incident's times.
 */
function momentOf<Field extends "started_at" | "display_at">(
  ctx: Services,
  field: Field,
  at: number,
): { [F in Field]?: string } {
  const moment: { started_at?: string; display_at?: string } = {};
  if (at <= ctx.clock.now()) moment[field] = toIso(at);
  return moment;
}

function incidentName(name: string): string {
  const ending = " is down";
  return `${[...name].slice(0, NAME_MAX - ending.length).join("")}${ending}`;
}

/**
 * Returns the text of an update, only with publishable text, since a draft may be published
 * unchanged.
 */
function bodyOf(monitor: MonitorRow, sentence: string, { publicMessage }: Failure): string {
  const isShown = publicMessage !== null && !probeOf(monitor.type).hasPrivateMessages;
  return isShown ? `${sentence} ${asMarkdown(publicMessage)}` : sentence;
}

/** Escapes a text for Markdown, on one line. */
function asMarkdown(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .replace(/[\\`*_[\]<>|~]/g, "\\$&");
}
