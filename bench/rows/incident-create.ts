import type { Database } from "bun:sqlite";
import { CLIENTS, measureBesideRaw } from "../support/beside-raw";
import type { Figure } from "../support/figure";
import { openData } from "../support/open-data";
import { seed } from "../support/seed";
import { seedHistory } from "../support/seed-history";
import type { Workspace } from "../support/workspace";

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
  return measureBesideRaw(workspace, {
    dataDir,
    key: keys[0] ?? "",
    script: SCRIPT,
    componentIds,
    raw: "raw-incidents",
    warmUps: 3,
    rounds: 15,
    // Short, so that few incidents are open at once, as it is with people.
    seconds: 1,
    count: (database) =>
      database.query<{ n: number }, []>("SELECT count(*) AS n FROM incidents").get()?.n ?? 0,
    changedAtLeast: 1,
    afterRound: endAll,
    what: `\`POST /api/v1/incidents\` from ${CLIENTS} clients, each marks a component, \`synchronous=FULL\``,
  });
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
