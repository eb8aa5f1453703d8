import { Database } from "bun:sqlite";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { compileProgram } from "../support/compile";
import { type Figure, median, rounded } from "../support/figure";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import { runWrk } from "../support/wrk";
import type { Workspace } from "../support/workspace";

const ROUNDS = 7;
const SECONDS = 3;
const CLIENTS = 32;
/** Two requests for one component can overtake one another, and the second then changes nothing. */
const CHANGED_AT_LEAST = 0.98;

/** Every request sets a component to another status than it has: nothing is a change of nothing. */
const SCRIPT = `
local ids = {}
local statuses = { "major_outage", "partial_outage", "degraded_performance", "under_maintenance" }
local count = 0
function init(args)
  ids = args
  wrk.headers["Content-Type"] = "application/json"
end
function request()
  local id = ids[count % #ids + 1]
  local status = statuses[math.floor(count / #ids) % #statuses + 1]
  count = count + 1
  return wrk.format("PATCH", "/api/v1/components/" .. id, nil, '{"status":"' .. status .. '"}')
end
`;

/** Durable changes by many clients, against one raw commit each, on the same disk. */
export async function measureComponentChange(workspace: Workspace): Promise<Figure[]> {
  const scopes = ["write:components" as const];
  const { dataDir, componentIds, keys } = await seed(workspace.path("data"), { keys: 1, scopes });
  const raw = compileProgram(workspace, "raw-commits");
  const rawDir = workspace.path("raw");
  cpSync(dataDir, rawDir, { recursive: true });
  const script = workspace.path("changes.lua");
  await Bun.write(script, SCRIPT);
  const server = await startAllclear(workspace, dataDir);
  const database = new Database(join(dataDir, "allclear.db"), { readonly: true });
  const countChanges = () =>
    database.query<{ n: number }, []>("SELECT count(*) AS n FROM component_changes").get()?.n ?? 0;
  let sent = 0;
  const change = async () => {
    const before = countChanges();
    const { requests, perSecond } = await runWrk(server.url, {
      connections: CLIENTS,
      seconds: SECONDS,
      headers: { Authorization: `Bearer ${keys[0]}` },
      script,
      args: componentIds,
    });
    const changed = countChanges() - before;
    if (changed < requests * CHANGED_AT_LEAST) {
      throw new Error(`of ${requests} requests only ${changed} changed something`);
    }
    sent += requests;
    return perSecond;
  };
  const commitRaw = () => {
    const file = join(rawDir, "allclear.db");
    const { exitCode, stdout, stderr } = Bun.spawnSync([raw, file, String(SECONDS)]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    return Number(stdout.toString());
  };
  try {
    await change();
    sent = 0;
    const spentBefore = processMs(server.pid);
    const rounds: { ours: number; raw: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const ours = await change();
      rounds.push({ ours, raw: workspace.isCompared ? Number.NaN : commitRaw() });
    }
    const spentMs = processMs(server.pid) - spentBefore;
    const ratio = median(rounds.map(({ ours, raw: theirs }) => ours / theirs));
    const ours = rounded(median(rounds.map((round) => round.ours)));
    const theirs = rounded(median(rounds.map((round) => round.raw)));
    return [
      {
        what: `\`PATCH /api/v1/components/{id}\` from ${CLIENTS} clients, \`synchronous=FULL\``,
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
    await server.stop();
  }
}
