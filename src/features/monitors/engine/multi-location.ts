import { andList, capitalised } from "../../../base/text";
import { LOCAL, type MonitorState } from "../../../base/status";
import type { Tx } from "../../../db/statements";
import type { Presence } from "../agent-contact";
import { type CheckRow, ofLocations, type Results } from "../checks-store";
import { findFailingParent } from "../dependency-store";
import {
  type EvaluationAt,
  findLastMessage,
  listEvaluationsAt,
  resetLocationStatesOf,
  saveAtLocation,
} from "../location-store";
import {
  type Agreement,
  agreementOf,
  type AtLocation,
  evaluateQuorum,
  hasSaid,
  isCounted,
  unreachableAt,
} from "../quorum";
import {
  countHeldFailures,
  evaluateCheck,
  type Evaluation,
  evaluationOf,
  newEvaluation,
  type Thresholds,
} from "../rules";
import type { Entry } from "./entry";
import type { MultiLocationInMemory } from "./registry";

/*
 * Monitors with other locations than this server: the evaluation at each, and that of all together, in the transaction
 * of the result that changes them. The evaluation of a location knows no parents, except that its failures are counted
 * from zero after the monitor was unreachable.
 */

/** Contact with locations, and their names. */
export interface LocationContext {
  presenceOf(locationId: string): Presence;
  /** Returns the name of a location for people. */
  nameOf(locationId: string): string;
  /** End of the last time in which this server was offline (unix ms): what was seen before counts from then on. */
  heardSince(): number;
}

/** A monitor at one of its locations. */
interface LocationRecord {
  row: EvaluationAt;
  evaluation: Evaluation;
}

/** A monitor at its locations. */
export interface MultiLocation extends Pick<
  MultiLocationInMemory,
  "locations" | "downWhen" | "doubtful"
> {
  /** By the ids of the locations: those that were needed so far. */
  records: Map<string, LocationRecord>;
}

/** Part of the outcome of an entry that concerns monitors with several locations. */
export interface RecordedLocations {
  /** Evaluation at each location after the entry. */
  atLocations?: ReadonlyMap<string, Evaluation> | undefined;
  /** True if the parents must be checked before it counts that enough locations fail. */
  needsParents?: boolean | undefined;
}

/** Reads monitors at those of their locations from which there are entries, by their numbers. */
export function readMultiLocations(
  tx: Tx,
  monitors: ReadonlyMap<number, MultiLocationInMemory>,
  locationIds: ReadonlySet<string>,
): Map<number, MultiLocation> {
  const byNum = new Map<number, MultiLocation>();
  for (const [num, { locations, downWhen, doubtful }] of monitors) {
    byNum.set(num, { downWhen, locations, doubtful, records: new Map() });
  }
  const nums = JSON.stringify([...monitors.keys()]);
  const rows = listEvaluationsAt(tx, { nums, locationIds: JSON.stringify([...locationIds]) });
  for (const row of rows) addRecord(byNum.get(row.monitorNum), row);
  return byNum;
}

/** Reads the other locations of a monitor, of which most entries need nothing. */
function readOtherLocations(tx: Tx, { num }: Written, multiLocation: MultiLocation): void {
  const { locations, records } = multiLocation;
  const missing = locations.filter((id) => !records.has(id));
  if (missing.length === 0) return;
  const nums = JSON.stringify([num]);
  const rows = listEvaluationsAt(tx, { nums, locationIds: JSON.stringify(missing) });
  for (const row of rows) addRecord(multiLocation, row);
}

function addRecord(multiLocation: MultiLocation | undefined, row: EvaluationAt): void {
  // Rows of locations that a monitor has left stay.
  if (!multiLocation?.locations.includes(row.locationId)) return;
  const evaluation = evaluationOf({ ...row, unreachableVia: null });
  multiLocation.records.set(row.locationId, { row, evaluation });
}

/**
 * Returns that on which locations agree, without those that are not counted. `before` is the state of the monitor: one
 * that is down does not come up because more locations would have to fail, of which some have said nothing yet. Doubtful
 * failures bring nothing down, and do not show that anything is up.
 */
export function agreementAt(
  { downWhen, doubtful }: Pick<MultiLocationInMemory, "downWhen" | "doubtful">,
  evaluations: Iterable<readonly [string, AtLocation]>,
  { presenceOf }: Pick<LocationContext, "presenceOf">,
  before: MonitorState,
): Agreement {
  const counted = Array.from(evaluations)
    .filter(([id, each]) => isCounted(each, presenceOf(id)))
    .map(([id, each]): AtLocation => {
      const isDoubtful = each.state === "down" && doubtful.has(id);
      return isDoubtful ? { ...each, state: "unreachable" } : each;
    });
  const known = counted.filter(hasSaid);
  const isJudged = before === "down" && known.some(({ state }) => state !== "no_data");
  return agreementOf(isJudged ? known : counted, downWhen);
}

