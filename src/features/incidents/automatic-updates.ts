/*
 * Updates that Allclear writes to the incidents that it opened: about the components that wait (`writeWaitingUpdate`), at the
 * end of the outages (`resolveIfOver`), and before a person takes an incident over (`takeOver`).
 */
import { SYSTEM_ACTOR } from "../../base/actor";
import { badnessOf, type ComponentStatus } from "../../base/status";
import { MINUTE_MS, toIso } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Words } from "../../languages/words";
import { wordsForPage } from "../pages/pages";
import { NAMED_COMPONENTS_MAX, UPDATE_TEXT_MAX, UPDATES_MAX } from "../timeline/updates";
import {
  type AutomaticRow,
  automationOf,
  findAutomatic,
  findDueIncident,
  findLastRecovery,
  findNewestOutageStart,
  findOpenOutage,
  getAutomatic,
  listMonitorsOfEvents,
  saveAutomatic,
} from "./outage-store";
import { getIncidentRow, listUpdateSummaries, type UpdateSummary } from "./records";
import {
  type Automation,
  causesByUpdates,
  causesOfOutages,
  countNamings,
  NAMINGS_MAX,
} from "./rules";
import { appendUpdate, prepareUpdate } from "./save";
import { findIncident, type IncidentRow } from "./store";
import type { AddUpdateBody } from "./wire";

/** Time for which outages are gathered for one update, after the first that waits. */
const GATHER_MS = MINUTE_MS;
/** Distance of updates that name no further component and no worse status. */
const INTERVAL_MS = 5 * MINUTE_MS;
/** Numbers of updates and of components in them from which Allclear writes none, so that people have room for theirs. */
const WAITING_UPDATE_MAX = {
  updates: UPDATES_MAX - 50,
  namings: NAMINGS_MAX - NAMED_COMPONENTS_MAX,
};
/** Number of components that a text names; further ones are counted. */
const NAMES_MAX = 10;

/** An update about the components that wait. */
interface WaitingUpdate {
  notify: boolean;
  /** True to wait until 5 minutes after the last update if no component is named for the first time or worse. */
  isPaced?: boolean;
  /** Latest time at which it takes effect, in unix ms: not after the update that follows. Absent for now. */
  until?: number | undefined;
  /** True to name only components that no update has named, with the status in their last outage. */
  isFirstNaming?: boolean;
  /** Components whose outages have moved into an incident of their own. Others go on waiting. */
  moved?: ReadonlyMap<string, { name: string }>;
}

/**
 * Writes one update about the components that wait, and none if there are none or if the incident has no room. The
 * rest of more than 1,000 waits for the next update.
 */
export function writeWaitingUpdate(
  ctx: Ctx,
  tx: Tx,
  row: IncidentRow,
  wanted: WaitingUpdate,
): void {
  const automatic = findAutomatic(tx, { incidentId: row.id });
  const automation = automationOf(tx, row);
  if (!automatic || !automation) return;
  const updates = listUpdateSummaries(tx, row.id);
  const all = waitingIn(row, updates, automation, wanted.moved).map((each) =>
    wanted.isFirstNaming === true ? { ...each, present: each.last } : each,
  );
  const waiting = all
    .filter(({ said }) => wanted.isFirstNaming !== true || said === undefined)
    .filter(({ componentId }) => wanted.moved?.has(componentId) !== false)
    .slice(0, NAMED_COMPONENTS_MAX);
  const now = ctx.clock.now();
  const hasRoom =
    updates.length < WAITING_UPDATE_MAX.updates &&
    countNamings(updates) + waiting.length <= WAITING_UPDATE_MAX.namings;
  // Updates from before the clock was set back do not count.
  const writtenAt = updates.map(({ createdAt }) => createdAt).filter((at) => at <= now);
  const pacedAt = waiting.some(isUrgent) ? now : Math.max(...writtenAt) + INTERVAL_MS;
  const isEarly = wanted.isPaced === true && waiting.length > 0 && now < pacedAt;
  const isMore = hasRoom && waiting.length === NAMED_COMPONENTS_MAX;
  const nextDueAt = isEarly ? pacedAt : isMore ? now + GATHER_MS : null;
  const updateDueAt = wanted.moved ? automatic.updateDueAt : nextDueAt;
  if (automatic.updateDueAt !== updateDueAt) saveAutomatic(tx, { ...automatic, updateDueAt });
  if (waiting.length === 0 || !hasRoom || isEarly) return;
  const newest = updates[0]?.displayAt ?? row.startedAt;
  const until = wanted.until ?? now;
  const input = {
    body: bodyOf(waiting, wanted, wordsForPage(tx, row.pageId)),
    components: Object.fromEntries(
      waiting.map(({ componentId, present }) => [componentId, present]),
    ),
    notify: wanted.notify,
    ...displayTime(ctx, Math.max(newest, Math.min(until, now))),
  };
  const about = waiting.map(({ componentId }) => componentId);
  const monitors = listMonitorsOfEvents(tx, {
    incidentId: row.id,
    componentIds: JSON.stringify(about),
  });
  addAutomaticUpdate(ctx, tx, row.id, input, monitors);
}

