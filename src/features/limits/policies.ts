/**
 * The limits that a request can be counted against, by the name that the `RateLimit` headers give
 * them. `whose` ends the sentence "The limit of … is used up".
 */
export const POLICIES = {
  key: { whose: "the API key" },
  public: { whose: "this address for requests without a valid API key" },
  session: { whose: "this session", perMinute: 600 },
  heartbeat: { whose: "this heartbeat token", perMinute: 60 },
  health: { whose: "this address for health checks", perMinute: 1_200 },
} as const;

export type PolicyName = keyof typeof POLICIES;
