import type { Monitor } from "../../features/monitors/model";
import { type MonitorConfig, occurrencesOf, scheduleOf } from "../../features/monitors/probes";
import { invalidFields } from "../../base/errors";
import { choiceField } from "../../ui/forms/fields";
import type { Field } from "../../ui/forms/form";

const TIMINGS = [
  {
    value: "interval",
    label: "At an interval",
    hint: "A call is due each time the interval below has passed since the one before.",
  },
  {
    value: "schedule",
    label: "By a schedule",
    hint: "Calls are due at the times of the cron expression below.",
  },
  {
    value: "none",
    label: "Without a deadline",
    hint: "Only what the job reports changes the state.",
  },
] as const;

/** Ways in which the calls of a job are due. */
export type Timing = (typeof TIMINGS)[number]["value"];

/** Field that decides which of interval and schedule counts. Without a choice, the filled one does. */
export const timingField: Field<string, Timing> = {
  ...choiceField<Timing>({ label: "Expected calls", initial: "interval", options: TIMINGS }),
  toBody: (typed) => TIMINGS.find(({ value }) => value === typed)?.value,
};

/** Interval and config as a form names them. */
interface TypedTiming {
  interval_seconds?: number | null;
  config: MonitorConfig;
}

/** Returns the way in which the calls of a stored job are due. */
export function timingOf({
  interval_seconds: interval,
  config,
}: Pick<Monitor, "interval_seconds" | "config">): Timing {
  if (scheduleOf(config)) return "schedule";
  return interval === null ? "none" : "interval";
}

/**
 * Returns the interval and config of a push monitor with the fields that belong to its timing. `typed` has the
 * fields of a new monitor, or those that change `stored`. Throws `validation_failed` for a typed schedule that
 * would be ignored.
 */
export function chooseTiming(
  timing: Timing,
  typed: TypedTiming,
  stored: Pick<Monitor, "interval_seconds" | "config"> | undefined,
): TypedTiming {
  const { schedule, time_zone: zone, ...config } = typed.config;
  const before = stored ? scheduleOf(stored.config) : undefined;
  if (timing === "schedule") {
    return {
      config: {
        ...config,
        // A missing schedule is rejected by the service.
        ...(schedule === undefined && before ? {} : { schedule: schedule ?? "" }),
        ...(zone === undefined ? {} : { time_zone: zone }),
      },
    };
  }
  if (schedule && !before) {
    const detail = "Select “By a schedule”, or clear the schedule.";
    throw invalidFields([{ pointer: "#/timing", detail }]);
  }
  const { interval_seconds: interval = stored?.interval_seconds } = typed;
  return {
    // A missing interval is rejected by the service.
    interval_seconds: timing === "none" ? null : (interval ?? Number.NaN),
    config: before ? { ...config, schedule: null } : config,
  };
}

/** Number of due calls that the form shows. */
const CALLS_SHOWN = 5;

/** Times at which the calls of a job are due. */
export interface DueCalls {
  /** Unix ms; none without a schedule. */
  times: readonly number[];
  timeZone: string;
}

/** Returns the next times after `now` (unix ms) at which calls are due by a config. */
export function nextCalls(config: MonitorConfig, now: number): DueCalls {
  const { time_zone: timeZone = "UTC" } = scheduleOf(config) ?? {};
  return { timeZone, times: occurrencesOf(config)?.list(now, { count: CALLS_SHOWN }) ?? [] };
}
