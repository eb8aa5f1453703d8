import type { Ctx } from "../../src/context";
import { findLocation } from "../../src/features/locations/store";
import type { LocationContext } from "../../src/features/monitors/engine/multi-location";
import type { Monitoring } from "../../src/features/monitors/monitoring";

/** Part of a monitoring about the agents of locations, of which each has just called. */
export const PRESENT_AGENTS = {
  takeResults: async () => {},
  noteCall: () => {},
  presenceOf: () => "present",
  contactAt: () => undefined,
} satisfies Partial<Monitoring>;

/** Locations of the engine that are all in contact. */
export const ALL_PRESENT: LocationContext = {
  presenceOf: () => "present",
  nameOf: (id) => id,
  heardSince: () => 0,
};

/** Part of a monitoring about agents that called last at the time in the database. */
export function storedAgents({
  db,
  clock,
}: Ctx): Omit<typeof PRESENT_AGENTS, "presenceOf"> & Pick<Monitoring, "presenceOf"> {
  return {
    ...PRESENT_AGENTS,
    presenceOf(id) {
      const { contactAt = null } = findLocation(db, { id }) ?? {};
      const ago = contactAt === null ? 0 : clock.now() - contactAt;
      return ago < 90_000 ? "present" : ago < 690_000 ? "silent" : "left_out";
    },
  };
}
