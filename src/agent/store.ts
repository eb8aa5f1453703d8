/* Monitors of an agent, in its database in memory. */
import { deleteBy, listBy } from "../db/rows";
import type { Tx } from "../db/statements";
import { compatNumbers } from "../db/tables/imports";
import { monitors } from "../db/tables/monitors";

/** Lists all monitors. */
export const listAgentMonitors = listBy(monitors, []);

const deleteMonitorRow = deleteBy(monitors, ["id"]);

// Each new monitor gets a number for clients of other products.
const deleteNumber = deleteBy(compatNumbers, ["id"]);

/** Deletes a monitor with its results and its number, so that a later list can add it again. */
export function deleteAgentMonitor(tx: Tx, id: string): void {
  deleteMonitorRow(tx, { id });
  deleteNumber(tx, { id });
}
