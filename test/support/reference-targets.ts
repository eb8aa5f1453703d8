import type { Egress } from "../../src/egress/egress";
import { Prober } from "../../src/features/monitors/engine/prober";
import type { Stalls } from "../../src/features/monitors/engine/stalls";
import { testConfig } from "./app";
import { createTestClock } from "./clock";
import { testContext } from "./context";

const MONITOR = { id: "mon_1", type: "http", config: {}, timeoutMs: 10_000 } as const;
const FAILED = { outcome: "failed", latencyMs: null, message: "Refused." } as const;

/**
 * Returns a function that runs a failing check of a server with reference targets, and returns true if the server
 * is blamed. `reach` returns true if a target accepts a connection.
 */
export function openReferenceTargets(
  targets: string,
  reach: (host: string, signal: AbortSignal) => Promise<boolean>,
  {
    clock = createTestClock(),
    stalls,
  }: { clock?: ReturnType<typeof createTestClock>; stalls?: Stalls } = {},
) {
  const egress = {
    connect: async ({ host, signal }: { host: string; signal: AbortSignal }) =>
      (await reach(host, signal)) ? { close: () => {} } : { kind: "connect" },
  } as unknown as Egress;
  const config = testConfig({ ALLCLEAR_REFERENCE_TARGETS: targets });
  const prober = new Prober(testContext({ clock, config }), egress, {
    findProbe: () => ({ run: async () => FAILED }),
    ...(stalls && { stalls }),
  });
  const wasLostSince = async (startedAt: number) =>
    (await prober.find(MONITOR, startedAt)).outcome === "unknown";
  return { clock, wasLostSince };
}