/** Stores the result of another location. One that is not newer than the previous one is dated right after it. */
export function keepAgentResult(tx: Tx, entry: Entry, record: LocationRecord): CheckRow {
  const { row } = record;
  const check = keepResult(tx, ofLocations, row.num, entry, (row.lastAt ?? -1) + 1);
  row.lastAt = check.at;
  return { ...check, monitorNum: row.monitorNum };
}

/** Stores a result, dated `earliest` (unix ms) if it is older. */
export function keepResult(
  tx: Tx,
  results: Results,
  monitorNum: number,
  { at, outcome, latencyMs, message }: Entry,
  earliest: number,
): CheckRow {
  const check = {
    monitorNum,
    at: Math.max(Math.round(at), earliest),
    outcome,
    latencyMs: latencyMs === null ? null : Math.round(latencyMs),
    message,
  };
  results.insertCheck(tx, check);
  return check;
}

/** Returns the evaluation after an entry: at one location, or of a monitor that only this server checks. */
export function evaluateEntry(
  before: Evaluation,
  entry: Entry,
  { thresholds, at, isInMaintenance }: Pick<Written, "thresholds" | "at" | "isInMaintenance">,
  failingParent: string | undefined,
): Evaluation {
  if (entry.kind === "held") return countHeldFailures(before, thresholds).evaluation;
  const { outcome, latencyMs, isHeld, isDegraded, since, hasBegunInMaintenance = false } = entry;
  const observation = { at, outcome, latencyMs, isHeld, isDegraded, since };
  const isFromMaintenance = hasBegunInMaintenance && before.state === "maintenance";
  // The time in which the server was offline is without data, even during maintenance.
  const isApplied = (isInMaintenance || isFromMaintenance) && entry.kind !== "away";
  return evaluateCheck(before, observation, thresholds, isApplied, failingParent).evaluation;
}

/** A monitor whose entry is written. */
export interface Written {
  id: string;
  num: number;
  evaluation: Evaluation;
  thresholds: Thresholds;
  /** Time of the entry in unix ms, after those before it. */
  at: number;
  isInMaintenance: boolean;
}

/** Evaluation of all locations together, and the text of a new state. */
export interface EvaluatedEntry extends RecordedLocations {
  evaluation: Evaluation;
  message: string | null;
  /** The text that may be published, without locations. */
  publicMessage?: string | undefined;
}

/**
 * Evaluates an entry at its location, and then all locations together. With parents, a monitor fails only by an entry
 * before which they were checked.
 */
export function evaluateMultiLocation(
  tx: Tx,
  entry: Entry,
  multiLocation: MultiLocation,
  monitor: Written,
  locationContext: LocationContext,
): EvaluatedEntry {
  const { records } = multiLocation;
  const { evaluation: before, at, isInMaintenance } = monitor;
  const { scheduled, kind, location = LOCAL } = entry;
  const hasParents = scheduled.parents.length > 0;
  const findParent = () => (hasParents ? findParentOf(tx, monitor, entry) : undefined);
  const record = kind === "quorum" || kind === "maintenance" ? undefined : records.get(location);
  const evaluationBefore = record?.evaluation;
  if (record) evaluateAt(tx, entry, record, monitor, () => findParent()?.id);
  // Most results say what is known.
  const isSame = record !== undefined && record.evaluation === evaluationBefore;
  if (isSame && !hasParents && !isInMaintenance && KNOWN.has(before.state)) {
    return { evaluation: before, message: null };
  }
  readOtherLocations(tx, monitor, multiLocation);
  if (kind === "away" && location === LOCAL) {
    // Other locations are not judged until this server is back.
    const isSame = before.state === "no_data";
    const evaluation = isSame ? before : newEvaluation("no_data", Math.max(at, before.since));
    return { evaluation, atLocations: evaluationsOf(records), message: entry.message };
  }
  // A check that began during maintenance does not count after it.
  const hasBegun = entry.hasBegunInMaintenance === true && before.state === "maintenance";
  const isOver = hasBegun && !isInMaintenance;
  const agreement = agreementAt(
    multiLocation,
    evaluationsOf(records),
    locationContext,
    before.state,
  );
  const isFailing = agreement.failingSince !== undefined && !isInMaintenance;
  const parent = isFailing ? findParent() : undefined;
  const wasDown = before.state === "down";
  const needsParents = isFailing && hasParents && !parent && !wasDown && !entry.hasAskedParents;
  if (isOver || needsParents) {
    return { evaluation: before, atLocations: evaluationsOf(records), message: null, needsParents };
  }
  const evaluation = evaluateQuorum(before, agreement, {
    at,
    notBefore: Math.max(scheduled.multiLocation?.notBefore ?? 0, locationContext.heardSince()),
    isInMaintenance,
    failingParent: parent?.id,
  });
  if (evaluation.state === "maintenance" && before.state !== "maintenance") {
    const monitorNums = JSON.stringify([monitor.num]);
    resetLocationStatesOf(tx, { monitorNums, state: "maintenance", at: evaluation.since });
    for (const each of records.values()) each.evaluation = evaluation;
  }
  if (parent && evaluation.state === "unreachable") {
    for (const each of records.values()) {
      save(tx, each, unreachableAt(each.evaluation, { at, wasDown }));
    }
  }
  const result = { evaluation, atLocations: evaluationsOf(records), message: null };
  if (evaluation.state === before.state) return result;
  if (parent) return { ...result, message: `Unreachable through “${parent.name}”.` };
  const message = messageOf(tx, entry, multiLocation, evaluation.state, locationContext);
  return { ...result, message, publicMessage: publicMessageOf(entry) };
}

