import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../kernel/time";

const HOUR_MINUTES = HOUR_MS / MINUTE_MS;
const DAY_HOURS = DAY_MS / HOUR_MS;

/**
 * Returns the cron schedule for an interval, rounded to the next shorter one that cron can express.
 * Undefined for less than a minute, which is cron's shortest interval.
 */
export function cronTimes(intervalSeconds: number): string | undefined {
  const minutes = Math.floor((intervalSeconds * SECOND_MS) / MINUTE_MS);
  if (minutes < 1) return undefined;
  if (minutes < HOUR_MINUTES) return `${everyOf(minutes, HOUR_MINUTES)} * * * *`;
  const hours = Math.floor(minutes / HOUR_MINUTES);
  return hours < DAY_HOURS ? `0 ${everyOf(hours, DAY_HOURS)} * * *` : "0 0 * * *";
}

/** Returns a cron step of at most `most` that divides `whole`, so that all intervals are equal. */
function everyOf(most: number, whole: number): string {
  let step = most;
  while (whole % step !== 0) step -= 1;
  return step === 1 ? "*" : `*/${step}`;
}
