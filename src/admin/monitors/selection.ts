import {
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
  updateMonitor,
} from "../../features/monitors/update";
import { findMonitor, type MonitorRow } from "../../features/monitors/store";
import type { Monitoring } from "../../features/monitors/monitoring";
import type { Ctx } from "../../context";
import type { Actor } from "../../base/actor";
import { TAGS_MAX, withoutTag, withTag } from "../../base/tags";
import type { Tone } from "../../base/status";
import type { Reader, Tx } from "../../db/statements";
import { plural } from "../../base/text";

/** Maximum number of monitors that one form can change. */
export const SELECTION_MAX = 1_000;
/** Monitors changed in one transaction, so that other requests are served in between. */
const PER_WRITE = 10;
/** Chosen monitors that are checked at the same time, in addition to due checks. */
const CHECKS_AT_ONCE = 10;

/**
 * True if a monitor was changed. `full`: it has the maximum number of tags. `unsupported`: this version
 * cannot check its type.
 */
type Result = boolean | "full" | "unsupported";

/** Change of one selected monitor. */
export interface SelectionChange {
  /** Returns true if the monitor was changed, or the reason for which it cannot be. */
  change(ctx: Ctx, tx: Tx, row: MonitorRow, actor: Actor): Result;
  /** Words after "2 monitors are" for changed, unchanged and unreached monitors. */
  words: { done: string; already: string; left: string };
  /** True if a monitor that does not exist any more needs no change, as when a form is repeated. */
  isGoneFine?: boolean;
}

/** Changes by the intent of their button. */
export const CHANGES = {
  pause: {
    change: (ctx, tx, { id, version }, actor) =>
      pauseMonitor(ctx, tx, id, actor).row.version !== version,
    words: { done: "paused", already: "paused already", left: "not paused" },
  },
  resume: {
    change: (ctx, tx, { id, type, version }, actor) =>
      type === "unsupported"
        ? "unsupported"
        : resumeMonitor(ctx, tx, id, actor).row.version !== version,
    words: { done: "resumed", already: "running already", left: "not resumed" },
  },
  delete: {
    change(ctx, tx, { id }, actor) {
      deleteMonitor(ctx, tx, id, actor);
      return true;
    },
    words: { done: "deleted", already: "deleted already", left: "not deleted" },
    isGoneFine: true,
  },
} as const satisfies Record<string, SelectionChange>;

export interface Message {
  tone: Tone;
  text: string;
}

/** Numbers of monitors by result. */
interface Counts {
  done: number;
  /** Had the desired state already. */
  unchanged: number;
  /** Do not exist any more. */
  gone: number;
  /** Have the maximum number of tags. */
  full: number;
  /** Not resumed or checked, since this version cannot check their type. */
  unsupported: number;
  /** Not checked, since they are paused. */
  paused: number;
  /** Not checked, since they wait for heartbeats. */
  push: number;
  /** Not reached, because a write failed. */
  left: number;
}

const noCounts = (): Counts => ({
  done: 0,
  unchanged: 0,
  gone: 0,
  full: 0,
  unsupported: 0,
  paused: 0,
  push: 0,
  left: 0,
});

/** Returns the reason to reject a selection; undefined if there is none. */
export function rejectionOf(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return "Select at least one monitor.";
  if (ids.length > SELECTION_MAX) {
    const most = SELECTION_MAX.toLocaleString("en");
    return `More than ${most} monitors were selected. At most ${most} can be changed at once. Nothing was changed.`;
  }
  return undefined;
}

/** Returns the change that adds or removes a tag. */
export function tagChange(intent: "add" | "remove", tag: string): SelectionChange {
  const isAddition = intent === "add";
  return {
    change(ctx, tx, { id, tags, version }, actor) {
      const changed = isAddition ? withTag(tags, tag) : withoutTag(tags, tag);
      if (changed.length > TAGS_MAX) return "full";
      return updateMonitor(ctx, tx, id, { tags: changed }, actor).row.version !== version;
    },
    words: isAddition
      ? { done: `tagged “${tag}”`, already: `tagged “${tag}” already`, left: "not tagged" }
      : {
          done: `no longer tagged “${tag}”`,
          already: `not tagged “${tag}”`,
          left: "still tagged",
        },
  };
}

/** Returns the monitors that exist, in the order of `ids`. */
export function selectedMonitors(reader: Reader, ids: readonly string[]): MonitorRow[] {
  return ids.map((id) => findMonitor(reader, { id })).filter((row) => row !== undefined);
}

