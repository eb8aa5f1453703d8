/* State of a monitor by what its locations see. Pure; times in unix ms. */
import type { DownWhen } from "../../base/status";
import type { Presence } from "./agent-contact";
import { type Evaluation, newEvaluation } from "./rules";

/** Evaluation of a monitor at one of its locations. */
export type AtLocation = Pick<Evaluation, "state" | "since" | "failures" | "failingSince">;

/** State on which the locations of a monitor agree. */
export interface Agreement {
  /** Undecided if they neither are enough for a trouble nor show that there is none. */
  state: "up" | "degraded" | "down" | "no_data" | "undecided";
  /** Time since which they agree; 0 for `no_data` and `undecided`. */
  since: number;
  /** Time since which enough locations fail, if their failures count yet or not; undefined if fewer do. */
  failingSince: number | undefined;
}

/** Returns the number of locations that must find a monitor down, of those that count. */
function neededOf(downWhen: DownWhen, count: number): number {
  if (downWhen === "any") return 1;
  return downWhen === "all" ? count : Math.floor(count / 2) + 1;
}

/**
 * Returns true if a location counts in the number of which enough are needed: it is not left out, and is in contact or
 * has said something.
 */
export function isCounted(at: Pick<AtLocation, "state">, presence: Presence): boolean {
  return presence === "present" || (presence === "silent" && hasSaid(at));
}

/** Returns true if a location has said something that counts. */
export function hasSaid({ state }: Pick<AtLocation, "state">): boolean {
  return state !== "pending" && state !== "maintenance";
}

/**
 * Returns the state of a monitor by its locations that count, of which those without data do not. Dates the state from
 * the first time since which enough locations agree without a break.
 */
export function agreementOf(locations: readonly AtLocation[], downWhen: DownWhen): Agreement {
  const known = locations.filter(({ state }) => state !== "no_data");
  if (known.length === 0) return { state: "no_data", since: 0, failingSince: undefined };
  const neededAt = (t: number) =>
    neededOf(
      downWhen,
      locations.filter((each) => each.state !== "no_data" || each.since > t).length,
    );
  const times = locations.map(({ since }) => since);
  /** Returns the time since which enough locations are in trouble, each since its own time. */
  const sinceEnough = (troubles: readonly number[]) =>
    firstSince(
      [...times, ...troubles],
      (t) => troubles.filter((at) => at <= t).length >= neededAt(t),
    );
  const timesIn = (...states: readonly Evaluation["state"][]) =>
    known.filter(({ state }) => states.includes(state)).map(({ since }) => since);

  const failingSince = sinceEnough(known.flatMap(failingTimeOf));
  const down = timesIn("down");
  const downSince = sinceEnough(down);
  if (downSince !== undefined) return { state: "down", since: downSince, failingSince };
  const undecided = { state: "undecided", since: 0, failingSince } as const;
  // Those that were unreachable have yet to answer, or to fail for good.
  const out = timesIn("down", "unreachable");
  if (out.length >= neededAt(Number.POSITIVE_INFINITY)) return undecided;
  const badSince = sinceEnough(timesIn("down", "degraded"));
  if (badSince !== undefined) return { state: "degraded", since: badSince, failingSince };
  const good = timesIn("up", "degraded");
  const goodSince = firstSince(times, (t) => {
    const notYet = good.filter((at) => at > t).length;
    return notYet < good.length && out.length + notYet < neededAt(t);
  });
  return goodSince === undefined ? undecided : { state: "up", since: goodSince, failingSince };
}

/** Returns the start of the failures of a location, in a list; none if it does not fail. */
function failingTimeOf({ state, since, failures, failingSince }: AtLocation): number[] {
  if (state === "down") return [since];
  return failures > 0 || state === "unreachable" ? [failingSince ?? since] : [];
}

/** Returns the first of some times from which on something has held at all of them; undefined if it does not now. */
function firstSince(times: readonly number[], holds: (t: number) => boolean): number | undefined {
  let first: number | undefined;
  for (const time of [...times].sort((a, b) => b - a)) {
    if (!holds(time)) break;
    first = time;
  }
  return first;
}

/** Time of a change at a location, and what else decides. */
interface ChangeContext {
  /** Time of the result, or of another change. */
  at: number;
  /**
   * Time before which no state begins by what was seen earlier, such as the last change of the locations that count.
   */
  notBefore: number;
  isInMaintenance: boolean;
  /** Id of a parent that fails. */
  failingParent?: string | undefined;
}

/**
 * Returns the evaluation of a monitor with several locations after a change at one of them, or the same object.
 * Undecided locations leave the state as it is, and a monitor pending after maintenance, a pause or a time without
 * data. With a failing parent it is unreachable as soon as enough locations fail.
 */
export function evaluateQuorum(
  before: Evaluation,
  { state, since, failingSince }: Agreement,
  { at, notBefore, isInMaintenance, failingParent }: ChangeContext,
): Evaluation {
  const isFailing = failingSince !== undefined;
  const unreachableVia = isFailing && !isInMaintenance ? (failingParent ?? null) : null;
  const wasWatching = isWatching(before.state);
  const to = isInMaintenance
    ? "maintenance"
    : unreachableVia !== null
      ? "unreachable"
      : state !== "undecided"
        ? state
        : wasWatching
          ? before.state
          : "pending";
  const via = to === "unreachable" ? (unreachableVia ?? before.unreachableVia) : null;
  // No known state is without length.
  const wasKnown = before.state === "up" || before.state === "degraded" || before.state === "down";
  const earliest = Math.max(before.since + (wasKnown ? 1 : 0), notBefore);
  const now = Math.max(at, earliest);
  const begun = to === "unreachable" ? (failingSince ?? at) : since;
  const canBeEarlier =
    wasWatching && isWatching(to) && !(before.state === "down" && to === "unreachable");
  const from = canBeEarlier && begun >= earliest ? begun : now;
  const counts = to !== "down" && to !== "unreachable" && to !== "maintenance" && isFailing;
  const after: Evaluation = {
    ...newEvaluation(to, to === before.state ? before.since : from),
    failures: counts ? 1 : 0,
    failingSince: counts ? failingSince : null,
    unreachableVia: via,
  };
  return Bun.deepEquals(before, after) ? before : after;
}

function isWatching(state: Evaluation["state"]): boolean {
  return state !== "maintenance" && state !== "no_data" && state !== "paused";
}

/**
 * Returns the evaluation of a failing location of a monitor that is unreachable: its failures are counted from zero
 * when no parent fails any longer, and an outage that they confirm starts with the first of all.
 */
export function unreachableAt(
  before: Evaluation,
  { at, wasDown }: { at: number; wasDown: boolean },
): Evaluation {
  const [failingSince] = failingTimeOf(before);
  if (failingSince === undefined || before.state === "unreachable") return before;
  const startedAt = wasDown ? Math.max(at, before.since) : failingSince;
  return { ...newEvaluation("unreachable", startedAt), failingSince: startedAt };
}
