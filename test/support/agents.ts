import type { LocationContext } from "../../src/features/monitors/engine/multi-location";

/** Locations of the engine that are all in contact. */
export const ALL_PRESENT: LocationContext = {
  presenceOf: () => "present",
  nameOf: (id) => id,
  heardSince: () => 0,
};