/**
 * Changes monitors, each with its own audit row, a few per transaction. If a later transaction
 * fails, the rest is counted as left. Rejects if the first one fails.
 */
export async function changeMonitors(
  ctx: Ctx,
  ids: readonly string[],
  { change, words, isGoneFine = false }: SelectionChange,
  actor: Actor,
  write: <T>(change: (tx: Tx) => T) => Promise<T>,
): Promise<Message> {
  const counts = noCounts();
  for (let index = 0; index < ids.length; index += PER_WRITE) {
    const part = ids.slice(index, index + PER_WRITE);
    const writing = write((tx) => {
      const rows = selectedMonitors(tx, part);
      const results = rows.map((row) => change(ctx, tx, row, actor));
      const count = (result: Result) => results.filter((each) => each === result).length;
      return {
        found: rows.length,
        changed: count(true),
        full: count("full"),
        unsupported: count("unsupported"),
      };
    });
    if (index === 0) {
      add(counts, part, await writing);
      continue;
    }
    const [result] = await Promise.allSettled([writing]);
    if (result.status === "rejected") {
      counts.left = ids.length - index;
      break;
    }
    add(counts, part, result.value);
  }
  return messageOf(
    isGoneFine ? { ...counts, unchanged: counts.unchanged + counts.gone, gone: 0 } : counts,
    words,
  );
}

function add(
  counts: Counts,
  part: readonly string[],
  {
    found,
    changed,
    full,
    unsupported,
  }: Pick<Counts, "full" | "unsupported"> & {
    found: number;
    changed: number;
  },
): void {
  counts.done += changed;
  counts.unchanged += found - changed - full - unsupported;
  counts.full += full;
  counts.unsupported += unsupported;
  counts.gone += part.length - found;
}

/**
 * Starts checks of monitors and returns without waiting for their results, which may take a minute.
 * Paused monitors and push monitors are counted, not checked.
 */
export function checkMonitors(ctx: Ctx, monitoring: Monitoring, ids: readonly string[]): Message {
  const counts = noCounts();
  const rows: MonitorRow[] = [];
  for (const id of ids) {
    const row = findMonitor(ctx.db, { id });
    if (!row) counts.gone += 1;
    else if (row.type === "push") counts.push += 1;
    else if (row.type === "unsupported") counts.unsupported += 1;
    else if (row.paused) counts.paused += 1;
    else rows.push(row);
  }
  counts.done = rows.length;
  const waiting = rows.values();
  for (let index = 0; index < CHECKS_AT_ONCE; index++) void checkEach(monitoring, waiting);
  return messageOf(counts, { done: "being checked", already: "", left: "not checked" });
}

async function checkEach(monitoring: Monitoring, rows: Iterable<MonitorRow>): Promise<void> {
  for (const { id } of rows) {
    // A check that cannot run, such as while the server stops, has no result to show.
    await Promise.allSettled([monitoring.checkNow(id)]);
  }
}

function messageOf(counts: Counts, words: SelectionChange["words"]): Message {
  const { done, unchanged, gone, full, unsupported, paused, push, left } = counts;
  const are = (count: number) => `${plural(count, "monitor")} ${count === 1 ? "is" : "are"}`;
  const texts = [
    done > 0 ? `${are(done)} ${words.done}.` : undefined,
    unchanged > 0 ? `${are(unchanged)} ${words.already}.` : undefined,
    paused > 0 ? `${are(paused)} paused and not checked.` : undefined,
    unsupported > 0
      ? `${plural(unsupported, "monitor")} ${unsupported === 1 ? "has" : "have"} a type that this version cannot check.`
      : undefined,
    push > 0 ? `${plural(push, "monitor")} cannot be checked, since jobs call them.` : undefined,
    full > 0
      ? `${plural(full, "monitor")} ${full === 1 ? "has" : "have"} ${TAGS_MAX} tags, the maximum.`
      : undefined,
    gone > 0 ? `${plural(gone, "monitor")} no longer exist${gone === 1 ? "s" : ""}.` : undefined,
    left > 0
      ? `${are(left)} ${words.left}, because the change could not be saved. Try again.`
      : undefined,
  ];
  const hasFailed = left + gone + full + unsupported + paused + push > 0;
  const tone = hasFailed ? (done > 0 ? "degraded" : "major") : done > 0 ? "ok" : "maint";
  return { tone, text: texts.filter((text) => text !== undefined).join(" ") };
}
