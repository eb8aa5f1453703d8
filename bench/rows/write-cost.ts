import { Database } from "bun:sqlite";
import { join } from "node:path";
import { compileProgram } from "../support/compile";
import { type Connection, openConnection, requestText } from "../support/connection";
import { type Figure, median } from "../support/figure";
import { openData } from "../support/open-data";
import { mainThreadMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { seedHistory } from "../support/seed-history";
import { startAllclear, startServer } from "../support/server";
import type { Workspace } from "../support/workspace";
import { LOAD_CORE, SERVER_CORE } from "../support/wrk";

const CLIENTS = 32;
const WEBHOOKS = 10;
const WARM_UPS = 5;
const ROUNDS = 20;
const PATCH_REACH_US = 200;
const POST_REACH_US = 600;
const SCOPES = ["write:components", "write:incidents", "manage:webhooks"] as const;
const STATUSES = ["major_outage", "partial_outage", "degraded_performance"] as const;
const NOTHING_YET = { incidents: 0, days: 1, updates: 4 };

/** Measures the processor time of changes, in short rounds, since other programs disturb long ones. */
export async function measureWriteCost(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, keys } = await seed(workspace.path("data"), { keys: 1, scopes: [...SCOPES] });
  const installation = openData(dataDir);
  const { componentIds } = await seedHistory(installation.ctx, NOTHING_YET);
  installation.close();
  const program = compileProgram(workspace, "webhook-receiver");
  const receiver = await startServer(workspace, [program, String(WEBHOOKS)], { core: LOAD_CORE });
  const server = await startAllclear(workspace, dataDir, {
    core: SERVER_CORE,
    env: { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" },
  });
  const database = new Database(join(dataDir, "allclear.db"), { strict: true });
  database.run("PRAGMA busy_timeout = 5000");
  const connections = await Promise.all(
    Array.from({ length: CLIENTS }, () => openConnection(server.url)),
  );
  const headers = { Authorization: `Bearer ${keys[0]}` };
  const request = (method: string, path: string, body: object) =>
    requestText(server.url, `/api/v1/${path}`, {
      headers,
      json: { method, text: JSON.stringify(body) },
    });

  const changesOf = (round: number) =>
    componentIds.map((id) =>
      request("PATCH", `components/${id}`, { status: STATUSES[round % STATUSES.length] }),
    );
  /** Each incident marks two components that no other one of the round marks. */
  const incidents = componentIds.slice(0, componentIds.length / 2).map((id, index) =>
    request("POST", "incidents", {
      page: "large",
      name: "Elevated error rates",
      body: "We are looking into it. The next update follows within half an hour.",
      components: { [id]: "partial_outage", [componentIds.at(-1 - index) ?? ""]: "major_outage" },
    }),
  );
  const costsOf = async (requestsOf: (round: number) => readonly string[]) => {
    const costs: number[] = [];
    for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
      const requests = requestsOf(round);
      const before = mainThreadMs(server.pid);
      await sendAll(connections, requests);
      const cost = ((mainThreadMs(server.pid) - before) * 1_000) / requests.length;
      if (round >= WARM_UPS) costs.push(cost);
      endAll(database);
    }
    return costs;
  };
  try {
    const patches = await costsOf(changesOf);
    const hooks = Array.from({ length: WEBHOOKS }, (_, index) =>
      request("POST", "webhooks", { url: `${receiver.url}/hook/${index}` }),
    );
    await sendAll(connections, hooks);
    const posts = await costsOf(() => incidents);
    return [
      figureOf(
        `Processor time of a \`PATCH\` that changes a component, ${CLIENTS} clients`,
        patches,
        PATCH_REACH_US,
      ),
      figureOf(
        `The same of a \`POST\` of an incident that changes two components, ${WEBHOOKS} webhooks`,
        posts,
        POST_REACH_US,
      ),
    ];
  } finally {
    for (const connection of connections) connection.close();
    database.close();
    await server.stop();
    await receiver.stop();
  }
}

/** Sends requests over several connections. Throws if one is not answered with success. */
async function sendAll(
  connections: readonly Connection[],
  requests: readonly string[],
): Promise<void> {
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (let text = requests[next++]; text !== undefined; text = requests[next++]) {
        const { status, body } = await connection.send(text);
        if (status >= 300) throw new Error(`a change was answered with ${status}: ${body}`);
      }
    }),
  );
}

/** Ends all causes, so that no round has more open causes than the one before. */
function endAll(database: Database): void {
  database.transaction(() => {
    database.run("UPDATE component_causes SET ended_at = started_at WHERE ended_at IS NULL");
    database.run("UPDATE components SET status = 'operational', baseline_status = 'operational'");
    database.run(
      "UPDATE incidents SET status = 'resolved', resolved_at = started_at WHERE status <> 'resolved'",
    );
  })();
}

function figureOf(what: string, costs: readonly number[], reach: number): Figure {
  const [least, middle] = [Math.min(...costs), median(costs)];
  return {
    what,
    target: `${reach} µs`,
    measured: `${middle.toFixed(0)} µs (least ${least.toFixed(0)})`,
    isReached: middle <= reach,
    numbers: { "median in µs": middle, "least in µs": least },
  };
}