/** States that stay as long as nothing changes at any location. */
const KNOWN: ReadonlySet<MonitorState> = new Set(["up", "degraded", "down", "pending"]);

function evaluationsOf(records: MultiLocation["records"]): Map<string, Evaluation> {
  return new Map(Array.from(records, ([id, { evaluation }]) => [id, evaluation]));
}

function findParentOf(tx: Tx, { id: monitorId }: Written, { uncountedParents = [] }: Entry) {
  return findFailingParent(tx, { monitorId, failed: JSON.stringify(uncountedParents) });
}

/** Evaluates an entry at its location alone. */
function evaluateAt(
  tx: Tx,
  entry: Entry,
  record: LocationRecord,
  monitor: Written,
  findParent: () => string | undefined,
): void {
  const before = record.evaluation;
  // A location that was unreachable stays so while a parent fails.
  const isUnreachable =
    entry.kind !== "held" && before.state === "unreachable" && entry.outcome === "failed";
  const unreachableVia = isUnreachable ? findParent() : undefined;
  const known = unreachableVia === undefined ? before : { ...before, unreachableVia };
  const evaluation = evaluateEntry(known, entry, monitor, unreachableVia);
  save(tx, record, evaluation === known ? before : { ...evaluation, unreachableVia: null });
}

function save(tx: Tx, record: LocationRecord, evaluation: Evaluation): void {
  if (evaluation === record.evaluation) return;
  record.evaluation = evaluation;
  saveAtLocation(tx, { ...evaluation, num: record.row.num });
}

/** Returns the text that visitors may read, which names no location. */
function publicMessageOf({ outcome, message, publicMessage }: Entry): string {
  return (outcome === "failed" ? (publicMessage ?? message) : null) ?? "The checks failed.";
}

/** Maximum length of the text of a state, in characters. */
const MESSAGE_MAX = 600;

/** Returns the text of a new state: what each location sees, and the reason of the first one in trouble. */
function messageOf(
  tx: Tx,
  entry: Entry,
  { locations, records }: MultiLocation,
  to: MonitorState,
  { presenceOf, nameOf }: LocationContext,
): string {
  const seen = new Map<string, string[]>();
  const troubles: [id: string, record: LocationRecord][] = [];
  for (const id of locations) {
    const record = records.get(id);
    if (!record) continue;
    const { state, failures } = record.evaluation;
    const isSilent = presenceOf(id) !== "present";
    // A failure that does not count yet is no answer.
    const own = failures > 0 && state !== "no_data" ? SIGHTS.down : SIGHTS[state];
    const sight = isSilent ? "no word from" : own;
    seen.set(sight, [...(seen.get(sight) ?? []), nameOf(id)]);
    if (state === to) troubles.push([id, record]);
  }
  const parts = ORDER.flatMap((sight) => {
    const names = seen.get(sight);
    return names ? [`${sight} ${andList(names)}`] : [];
  });
  const text = parts.join(", ");
  const sentence = `${capitalised(text)}.`;
  const [first] = troubles.sort(([, a], [, b]) => a.evaluation.since - b.evaluation.since);
  const own = first && reasonAt(tx, entry, first);
  return `${sentence}${own ? ` ${own}` : ""}`.slice(0, MESSAGE_MAX).toWellFormed();
}

/** Returns the message of the last result at a location. */
function reasonAt(
  tx: Tx,
  entry: Entry,
  [id, { row }]: [id: string, record: LocationRecord],
): string | null {
  const isOwn = entry.kind === "check" && (entry.location ?? LOCAL) === id;
  return isOwn ? entry.message : findLastMessage(tx, row);
}

/** Beginnings of what a location sees, by the state of a monitor there. */
const SIGHTS: Readonly<Record<MonitorState, string>> = {
  down: "fails from",
  unreachable: "fails from",
  degraded: "degraded from",
  up: "answers from",
  no_data: "no data from",
  pending: "no result from",
  maintenance: "no result from",
  paused: "no result from",
};

const ORDER = [
  "fails from",
  "degraded from",
  "answers from",
  "no data from",
  "no result from",
  "no word from",
] as const;