/** A component of which the updates of an incident do not give the present status. */
interface Waiting {
  componentId: string;
  name: string;
  /** Status that the updates gave it last; undefined if none has named it. */
  said: ComponentStatus | undefined;
  present: ComponentStatus;
  /** Status in its last outage. */
  last: ComponentStatus;
}

/** Returns the components that the next update has to name, with those whose outages have moved. */
function waitingIn(
  { startedAt }: Pick<IncidentRow, "startedAt">,
  updates: readonly UpdateSummary[],
  { outages }: Automation,
  moved: NonNullable<WaitingUpdate["moved"]> = new Map(),
): Waiting[] {
  const { lastStatuses } = causesByUpdates(startedAt, updates);
  const names = new Map(outages.map(({ componentId, name }) => [componentId, name]));
  const deleted = new Set(
    outages.filter(({ isDeleted }) => isDeleted === 1).map(({ componentId }) => componentId),
  );
  const waiting = new Map<string, Waiting>();
  for (const { componentId, status, to } of causesOfOutages(outages)) {
    if (deleted.has(componentId)) continue;
    const said = lastStatuses.get(componentId);
    const present = to === null ? status : "operational";
    const name = names.get(componentId) ?? "";
    waiting.set(componentId, { componentId, name, said, present, last: status });
  }
  for (const [componentId, { name }] of moved) {
    const said = lastStatuses.get(componentId);
    if (said === undefined || waiting.has(componentId)) continue;
    const present = "operational" as const;
    waiting.set(componentId, { componentId, name, said, present, last: present });
  }
  return [...waiting.values()].filter(({ said, present }) => said !== present);
}

/** Returns true for a component that is named for the first time, or that has become worse. */
function isUrgent({ said, present }: Waiting): boolean {
  return said === undefined || badnessOf(present) > badnessOf(said);
}

function bodyOf(
  waiting: readonly Waiting[],
  { isFirstNaming, moved }: WaitingUpdate,
  words: Words,
): string {
  const isMoved = ({ componentId, present }: Waiting) =>
    present === "operational" && moved?.has(componentId) === true;
  const groups = Map.groupBy(waiting, (each) => {
    const { said = "operational", present } = each;
    if (isMoved(each)) return "moved";
    if (isFirstNaming === true) return "failed_too";
    if (present === "operational") return each.said === undefined ? "short" : "recovered";
    if (said === "operational") return "failing_too";
    return badnessOf(present) > badnessOf(said) ? "worse" : "better";
  });
  const body = SENTENCES.flatMap((kind) => {
    const listed = groups.get(kind)?.map(({ name }) => asMarkdown(name));
    if (!listed) return [];
    const names = listInWords(words, listed, NAMES_MAX);
    return words.t(`written.${kind}`, { names, count: listed.length });
  }).join(" ");
  return [...body].slice(0, UPDATE_TEXT_MAX).join("");
}

/** Messages of the sentences of an update, in their order. */
const SENTENCES = [
  "failing_too",
  "worse",
  "failed_too",
  "better",
  "short",
  "recovered",
  "moved",
] as const;

/** Lists names in words: "A, B and C", of more than `most` "A, B and 4 more". `count` is the number of all names. */
export function listInWords(
  { t, lists }: Words,
  names: readonly string[],
  most: number,
  count = names.length,
): string {
  const shown = names.slice(0, count > most ? most - 1 : count);
  const others = count - shown.length;
  const all = others > 0 ? [...shown, t("list.others", { count: others })] : shown;
  return lists().format(all);
}

