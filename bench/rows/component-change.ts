import { CLIENTS, measureBesideRaw } from "../support/beside-raw";
import type { Figure } from "../support/figure";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

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
  return measureBesideRaw(workspace, {
    dataDir,
    key: keys[0] ?? "",
    script: SCRIPT,
    componentIds,
    raw: "raw-commits",
    warmUps: 1,
    rounds: 7,
    seconds: 3,
    count: (database) =>
      database.query<{ n: number }, []>("SELECT count(*) AS n FROM component_changes").get()?.n ??
      0,
    // Two requests for one component can overtake one another, and the second then changes nothing.
    changedAtLeast: 0.98,
    what: `\`PATCH /api/v1/components/{id}\` from ${CLIENTS} clients, \`synchronous=FULL\``,
  });
}
