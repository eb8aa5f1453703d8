import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../kernel/time";

const HOUR_MINUTES = HOUR_MS / MINUTE_MS;
const DAY_HOURS = DAY_MS / HOUR_MS;

/**
 * When cron runs a job that is expected every so many seconds: as often as that where cron can say it,
 * else the next oftener. Undefined where a minute, cron's shortest, is too long.
 */
export function cronTimes(intervalSeconds: number): string | undefined {
  const minutes = Math.floor((intervalSeconds * SECOND_MS) / MINUTE_MS);
  if (minutes < 1) return undefined;
  if (minutes < HOUR_MINUTES) return `${everyOf(minutes, HOUR_MINUTES)} * * * *`;
  const hours = Math.floor(minutes / HOUR_MINUTES);
  return hours < DAY_HOURS ? `0 ${everyOf(hours, DAY_HOURS)} * * *` : "0 0 * * *";
}

/** The longest step that divides the whole, so that the last is no shorter than the others. */
function everyOf(most: number, whole: number): string {
  let step = most;
  while (whole % step !== 0) step -= 1;
  return step === 1 ? "*" : `*/${step}`;
}
