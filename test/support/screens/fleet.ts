import type { FleetNode } from "../../../src/features/alarms/fleet";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { alarmOf, type TestFleet } from "../test-fleet";
import { inEmpty, type Screen } from "./screen";

const FLEET = "/admin/settings/fleet";

/** Opens a screen of an installation whose fleet has these parts. */
function withParts(parts: (now: number) => Partial<TestFleet>, path = FLEET): Screen["open"] {
  return ({ failing }) => {
    const { fleet, app, session } = failing;
    const nothing = { raised: [], mirror: undefined, cdn: undefined, nodes: undefined };
    Object.assign(fleet, nothing, parts(app.clock.now()));
    app.ctx.db.storage = () => ({ fault: undefined, isDamaged: false });
    return { site: failing, path, session };
  };
}

/** A mirror and a CDN that work. */
const WELL = (now: number): Partial<TestFleet> => ({
  mirror: () => ({ target: "s3://northwind-status/mirror", asOf: now - 18_000, files: 214 }),
  cdn: () => ({ seconds: 300, purgeHost: "api.cdn.example", purgedAt: now - 9 * MINUTE_MS }),
});

const node = (now: number, name: string, own: Partial<FleetNode>): FleetNode => ({
  name,
  role: "replica",
  isEligible: false,
  isSelf: false,
  version: "1.0.0",
  txid: "00000000000a41f2",
  lagSeconds: 0.6,
  seenAt: now - SECOND_MS,
  ...own,
});

/** A mirror that is old, and three nodes of which one is behind and one is gone. */
const TROUBLED = (now: number): Partial<TestFleet> => ({
  raised: [
    alarmOf(
      "lease_renewal",
      "The store has not answered for 12 s: s3://northwind-status/fleet did not answer to PUT within 2 s.",
      now - 12 * SECOND_MS,
    ),
    alarmOf(
      "mirror_stale",
      "The mirror in s3://northwind-status/mirror was last written 7 min ago.",
      now - 2 * MINUTE_MS,
    ),
    alarmOf("replica_lag", "oslo is 14 s behind.", now - 40 * SECOND_MS),
    alarmOf("clock_skew", "The clock of oslo is 2.6 s ahead.", now - 50 * MINUTE_MS),
  ],
  mirror: () => ({
    target: "s3://northwind-status/mirror",
    asOf: now - 7 * MINUTE_MS,
    files: 214,
    error: "s3://northwind-status/mirror did not answer to PUT within 10 s.",
  }),
  cdn: () => ({
    seconds: 300,
    purgeHost: "api.cdn.example",
    error: "api.cdn.example answered 403.",
  }),
  nodes: () => ({
    term: 7,
    store: "s3://northwind-status/fleet",
    failover: "automatic",
    ack: "replicated",
    orphans: [
      { node: "oslo/node_17c3a52f90d4e86b", file: "/data/allclear.db.term-6", events: 14 },
      { node: "trondheim/node_5b0e9d3c71fa2648", file: "/data/allclear.db.term-5", events: 1 },
    ],
    valkey: { address: "valkey.northwind.example:6379", isAvailable: false },
    nodes: [
      node(now, "bergen", { role: "primary", isEligible: true, isSelf: true, lagSeconds: 0 }),
      node(now, "oslo", { isEligible: true, txid: "00000000000a4190", lagSeconds: 14.2 }),
      node(now, "trondheim", { lagSeconds: undefined, seenAt: now - 3 * MINUTE_MS }),
    ],
  }),
});

/** Settings → Fleet, and the alarms on the overview. */
export const FLEET_SCREENS: readonly Screen[] = [
  { name: "fleet-none", open: ({ empty }) => inEmpty(empty, FLEET) },
  { name: "fleet", open: withParts(WELL) },
  { name: "fleet-alarms", open: withParts(TROUBLED) },
  { name: "overview-alarms", open: withParts(TROUBLED, "/admin") },
];
