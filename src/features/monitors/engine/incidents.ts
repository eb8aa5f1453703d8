import type { Timer } from "../../../base/clock";
import { badnessOf } from "../../../base/status";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { listIncidentCausesOf } from "../../components/cause-store";
import {
  endOutages,
  hasRoomForOutages,
  hasRoomForUpdate,
  joinAutomatic,
  linkOutage,
  moveDraft,
  openAutomatic,
  type Outage,
  reopenAutomatic,
} from "../../incidents/automatic";
import {
  type AutomaticRow,
  findLastWritten,
  findOpenOutage,
  findOutageOfMonitor,
  listJoinable,
  listOpenOutagesOf,
  listReopenable,
} from "../../incidents/outage-store";
import { columnsChanged } from "../../incidents/rules";
import { findIncident, type IncidentRow } from "../../incidents/store";
import {
  asMarkdown,
  isUpdateDue,
  isStillAutomatic,
  writeDueUpdates,
} from "../../incidents/automatic-updates";
import type { Words } from "../../../languages/words";
import { wordsForPage } from "../../pages/pages";
import { findPage } from "../../pages/store";
import { listRecoveredMonitors, listUnlinkedMonitors } from "../evaluation-store";
import { findOutageStart } from "../spans-store";
import { becauseOf } from "../because";
import { probeOf } from "../probes";
import type { AffectedComponent } from "../records";
import { findMonitor, findMonitorState, listComponentsOfMonitors, type MonitorRow } from "../store";

/** Time after a recovery in which a new outage continues the earlier incident. */
const REOPEN_MS = 30 * MINUTE_MS;
/** Maximum age of the newest update of an incident that can report a further outage. */
const NEWS_MS = DAY_MS;

/** Start of an outage (unix ms) and its observation as publishable text. */
interface Failure {
  at: number;
  publicMessage: string | null;
}

/**
 * Gives an outage of a monitor that is down an incident on each page of its components, unless it has one there. In
 * this order: it is linked to an incident that gives all components its status already; it joins one that Allclear
 * has just opened; it reopens one that has ended within half an hour, or moves an unchanged draft; it opens one.
 * Components that the monitor got during the outage follow the others of their page.
 */
export function openIncidents(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  components: readonly AffectedComponent[],
  failure: Failure,
): void {
  if (monitor.openIncident === "never") return;
  const open = listOpenOutagesOf(tx, { monitorId: monitor.id });
  const pages = Map.groupBy(components, ({ pageId }) => pageId);
  for (const [pageId, ofPage] of pages) {
    const ids = ofPage.map(({ id }) => id);
    const onPage = open.filter((each) => each.pageId === pageId);
    const given = new Set(onPage.map(({ outage }) => outage.componentId));
    const outage = {
      monitorId: monitor.id,
      componentIds: ids.filter((id) => !given.has(id)),
      status: monitor.onDown,
      startedAt: failure.at,
    };
    const [present] = onPage;
    if (outage.componentIds.length === 0) continue;
    if (present) follow(ctx, tx, present.outage.incidentId, outage);
    else place(ctx, tx, monitor, pageId, outage, failure);
  }
}

/** Adds an outage to an incident: as its cause, or without effect if the incident is a person's or deleted. */
function follow(ctx: Ctx, tx: Tx, incidentId: string, outage: Outage): void {
  const incident = findIncident(tx, { id: incidentId });
  const isJoining =
    incident?.row.status !== "resolved" && incident && isStillAutomatic(tx, incident.row);
  if (isJoining) joinAutomatic(ctx, tx, incidentId, outage);
  else linkOutage(tx, incidentId, outage);
}

