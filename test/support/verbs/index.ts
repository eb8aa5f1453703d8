import { ADMINISTERING_VERBS } from "./administering";
import { API_VERBS } from "./api";
import { ARRANGING_VERBS } from "./arranging";
import { TELLING_VERBS } from "./telling";
import type { Verbs } from "./verb";
import { WATCHING_VERBS } from "./watching";

/** Every route that may change something, but for setting up. */
export const VERBS: Verbs = {
  ...API_VERBS,
  ...TELLING_VERBS,
  ...ARRANGING_VERBS,
  ...WATCHING_VERBS,
  ...ADMINISTERING_VERBS,
};
