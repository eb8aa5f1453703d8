import { CLI_ACTOR } from "../../src/base/actor";
import type { AgentResult } from "../../src/features/locations/agent-wire";
import { createLocation } from "../../src/features/locations/locations";
import { ofLocations } from "../../src/features/monitors/checks-store";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { listLocationStates } from "../../src/features/monitors/location-store";
import { settle } from "./clock";
import type { EngineSite } from "./engine-site";

/** Agent of a location, whose results the test makes up. */
export interface TestAgent {
  id: string;
  /** Process that numbers its results. */
  process: string;
  /** Its last number. */
  number: number;
  /** Makes a request. */
  call(): void;
  /** Sends results about a monitor, and waits until they are stored. */
  send(monitorId: string, ...results: Partial<AgentResult>[]): Promise<void>;
  /** Sends a batch again. */
  repeat(): Promise<void>;
  /** Sends successes and failures about a monitor; `!` is a failure. */
  report(monitorId: string, outcomes: string): Promise<void>;
  /** Returns the state of a monitor at this location. */
  state(monitorId: string): string | undefined;
  /** Returns the times of the results of a monitor from this location in unix ms, newest first. */
  resultTimes(monitorId: string): number[];
  /** Returns their number. */
  resultCount(monitorId: string): number;
}

/** Makes a location with its agent. */
export async function addAgent(site: EngineSite, name: string): Promise<TestAgent> {
  const { ctx } = site.app;
  const { row } = await ctx.db.write((tx) => createLocation(ctx, tx, { name } as never, CLI_ACTOR));
  let last: readonly AgentResult[] = [];
  const agent: TestAgent = {
    id: row.id,
    process: "0123456789abcdef01234567",
    number: 0,
    call: () => site.engine.noteCall(row.id, "1.0.0"),
    async send(monitorId, ...results) {
      agent.call();
      const { version } = getMonitorRecord(ctx.db, monitorId).row;
      last = results.map((result) => ({
        number: (agent.number += 1),
        monitor_id: monitorId,
        version,
        kind: "check",
        age_ms: 0,
        outcome: "ok",
        latency_ms: result.outcome === "failed" ? null : 20,
        message: result.outcome === "failed" ? `No route from ${name}.` : null,
        ...result,
      }));
      await site.engine.takeResults(row.id, agent.process, last);
      await settle();
    },
    async repeat() {
      await site.engine.takeResults(row.id, agent.process, last);
      await settle();
    },
    async report(monitorId, outcomes) {
      for (const each of outcomes) {
        // oxlint-disable-next-line no-await-in-loop
        await agent.send(monitorId, { outcome: each === "!" ? "failed" : "ok" });
      }
    },
    state: (monitorId) => rowOf(monitorId)?.state,
    resultTimes(monitorId) {
      const monitorNum = rowOf(monitorId)?.num ?? 0;
      const all = { before: Number.MAX_SAFE_INTEGER, limit: 100_000 };
      return ofLocations.listChecksBefore(ctx.db, { ...all, monitorNum }).map(({ at }) => at);
    },
    resultCount: (monitorId) => agent.resultTimes(monitorId).length,
  };
  function rowOf(monitorId: string) {
    const { num } = getMonitorRecord(ctx.db, monitorId).row;
    const rows = listLocationStates(ctx.db, { nums: JSON.stringify([num]) });
    return rows.find(({ locationId }) => locationId === row.id);
  }
  return agent;
}
