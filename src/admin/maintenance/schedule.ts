import type { Form } from "../../http";
import { MINUTE_MS } from "../../kernel/time";
import type { Complaints } from "../field-errors";
import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";

/** Typed times and automatic steps of a maintenance. */
export interface ScheduleValues {
  /** Field texts in UTC. */
  scheduledFor: string;
  scheduledUntil: string;
  /** Duration in minutes, or `until` if the end is typed. */
  lasts: string;
  isAutoStart: boolean;
  isAutoComplete: boolean;
  /** Minutes before the start, or `never`. */
  remind: string;
}

export const UNTIL = "until";
export const NEVER = "never";

const LATEST_TIME = "9999-12-31T23:59:59.999Z";

/** Reads the typed values. A form without a choice of duration has a planned end. */
export function readSchedule(form: Form): ScheduleValues {
  return {
    scheduledFor: form.text("scheduled_for"),
    scheduledUntil: form.text("scheduled_until"),
    lasts: form.text("lasts") || UNTIL,
    isAutoStart: form.text("auto_start") === "yes",
    isAutoComplete: form.text("auto_complete") === "yes",
    remind: form.text("remind_minutes_before"),
  };
}

/**
 * Converts form values to times and flags. Invalid times are passed on unchanged, so that the
 * service reports all errors together.
 */
export function toSchedule(values: ScheduleValues) {
  const { scheduledFor, remind } = values;
  return {
    scheduled_for: parseDateTimeInput(scheduledFor) ?? scheduledFor,
    scheduled_until: endOf(values),
    auto_start: values.isAutoStart,
    auto_complete: values.isAutoComplete,
    remind_minutes_before: remind === NEVER ? null : Number(remind || Number.NaN),
  };
}

function endOf({ scheduledFor, scheduledUntil, lasts }: ScheduleValues): string {
  if (lasts === UNTIL) return parseDateTimeInput(scheduledUntil) ?? scheduledUntil;
  const start = parseDateTimeInput(scheduledFor);
  // What is complained of is the beginning: some end that nobody minds.
  if (start === undefined) return LATEST_TIME;
  const end = Date.parse(start) + minutesOf(lasts) * MINUTE_MS;
  return Number.isNaN(end) ? start : new Date(end).toISOString();
}

/** Selectable durations in minutes, as form values. */
export const DURATIONS = ["30", "60", "120", "240", "480"] as const;

function minutesOf(lasts: string): number {
  return DURATIONS.some((duration) => duration === lasts) ? Number(lasts) : Number.NaN;
}

/**
 * Assigns the service's errors of the times to the form's fields. Also checks that the end follows
 * the start, so that this error appears together with the others.
 */
export function aboutSchedule(complaints: Complaints, values: ScheduleValues): Complaints {
  const { scheduled_for: ofStart, scheduled_until: ofEnd, ...rest } = complaints;
  const { lasts } = values;
  const [start, end] = [
    parseDateTimeInput(values.scheduledFor),
    parseDateTimeInput(values.scheduledUntil),
  ];
  const told: Record<string, string | undefined> = {
    scheduled_for: start === undefined ? DATE_TIME_ERROR : ofStart,
  };
  if (lasts === UNTIL) {
    told["scheduled_until"] = end === undefined ? DATE_TIME_ERROR : ofEnd;
    if (start !== undefined && end !== undefined && end <= start) {
      told["scheduled_until"] = "must be later than the start";
    }
  } else if (Number.isNaN(minutesOf(lasts))) {
    told["lasts"] = "Select a duration.";
  } else if (start !== undefined && ofEnd !== undefined) {
    told["scheduled_for"] ??= "is too late";
  }
  return { ...rest, ...withoutUndefined(told) };
}

function withoutUndefined(told: Record<string, string | undefined>): Complaints {
  const said = Object.entries(told).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(said);
}
