import type { DayOf } from "../features/components";
import { COMPONENT_STATUSES } from "../domain/component-status";
import { MINUTE_MS, toIso } from "../kernel/time";
import type { StatusDay } from "../ui";

/** The days of a component as they are drawn. */
export function drawDays(days: readonly DayOf[]): StatusDay[] {
  return days.map(({ start, known, noData, time }) => {
    const quiet: StatusDay = {
      day: toIso(start).slice(0, 10),
      status: "operational",
      goodShare: 1,
      minutes: {},
    };
    if (known === 0) return { ...quiet, status: null, goodShare: 0 };
    if (time.operational === known && noData === 0) return quiet;
    return {
      day: quiet.day,
      status: COMPONENT_STATUSES.findLast((status) => time[status] > 0) ?? "operational",
      goodShare: time.operational / (known + noData),
      minutes: minutesOf(time),
      ...(noData > 0 ? { noDataMinutes: Math.ceil(noData / MINUTE_MS) } : {}),
    };
  });
}

/** Begun minutes, so that what lasted seconds does not read as nothing. */
function minutesOf(time: DayOf["time"]): StatusDay["minutes"] {
  const minutes: StatusDay["minutes"] = {};
  for (const status of COMPONENT_STATUSES) {
    if (time[status] > 0) Object.assign(minutes, { [status]: Math.ceil(time[status] / MINUTE_MS) });
  }
  return minutes;
}