/** Chooses the incident of an outage on a page. */
function place(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  pageId: string,
  outage: Outage,
  failure: Failure,
): void {
  const now = ctx.clock.now();
  const reported = findReporting(tx, outage, now);
  if (reported !== undefined) {
    follow(ctx, tx, reported, outage);
    return;
  }
  const isDraft = monitor.openIncident === "draft";
  const { componentIds, startedAt } = outage;
  const hasRoom = (incidentId: string) =>
    hasRoomForUpdate(tx, incidentId) && hasRoomForOutages(tx, incidentId, componentIds.length);
  const joinMs = (findPage(tx, { id: pageId })?.joinMinutes ?? 0) * MINUTE_MS;
  // The clock may have been set back since.
  const opened = { pageId, draft: isDraft ? 1 : 0, from: now - joinMs, to: now + joinMs };
  const joinable = listJoinable(tx, opened).find(({ automatic }) => hasRoom(automatic.incidentId));
  if (joinable) {
    joinAutomatic(ctx, tx, joinable.automatic.incidentId, outage);
    return;
  }
  const ended = listReopenable(tx, {
    pageId,
    componentIds: JSON.stringify(componentIds),
    resolvedFrom: startedAt - REOPEN_MS,
  }).find(({ automatic, incident }) => {
    const { incidentId, resolvedAt } = automatic;
    if (incident.draft) {
      return isDraft && !isChanged(incident, automatic) && !findOpenOutage(tx, { incidentId });
    }
    const isOver = incident.status === "resolved";
    // An outage may have begun before the end, and get its incident long after: when its monitor is changed.
    const at = startedAt < (resolvedAt ?? 0) ? now : startedAt;
    const isRecent = resolvedAt !== null && at - resolvedAt < REOPEN_MS;
    if (isOver ? !isRecent : findOpenOutage(tx, { incidentId })) return false;
    // A monitor that opens drafts reopens only incidents that its own outages belong to.
    const isOwn = findOutageOfMonitor(tx, { incidentId, monitorId: monitor.id }) !== undefined;
    return (!isDraft || isOwn) && hasRoom(incidentId);
  });
  const isAgain = ended !== undefined && !ended.incident.draft;
  const words = wordsForPage(tx, pageId);
  const sentence = words.t(isAgain ? "written.failing_again" : "written.failing");
  const body = bodyOf(monitor, sentence, failure, words);
  if (!ended) openAutomatic(ctx, tx, pageId, outage, { isDraft, body });
  else if (ended.incident.draft) moveDraft(ctx, tx, ended.automatic.incidentId, outage, body);
  else reopenAutomatic(ctx, tx, ended.automatic.incidentId, outage, body);
}

/** Returns true if a person has changed a draft without taking it over. Of what people set, Allclear gave it the name. */
function isChanged(incident: IncidentRow, { name }: AutomaticRow): boolean {
  const given: Partial<IncidentRow> = { name };
  return columnsChanged("kept").some((column) => incident[column] !== (given[column] ?? null));
}

/**
 * Finds the newest published open incident that gives every component of an outage at least its status, and that was
 * updated within the last 24 hours.
 */
function findReporting(tx: Tx, { componentIds, status }: Outage, now: number): string | undefined {
  const causes = listIncidentCausesOf(tx, componentIds).filter(
    (cause) => badnessOf(cause.status) >= badnessOf(status),
  );
  const bySource = Map.groupBy(causes, ({ incidentId }) => incidentId);
  return [...bySource]
    .filter(
      ([, own]) => new Set(own.map(({ componentId }) => componentId)).size === componentIds.length,
    )
    .map(([id]) => id)
    .sort()
    .findLast((id) => {
      const row = findIncident(tx, { id })?.row;
      const updatedAt = findLastWritten(tx, { incidentId: id })?.at ?? 0;
      return row !== undefined && row.status !== "resolved" && now - updatedAt < NEWS_MS;
    });
}

/** Ends the outages of a monitor that recovered at `at` (unix ms), and resolves incidents that have no others. */
export function resolveIncidents(ctx: Ctx, tx: Tx, monitor: { id: string }, at: number): void {
  endOutages(ctx, tx, monitor.id, { at, hasLeft: false });
}

/** Ends the outages of a monitor that was paused or deleted at `at` (unix ms), without resolving incidents. */
export function leaveIncidents(ctx: Ctx, tx: Tx, monitor: { id: string }, at: number): void {
  endOutages(ctx, tx, monitor.id, { at, hasLeft: true });
}

/**
 * Adapts the outages of a changed monitor at `at` (unix ms): those of components that it no longer has leave, a
 * status that changed applies from then on, and further components follow if it is down. `before` are its earlier
 * components.
 */
export function refreshOutages(
  ctx: Ctx,
  tx: Tx,
  monitor: MonitorRow,
  { before, now }: { before: readonly { id: string }[]; now: readonly AffectedComponent[] },
  at: number,
): void {
  const { id: monitorId, num: monitorNum, onDown: status } = monitor;
  if (monitor.openIncident === "never") {
    leaveIncidents(ctx, tx, monitor, at);
    return;
  }
  const ids = new Set(now.map(({ id }) => id));
  const left = { at, hasLeft: true };
  endOutages(ctx, tx, monitorId, left, ({ componentId }) => !ids.has(componentId));
  const regraded = listOpenOutagesOf(tx, { monitorId })
    .map(({ outage }) => outage)
    .filter((outage) => outage.status !== status);
  endOutages(ctx, tx, monitorId, left, (outage) => outage.status !== status);
  for (const [incidentId, own] of Map.groupBy(regraded, (outage) => outage.incidentId)) {
    const componentIds = own.map(({ componentId }) => componentId);
    const startedAt = Math.max(at, ...own.map((outage) => outage.startedAt));
    follow(ctx, tx, incidentId, { monitorId, componentIds, status, startedAt });
  }
  if (monitor.paused || findMonitorState(tx, { monitorNum })?.state !== "down") return;
  const kept = new Set(before.map(({ id }) => id));
  const downSince = findOutageStart(tx, { monitorNum })?.startedAt ?? at;
  const [old, added] = [true, false].map((isKept) =>
    now.filter(({ id }) => kept.has(id) === isKept),
  );
  // Components that it had before fail since the start of the outage.
  openIncidents(ctx, tx, monitor, old ?? [], { at: downSince, publicMessage: null });
  openIncidents(ctx, tx, monitor, added ?? [], { at, publicMessage: null });
}

