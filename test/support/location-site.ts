import { CLI_ACTOR } from "../../src/base/actor";
import { composed } from "../../src/base/validation";
import {
  AGENT_VERSION,
  type AgentResult,
  type Work,
} from "../../src/features/locations/agent-wire";
import { createLocation, rotateLocationToken } from "../../src/features/locations/locations";
import { createIdleMonitoring, type Monitoring } from "../../src/features/monitors/monitoring";
import type { CreateMonitorBody } from "../../src/features/monitors/wire";
import { VERSION } from "../../src/version";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { createMonitor } from "./examined";

/** A batch that reached the engine. */
interface TakenBatch {
  locationId: string;
  process: string;
  results: readonly AgentResult[];
}

/** An application with locations, whose engine notes what agents send. */
export interface LocationSite extends TestApp {
  /** Batches so far, and requests by location with the version of the agent. */
  taken: TakenBatch[];
  calls: { locationId: string; version: string }[];
  /** Creates a location. Returns its id and token. */
  addLocation(name: string): Promise<{ id: string; token: string }>;
  /** Gives a location another token, which replaces all earlier ones at once. */
  replaceToken(id: string): Promise<string>;
  /** Creates a monitor of a target that nothing contacts. Returns its id. */
  addMonitor(locations: string[], input?: Partial<CreateMonitorBody>): Promise<string>;
  /** Asks for work as an agent. */
  ask(token: string, etag?: string, version?: string): Promise<Answer & { body: Work }>;
  /** Sends results as an agent. */
  send(token: string, body: object, options?: CallOptions): Promise<Answer>;
}

/** Name of a process of an agent. */
export const PROCESS = "0123456789abcdef01234567";

/** Creates the application. `monitoring` replaces parts of the engine. */
export async function createLocationSite(
  monitoring: Partial<Monitoring> = {},
): Promise<LocationSite> {
  const taken: TakenBatch[] = [];
  const calls: LocationSite["calls"] = [];
  const app = await createTestApp({
    monitoring: (ctx) => ({
      ...createIdleMonitoring(ctx),
      takeResults: async (locationId, process, results) => {
        taken.push({ locationId, process, results });
      },
      noteCall: (locationId, version) => void calls.push({ locationId, version }),
      ...monitoring,
    }),
  });
  const { ctx } = app;
  return Object.assign(app, {
    taken,
    calls,
    addLocation: (name: string) =>
      ctx.db.write((tx) => {
        const { row, token } = createLocation(ctx, tx, composed({ name }), CLI_ACTOR);
        return { id: row.id, token };
      }),
    replaceToken: (id: string) =>
      ctx.db.write((tx) => rotateLocationToken(ctx, tx, id, "now", CLI_ACTOR).token),
    addMonitor: (locations: string[], input: Partial<CreateMonitorBody> = {}) =>
      ctx.db.write((tx) => {
        const config = { url: "https://shop.test/", headers: { Authorization: "very-secret" } };
        const body = { name: "Shop", type: "http", config, locations, ...input };
        return createMonitor(ctx, tx, body as CreateMonitorBody, CLI_ACTOR).record.row.id;
      }),
    ask: (token: string, etag?: string, version = VERSION) =>
      app.call("/api/v1/probe/work", {
        key: token,
        headers: { [AGENT_VERSION]: version, ...(etag && { "if-none-match": etag }) },
      }),
    send: (token: string, json: object, options: CallOptions = {}) =>
      app.call("/api/v1/probe/results", {
        method: "POST",
        key: token,
        json,
        headers: { [AGENT_VERSION]: VERSION },
        ...options,
      }),
  });
}

/** Returns a success of a monitor with a number. */
export function resultOf(
  monitorId: string,
  number: number,
  more: Partial<AgentResult> = {},
): AgentResult {
  const success = { kind: "check", outcome: "ok", latency_ms: 12, message: null } as const;
  return { number, monitor_id: monitorId, version: 1, age_ms: 250, ...success, ...more };
}
