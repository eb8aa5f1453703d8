import { CLI_ACTOR } from "../../src/base/actor";
import type { Seen } from "../programs/target";
import { compileProgram } from "./compile";
import { openData } from "./open-data";
import { type Server, startServer } from "./server";
import type { Workspace } from "./workspace";
import { createMonitor } from "../../test/support/examined";

/** So many are made in one commit. */
const BATCH = 500;

/** Target of monitors, in a separate process. */
export interface Target extends Server {
  seen(): Promise<Seen>;
}

export async function startTarget(
  workspace: Workspace,
  options: { core?: number } = {},
): Promise<Target> {
  const server = await startServer(workspace, [compileProgram(workspace, "target")], options);
  return {
    ...server,
    seen: async () => (await (await fetch(`${server.url}/seen`)).json()) as Seen,
  };
}

interface WatchOptions {
  count: number;
  intervalSeconds: number;
  url: string;
  /** Regular expressions that each body must match. */
  patterns?: readonly string[];
  /** Whom they speak for: each for one of them, in turn. Nobody unless given. */
  componentIds?: readonly string[];
  /** True if the monitors are paused. */
  paused?: boolean;
}

/** Makes HTTP monitors as the API does, each of a path of its own. */
export async function seedMonitors(dataDir: string, options: WatchOptions): Promise<string[]> {
  const { count, intervalSeconds, url, componentIds = [], paused = false, patterns = [] } = options;
  const assertions = patterns.map((value) => ({ source: "body", op: "matches", value }) as const);
  const { ctx, close } = openData(dataDir);
  const ids: string[] = [];
  try {
    while (ids.length < count) {
      const first = ids.length;
      const made = await ctx.db.write((tx) =>
        Array.from({ length: Math.min(BATCH, count - first) }, (_, n) => {
          const number = first + n;
          const componentId = componentIds[number % componentIds.length];
          const monitor = {
            type: "http",
            name: `Service ${number}`,
            interval_seconds: intervalSeconds,
            config: { url: `${url}/service/${number}`, assertions },
            component_ids: componentId === undefined ? [] : [componentId],
            paused,
          } as const;
          return createMonitor(ctx, tx, monitor, CLI_ACTOR).record.row.id;
        }),
      );
      ids.push(...made);
    }
  } finally {
    close();
  }
  return ids;
}

/**
 * Reads a server's Prometheus metrics. Returns a function from a metric's name to the sum of its
 * samples.
 */
export async function readMetrics(server: Server, key: string): Promise<(name: string) => number> {
  const answer = await fetch(`${server.url}/metrics`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  if (answer.status !== 200) throw new Error(`/metrics answered ${answer.status}`);
  const lines = (await answer.text()).split("\n");
  return (name) => {
    const own = lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    if (own.length === 0) throw new Error(`/metrics does not tell ${name}`);
    return own.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  };
}