/**
 * Lists the ids of monitors whose state was recorded without its incidents, after a failed write: those that are down
 * without an incident, and those that have recovered.
 */
function listMonitorsToRepair(reader: Reader): string[] {
  const found = [...listRecoveredMonitors(reader, {}), ...listUnlinkedMonitors(reader, {})];
  return found.map(({ id }) => id);
}

/** Gives the outage of such a monitor its incidents, or ends it. */
function repairOutages(ctx: Ctx, tx: Tx, id: string): void {
  const monitor = findMonitor(tx, { id });
  const evaluation = monitor && findMonitorState(tx, { monitorNum: monitor.num });
  if (!evaluation) return;
  const { state, since } = evaluation;
  if (state === "up" || state === "degraded") resolveIncidents(ctx, tx, monitor, since);
  if (state !== "down") return;
  const components = listComponentsOfMonitors(tx, { monitorIds: JSON.stringify([id]) });
  const at = findOutageStart(tx, { monitorNum: monitor.num })?.startedAt ?? since;
  openIncidents(ctx, tx, monitor, components, { at, publicMessage: null });
}

/**
 * Returns the text of an update, only with publishable text, since a draft may be published
 * unchanged.
 */
function bodyOf(
  monitor: MonitorRow,
  sentence: string,
  { publicMessage }: Failure,
  { isEnglish, t }: Words,
): string {
  const because = monitor.type === "upstream" ? becauseOf(monitor.config, publicMessage) : null;
  if (because) {
    const url = because.url.replaceAll("(", "%28").replaceAll(")", "%29");
    return `${sentence}\n\n${t("written.because", { name: `[${asMarkdown(because.name)}](${url})` })}`;
  }
  // Messages of checks are in English.
  const isShown = publicMessage !== null && isEnglish && !probeOf(monitor.type).hasPrivateMessages;
  return isShown ? `${sentence} ${asMarkdown(publicMessage)}` : sentence;
}

/** Interval at which due updates are looked for. */
const TICK_MS = SECOND_MS;
/** Interval at which outages without incidents are looked for. */
const REPAIR_MS = MINUTE_MS;

/**
 * Starts the clock that writes the due updates of incidents which Allclear opened. At the start and once a minute, it
 * repairs outages that were recorded without their incidents. Failed writes are repeated at the next tick.
 */
export function startIncidentClock(ctx: Ctx): Timer {
  let isRunning = false;
  let isCancelled = false;
  let isFailing = false;
  /** Time of the next repair, on the monotonic clock. */
  let repairAt = Number.NEGATIVE_INFINITY;

  async function advance(): Promise<void> {
    let hasMore = isUpdateDue(ctx.db, ctx.clock.now());
    while (hasMore && !isCancelled) hasMore = await ctx.db.write((tx) => writeDueUpdates(ctx, tx));
    const now = ctx.clock.monotonic();
    if (now < repairAt || isCancelled) return;
    repairAt = now + REPAIR_MS;
    for (const id of listMonitorsToRepair(ctx.db)) {
      await ctx.db
        .write((tx) => ctx.outbox.group(tx, () => repairOutages(ctx, tx, id)))
        // One that cannot be repaired must not block the others.
        .catch((error: unknown) =>
          ctx.log.error({ err: error, monitor: id }, "an outage could not be given its incidents"),
        );
    }
  }

  async function tick(): Promise<void> {
    if (isRunning || !ctx.isPrimary()) return;
    isRunning = true;
    try {
      await advance();
      isFailing = false;
    } catch (error) {
      // Logged once per series of failures, which can last for hours.
      if (!isFailing) ctx.log.error({ err: error }, "updates of incidents could not be written");
      isFailing = true;
    } finally {
      isRunning = false;
    }
  }

  void tick();
  const timer = ctx.clock.every(TICK_MS, () => void tick());
  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}
