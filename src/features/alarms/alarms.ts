import { Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { redactText } from "../../base/redaction";
import { IMPACT_TONES, type Tone, TONES } from "../../base/status";
import { Instant, Nullable, OneOf } from "../../base/schema";
import { MINUTE_MS, SECOND_MS, toIso } from "../../base/time";
import type { Timer } from "../../base/clock";
import { ALARM_KINDS, type AlarmKind, ALARMS } from "./kinds";
import { readStoredAlarms, storeAlarms, type StoredAlarm, type StoredAlarms } from "./store";

/** Time for which a condition must have ended before its alarm does, so that people get few messages. */
const SETTLE_MS = 30 * SECOND_MS;

/**
 * Time after the start in which the alarms of an earlier process must be raised again, or they end. Longer than any
 * condition takes that is not known at once, such as a mirror that is not written for 5 minutes.
 */
const CONFIRM_MS = 7 * MINUTE_MS;

/** Time between attempts to record events while the database takes no changes. */
const RETRY_MS = 10 * SECOND_MS;

/** Maximum length of a detail, in characters. */
const DETAIL_MAX = 1_000;

/** A condition that holds now. */
export interface Alarm {
  kind: AlarmKind;
  name: string;
  tone: Tone;
  /** Sentences about this case. */
  detail: string;
  /** Unix ms. */
  since: number;
}

/** Alarms of this node. Each kind is raised at most once at a time. Nothing here throws or waits. */
export interface Alarms {
  /**
   * Raises an alarm, or replaces the detail of a raised one. `detail` is one or a few sentences without secrets.
   * May be called at each check of the condition.
   */
  raise(kind: AlarmKind, detail: string): void;
  /** Notes that the condition has ended. The alarm ends if it is not raised again for 30 seconds. */
  clear(kind: AlarmKind): void;
  /** Lists the conditions that hold now, worst first, then newest. */
  list(): Alarm[];
  /** Cancels the timers, and waits for a write that has begun. */
  stop(): Promise<void>;
}

interface RaisedAlarm extends StoredAlarm {
  /** True since the condition has ended. */
  isOver: boolean;
  /** Timer that ends the alarm. */
  ending: Timer | undefined;
}

/**
 * Creates the alarms of a process. Beginning and end of each are logged, and recorded as events `fleet.alarm`
 * with a row that survives a restart. While the database takes no changes, events wait in memory.
 */
export function createAlarms(ctx: Ctx): Alarms {
  const { clock, log } = ctx;
  let recorded: StoredAlarms = readStoredAlarms(ctx.db);
  const raised = new Map<AlarmKind, RaisedAlarm>();
  for (const [kind, alarm] of recorded) {
    const ending = clock.after(CONFIRM_MS, () => end(kind));
    raised.set(kind, { ...alarm, isOver: false, ending });
  }
  let writing: Promise<void> | undefined;
  let retry: Timer | undefined;
  let isStopped = false;

  function end(kind: AlarmKind): void {
    const last = raised.get(kind);
    raised.delete(kind);
    const before = recorded.get(kind);
    // Its end has the newest detail.
    if (last && before) recorded = new Map(recorded).set(kind, { ...before, detail: last.detail });
    log.info({ alarm: kind }, `alarm over: ${ALARMS[kind].name}`);
    record();
  }

  /** Records the events of alarms that began or ended since the last write. */
  function record(): void {
    if (isStopped || writing) return;
    const events = changesBetween(recorded, raised);
    if (events.length === 0) return;
    const now = clock.now();
    const next = new Map(
      Array.from(raised, ([kind, { detail, since }]) => [kind, { detail, since }] as const),
    );
    retry?.cancel();
    writing = ctx.db
      .write((tx) => {
        for (const event of events) recordEvent(ctx, tx, event, now);
        storeAlarms(tx, next, now);
      })
      .then(
        () => {
          recorded = next;
          writing = undefined;
          record();
        },
        (error: unknown) => {
          writing = undefined;
          log.warn({ err: error }, "events of alarms could not be recorded; trying again");
          if (!isStopped) retry = clock.after(RETRY_MS, record);
        },
      );
  }

  return {
    raise(kind, text) {
      if (isStopped) return;
      const detail = redactText(text).slice(0, DETAIL_MAX);
      const current = raised.get(kind);
      if (current) {
        current.ending?.cancel();
        Object.assign(current, { detail, isOver: false, ending: undefined });
        return;
      }
      raised.set(kind, { detail, since: clock.now(), isOver: false, ending: undefined });
      log.warn({ alarm: kind, detail }, `alarm: ${ALARMS[kind].name}`);
      record();
    },
    clear(kind) {
      const current = raised.get(kind);
      if (isStopped || !current || current.isOver) return;
      current.ending?.cancel();
      current.isOver = true;
      current.ending = clock.after(SETTLE_MS, () => end(kind));
    },
    list() {
      return Array.from(raised)
        .filter(([, { isOver }]) => !isOver)
        .map(([kind, { detail, since }]): Alarm => {
          const { name, severity } = ALARMS[kind];
          return { kind, name, tone: IMPACT_TONES[severity], detail, since };
        })
        .sort((a, b) => TONES.indexOf(b.tone) - TONES.indexOf(a.tone) || b.since - a.since);
    },
    async stop() {
      isStopped = true;
      retry?.cancel();
      for (const { ending } of raised.values()) ending?.cancel();
      await writing;
    },
  };
}

interface AlarmChange extends StoredAlarm {
  kind: AlarmKind;
  state: "raised" | "cleared";
}

/** Returns the ends and beginnings that lead from the recorded alarms to the present ones. */
function changesBetween(recorded: StoredAlarms, present: StoredAlarms): AlarmChange[] {
  const missingIn = (other: StoredAlarms, alarms: StoredAlarms, state: AlarmChange["state"]) =>
    Array.from(alarms)
      .filter(([kind]) => !other.has(kind))
      .map(([kind, { detail, since }]) => ({ kind, state, detail, since }));
  return [...missingIn(present, recorded, "cleared"), ...missingIn(recorded, present, "raised")];
}

/** The data of an alarm's event. */
export const AlarmEventData = Type.Object(
  {
    kind: OneOf(ALARM_KINDS),
    name: Type.String(),
    severity: OneOf(["minor", "major", "critical"]),
    state: OneOf(["raised", "cleared"]),
    detail: Type.String(),
    since: Instant,
    cleared_at: Nullable(Instant),
    url: Type.String({ description: "Screen with the alarms." }),
  },
  { title: "AlarmEventData" },
);

/** Screen with the alarms. */
const SCREEN = "/admin/settings/fleet";

function recordEvent(
  ctx: Ctx,
  tx: Tx,
  { kind, state, detail, since }: AlarmChange,
  now: number,
): void {
  const { name, severity } = ALARMS[kind];
  ctx.outbox.record(tx, {
    type: "fleet.alarm",
    pageId: null,
    subjectId: kind,
    data: {
      kind,
      name,
      severity,
      state,
      detail,
      since: toIso(since),
      cleared_at: state === "cleared" ? toIso(now) : null,
      url: `${ctx.baseUrl}${SCREEN}`,
    },
  });
}
