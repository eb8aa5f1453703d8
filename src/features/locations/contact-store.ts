/* Contact of agents, and the progress of their results, as the engine stores them. */
import { eq, sql } from "drizzle-orm";
import { setBy } from "../../db/rows";
import { mutate } from "../../db/statements";
import { locations } from "../../db/tables/locations";

/** Saves the last request of an agent (unix ms), after which its location is not offline. */
export const saveContact = mutate(
  (orm, $: { id: string; contactAt: number; agentVersion: string }) =>
    orm
      .update(locations)
      .set({ contactAt: $.contactAt, agentVersion: $.agentVersion, offlineSince: sql`NULL` })
      .where(eq(locations.id, $.id)),
);

/** Saves the start of a silence (unix ms) about which people get a message. */
export const saveOffline = setBy(locations, ["id"], ["offlineSince"]);

/** Saves the process of an agent and the number of its last result that was taken. */
export const saveResultsTaken = setBy(locations, ["id"], ["process", "resultsTaken"]);
