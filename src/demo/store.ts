/* The history of the demo's monitors. Nothing is hot: each statement runs once per demo, in bulk. */
import { eq } from "drizzle-orm";
import { insertAllInto, mutate } from "../db/statements";
import { componentCauses } from "../db/tables/components";
import {
  heartbeatSignals,
  monitorChecks,
  monitorRollups,
  monitorSpans,
  monitorStates,
} from "../db/tables/monitors";

export type RollupRow = typeof monitorRollups.$inferInsert;

export const insertCauses = insertAllInto(componentCauses);
export const insertChecks = insertAllInto(monitorChecks);
export const insertRollups = insertAllInto(monitorRollups);
export const insertSignals = insertAllInto(heartbeatSignals);
export const insertSpans = insertAllInto(monitorSpans);

/** Sets the state that a monitor has at the end of its history. */
export const saveUp = mutate(
  (
    orm,
    $: { monitorNum: number; since: number; rolledUntil: number; heartbeatAt: number | null },
  ) =>
    orm
      .update(monitorStates)
      .set({
        state: "up",
        since: $.since,
        rolledUntil: $.rolledUntil,
        heartbeatAt: $.heartbeatAt,
      })
      .where(eq(monitorStates.monitorNum, $.monitorNum)),
);
