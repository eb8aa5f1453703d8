import type { Form } from "../../http";
import { MINUTE_MS } from "../../kernel/time";
import type { Complaints } from "../field-errors";
import { DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";

/** When something is planned and what the clock does of it, as it was typed. */
export interface ScheduleValues {
  /** Moments in UTC as a field has them. */
  scheduledFor: string;
  scheduledUntil: string;
  /** Minutes, or `until` where the end is typed. */
  lasts: string;
  isAutoStart: boolean;
  isAutoComplete: boolean;
  /** Minutes before the beginning, or `never`. */
  remind: string;
}

export const UNTIL = "until";
export const NEVER = "never";

const LATEST_TIME = "9999-12-31T23:59:59.999Z";

/** What was typed, to be shown again. A form without a choice of how long it lasts asks for the end. */
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
 * The times and flags that a form asks for. Whether they can be is for the service to judge, with all
 * that is wrong besides; what is no moment goes on as it was typed.
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

/** The durations that can be chosen, in minutes, as the form sends them. */
export const DURATIONS = ["30", "60", "120", "240", "480"] as const;

function minutesOf(lasts: string): number {
  return DURATIONS.some((duration) => duration === lasts) ? Number(lasts) : Number.NaN;
}

/**
 * What a refusal says of the times, told of the fields that a form has and in its words. The order of the
 * two is judged here too, so that it is told with all that is wrong besides.
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
    told["lasts"] = "Choose how long it lasts.";
  } else if (start !== undefined && ofEnd !== undefined) {
    told["scheduled_for"] ??= "lies too late";
  }
  return { ...rest, ...withoutUndefined(told) };
}

function withoutUndefined(told: Record<string, string | undefined>): Complaints {
  const said = Object.entries(told).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(said);
}
