import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { toIso } from "../../../base/time";
import { findOutageStart } from "../evaluation-store";
import { getMonitorRecord } from "../records";
import { findDueReminder, saveReminder } from "../reminder-store";
import { dataOf, pageIdOf } from "./transitions";

/**
 * Records that a monitor is still down, if its reminder is due at `now` (unix ms). None is due during
 * maintenance, without data or while the monitor is unreachable, since it is in another state then.
 */
export function recordReminder(
  ctx: Ctx,
  tx: Tx,
  monitor: { id: string; num: number },
  now: number,
): void {
  const { id, num: monitorNum } = monitor;
  const due = findDueReminder(tx, { monitorNum, now });
  if (!due) return;
  const count = due.reminders + 1;
  saveReminder(tx, { monitorNum, reminders: count, remindedAt: now });
  const record = getMonitorRecord(tx, id);
  const downSince = findOutageStart(tx, { monitorNum })?.startedAt ?? record.state.since;
  ctx.outbox.record(tx, {
    type: "monitor.reminder",
    pageId: pageIdOf(record),
    subjectId: id,
    data: { monitor: dataOf(record), down_since: toIso(downSince), count },
  });
}
