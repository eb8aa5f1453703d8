import { Database } from "bun:sqlite";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { compileProgram } from "../support/compile";
import { type Figure, median, rounded } from "../support/figure";
import { openData } from "../support/open-data";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { seedHistory } from "../support/seed-history";
import { startAllclear } from "../support/server";
import { runWrk } from "../support/wrk";
import type { Workspace } from "../support/workspace";

const ROUNDS = 15;
/** Short, so that few incidents are open at once, as it is with people. */
const SECONDS = 1;
const CLIENTS = 32;
const NOTHING_YET = { incidents: 0, days: 1, updates: 4 };

/** Every request opens an incident that marks a component. */
const SCRIPT = `
local ids = {}
local count = 0
function init(args)
  ids = args
  wrk.headers["Content-Type"] = "application/json"
end
function request()
  local id = ids[count % #ids + 1]
  count = count + 1
  return wrk.format("POST", "/api/v1/incidents", nil, '{"page":"large","name":"Elevated error rates","body":"We are looking into it. The next update follows within half an hour.","components":{"' .. id .. '":"partial_outage"}}')
end
`;

/** Durable incidents by many clients, against one raw commit each, on the same disk. */
export async function measureIncidentCreate(workspace: Workspace): Promise<Figure[]> {
  const scopes = ["write:incidents" as const];
  const { dataDir, keys } = await seed(workspace.path("data"), { keys: 1, scopes });
  const installation = openData(dataDir);
  const { componentIds } = await seedHistory(installation.ctx, NOTHING_YET);
  installation.close();
  const raw = compileProgram(workspace, "raw-incidents");
  const rawDir = workspace.path("raw");
  cpSync(dataDir, rawDir, { recursive: true });
  const script = workspace.path("incidents.lua");
  await Bun.write(script, SCRIPT);
  const server = await startAllclear(workspace, dataDir);
  const database = openFile(dataDir);
  const rawDatabase = openFile(rawDir);
  let sent = 0;
  const create = async () => {
    const before = countIncidents(database);
    const { requests, perSecond } = await runWrk(server.url, {
      connections: CLIENTS,
      seconds: SECONDS,
      headers: { Authorization: `Bearer ${keys[0]}` },
      script,
      args: componentIds,
    });
    const made = countIncidents(database) - before;
    if (made < requests) throw new Error(`of ${requests} requests only ${made} made an incident`);
    endAll(database);
    sent += requests;
    return perSecond;
  };
  const commitRaw = () => {
    const file = join(rawDir, "allclear.db");
    const { exitCode, stdout, stderr } = Bun.spawnSync([raw, file, String(SECONDS)]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    endAll(rawDatabase);
    return Number(stdout.toString());
  };
  try {
    for (let warmUp = 0; warmUp < 3; warmUp++) await create();
    sent = 0;
    const spentBefore = processMs(server.pid);
    const rounds: { ours: number; raw: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const ours = await create();
      rounds.push({ ours, raw: workspace.isCompared ? Number.NaN : commitRaw() });
    }
    const spentMs = processMs(server.pid) - spentBefore;
    const ratio = median(rounds.map(({ ours, raw: theirs }) => ours / theirs));
    const ours = rounded(median(rounds.map((round) => round.ours)));
    const theirs = rounded(median(rounds.map((round) => round.raw)));
    return [
      {
        what: `\`POST /api/v1/incidents\` from ${CLIENTS} clients, each marks a component, \`synchronous=FULL\``,
        target: "faster than one raw SQLite commit a request",
        measured: `${ratio.toFixed(2)} times as fast (${ours}/s against ${theirs}/s)`,
        isReached: ratio > 1,
        numbers: {
          "requests per second": median(rounds.map((round) => round.ours)),
          "µs of processor time per request": (spentMs * 1_000) / sent,
        },
      },
    ];
  } finally {
    database.close();
    rawDatabase.close();
    await server.stop();
  }
}

function openFile(dataDir: string): Database {
  const database = new Database(join(dataDir, "allclear.db"), { strict: true });
  database.run("PRAGMA busy_timeout = 5000");
  return database;
}

function countIncidents(database: Database): number {
  return database.query<{ n: number }, []>("SELECT count(*) AS n FROM incidents").get()?.n ?? 0;
}

/** Nobody has thousands of incidents open: what a round opened is over before the next. */
function endAll(database: Database): void {
  database.transaction(() => {
    database.run("UPDATE component_causes SET ended_at = started_at WHERE ended_at IS NULL");
    database.run(
      "UPDATE incidents SET status = 'resolved', resolved_at = started_at WHERE status <> 'resolved'",
    );
  })();
}
