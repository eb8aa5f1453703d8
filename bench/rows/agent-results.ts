import { statSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import {
  AGENT_VERSION,
  type AgentResult,
  RESULTS_PATH,
} from "../../src/features/locations/agent-wire";
import { createLocation } from "../../src/features/locations/locations";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { VERSION } from "../../src/version";
import { updateMonitor } from "../../test/support/examined";
import { type Figure, rounded } from "../support/figure";
import { openData } from "../support/open-data";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import { seedMonitors } from "../support/watching";
import type { Workspace } from "../support/workspace";

const MONITORS = 1_000;
const LOCATIONS = ["Berlin", "Oregon", "Tokyo"] as const;
const INTERVAL_SECONDS = 60;
/** Results of one location in one second. */
const BATCH = Math.round(MONITORS / INTERVAL_SECONDS);
/** Times as fast as the agents would send, below the limit of their requests. */
const SPEED = 8;
/** Rounds before the measurement, in which the code is compiled. */
const WARM_UP_ROUNDS = 300;
const ROUNDS = 600;
const REACH_US = 60;
const REACH_BYTES = 25;

/** Agent of a location, which sends a batch at each call. */
interface Agent {
  token: string;
  process: string;
  number: number;
  next: number;
}

/**
 * Measures the processor time of the server for a result that an agent sends, with request, rules and storage, and the
 * disk space of these results before they are rolled up.
 */
export async function measureAgentResults(workspace: Workspace): Promise<Figure[]> {
  const { dataDir } = await seed(workspace.path("data"));
  const ids = await seedMonitors(dataDir, {
    count: MONITORS,
    intervalSeconds: INTERVAL_SECONDS,
    url: "http://127.0.0.1:9",
  });
  const { ctx, close } = openData(dataDir);
  const tokens: string[] = [];
  const versions = new Map<string, number>();
  try {
    await ctx.db.write((tx) => {
      const made = LOCATIONS.map((name) => createLocation(ctx, tx, { name } as never, CLI_ACTOR));
      tokens.push(...made.map(({ token }) => token));
      // Without the server, whose own checks are another figure.
      const locations = made.map(({ row }) => row.id);
      for (const id of ids) updateMonitor(ctx, tx, id, { locations }, CLI_ACTOR);
    });
    for (const id of ids) versions.set(id, getMonitorRecord(ctx.db, id).row.version);
  } finally {
    await close();
  }
  const file = join(dataDir, "allclear.db");
  const bytesBefore = statSync(file).size;
  const server = await startAllclear(workspace, dataDir);
  const agents = tokens.map((token, index): Agent => {
    return { token, process: String(index).repeat(24), number: 0, next: 0 };
  });
  const send = async (agent: Agent): Promise<number> => {
    const results = Array.from({ length: BATCH }, (): AgentResult => {
      const id = ids[(agent.next += 1) % ids.length] ?? "";
      return {
        number: (agent.number += 1),
        monitor_id: id,
        version: versions.get(id) ?? 0,
        kind: "check",
        age_ms: 400,
        outcome: "ok",
        latency_ms: 20 + (agent.number % 50),
        message: null,
      };
    });
    const response = await fetch(`${server.url}${RESULTS_PATH}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${agent.token}`,
        "content-type": "application/json",
        [AGENT_VERSION]: VERSION,
      },
      body: JSON.stringify({ process: agent.process, results }),
    });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return results.length;
  };
  const sendAll = async (rounds: number): Promise<number> => {
    let sent = 0;
    for (let round = 0; round < rounds; round++) {
      const began = performance.now();
      const counts = await Promise.all(agents.map(send));
      sent += counts.reduce((sum, count) => sum + count, 0);
      await Bun.sleep(Math.max(0, 1_000 / SPEED - (performance.now() - began)));
    }
    return sent;
  };
  try {
    const warmUp = await sendAll(WARM_UP_ROUNDS);
    const before = processMs(server.pid);
    const count = await sendAll(ROUNDS);
    const each = ((processMs(server.pid) - before) * 1_000) / count;
    // The file has all of the log after the stop.
    await server.stop();
    const bytes = (statSync(file).size - bytesBefore) / (warmUp + count);
    return [
      {
        what: `processor time of one result from another location, all included, in batches of ${BATCH}, ${rounded(MONITORS)} monitors at ${LOCATIONS.length} locations`,
        target: `${REACH_US} µs`,
        measured: `${each.toFixed(0)} µs`,
        isReached: each <= REACH_US,
        numbers: { "µs per result": each },
      },
      {
        what: "disk for a result from another location, before it is rolled up",
        target: `${REACH_BYTES} bytes`,
        measured: `${bytes.toFixed(1)} bytes`,
        isReached: bytes <= REACH_BYTES,
      },
    ];
  } finally {
    await server.stop();
  }
}