/** Escapes a text for Markdown, on one line. */
export function asMarkdown(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
      .trim()
      .replace(/[\\`*_[\]<>|~]|&(?=#?\w+;)/g, "\\$&")
      // Starts of headings and lists.
      .replace(/^(\d*)([#+\-.)])/, "$1\\$2")
  );
}

/** Adds an update as Allclear, also to an incident that has no room for one. `monitors` are those that it is about. */
export function addAutomaticUpdate(
  ctx: Ctx,
  tx: Tx,
  incidentId: string,
  input: AddUpdateBody,
  monitors?: ReturnType<typeof listMonitorsOfEvents>,
): void {
  const prepared = prepareUpdate(ctx, tx, incidentId, input, true);
  appendUpdate(ctx, tx, prepared, input, SYSTEM_ACTOR, monitors);
}

/** Returns the time for an update, or none for the current time if the clock was set back before it. Unix ms. */
export function displayTime(ctx: Ctx, at: number): { display_at?: string } {
  return at <= ctx.clock.now() ? { display_at: toIso(at) } : {};
}

/**
 * Plans the next update of an incident: in 60 s if `isSoon`, for components that may be named for the first time or
 * have become worse. Other changes wait until 5 minutes after the newest update, and never longer if the clock was set
 * back.
 */
export function planWaitingUpdate(
  ctx: Ctx,
  tx: Tx,
  automatic: AutomaticRow,
  { isSoon, lastUpdateAt }: { isSoon: boolean; lastUpdateAt: number },
): void {
  const now = ctx.clock.now();
  const soon = now + GATHER_MS;
  const due = isSoon ? soon : Math.max(soon, Math.min(now, lastUpdateAt) + INTERVAL_MS);
  const updateDueAt = Math.min(automatic.updateDueAt ?? Number.POSITIVE_INFINITY, due);
  if (updateDueAt !== automatic.updateDueAt) saveAutomatic(tx, { ...automatic, updateDueAt });
}

/** Returns true if an update is due at `now` (unix ms). */
export function isUpdateDue(reader: Reader, now: number): boolean {
  return findDueIncident(reader, { now, latest: now + INTERVAL_MS }) !== undefined;
}

/** Writes the update that has been due for longest. Returns true if others are due. */
export function writeDueUpdates(ctx: Ctx, tx: Tx): boolean {
  const now = ctx.clock.now();
  const automatic = findDueIncident(tx, { now, latest: now + INTERVAL_MS });
  if (!automatic) return false;
  const row = findIncident(tx, { id: automatic.incidentId })?.row;
  if (row && row.status !== "resolved" && automatic.takenOverAt === null) {
    ctx.outbox.group(tx, () => writeWaitingUpdate(ctx, tx, row, { notify: true, isPaced: true }));
  } else saveAutomatic(tx, { ...automatic, updateDueAt: null });
  return isUpdateDue(tx, now);
}

/**
 * Makes an incident that Allclear opened a person's: while it is open, first writes an update about the components that
 * wait. Returns false for any other incident.
 */
export function takeOver(
  ctx: Ctx,
  tx: Tx,
  row: IncidentRow,
  words: Pick<WaitingUpdate, "notify" | "until">,
): boolean {
  if (!isStillAutomatic(tx, row)) return false;
  if (row.status !== "resolved") writeWaitingUpdate(ctx, tx, row, words);
  const automatic = findAutomatic(tx, { incidentId: row.id });
  if (!automatic) return false;
  // An outage may be dated later if the clock was set back.
  const startedAt = findNewestOutageStart(tx, { incidentId: row.id })?.startedAt ?? 0;
  const takenOverAt = Math.max(ctx.clock.now(), startedAt);
  saveAutomatic(tx, { ...automatic, takenOverAt, updateDueAt: null });
  return true;
}

/** Returns true if Allclear opened an incident and no one has taken it over. */
export function isStillAutomatic(
  reader: Reader,
  { id, source }: Pick<IncidentRow, "id" | "source">,
): boolean {
  if (source !== "monitor") return false;
  return findAutomatic(reader, { incidentId: id })?.takenOverAt === null;
}

/**
 * Resolves a published incident that is Allclear's if all of its outages have ended, at the last recovery. The update
 * names no components, so that no manual status is set. One before it names those that no update has named.
 */
export function resolveIfOver(ctx: Ctx, tx: Tx, incidentId: string): void {
  const { row } = getIncidentRow(tx, incidentId, true);
  if (row.draft || row.status === "resolved" || !isStillAutomatic(tx, row)) return;
  const recoveredAt = findLastRecovery(tx, { incidentId })?.at ?? null;
  if (recoveredAt === null || findOpenOutage(tx, { incidentId })) return;
  writeWaitingUpdate(ctx, tx, row, { notify: false, until: recoveredAt, isFirstNaming: true });
  const newest = listUpdateSummaries(tx, incidentId)[0]?.displayAt ?? row.startedAt;
  const input = {
    status: "resolved" as const,
    body: wordsForPage(tx, row.pageId).t("written.over"),
    ...displayTime(ctx, Math.max(recoveredAt, newest)),
  };
  const monitors = listMonitorsOfEvents(tx, { incidentId, componentIds: null });
  addAutomaticUpdate(ctx, tx, incidentId, input, monitors);
  const automatic = getAutomatic(tx, incidentId);
  saveAutomatic(tx, { ...automatic, resolvedAt: recoveredAt, updateDueAt: null });
}
