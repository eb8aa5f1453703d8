/**
 * Measures what Allclear promises of its speed and memory, in the compiled executable, and prints one
 * Markdown table. `bun run bench` measures all rows, `bun bench/run.ts start-up …` some of them. A
 * figure that misses its reach is said so in the table; only what cannot be measured is an error.
 */
import { type Figure, toTable } from "./support/figure";
import { withWorkspace, type Workspace } from "./support/workspace";
import { measureAssertions } from "./rows/assertions";
import { measureCheckCost } from "./rows/check-cost";
import { measureComponentChange } from "./rows/component-change";
import { measureDashboardPage } from "./rows/dashboard-page";
import { measureDashboardWeight } from "./rows/dashboard-weight";
import { measureDiskPerCheck } from "./rows/disk-per-check";
import { measureFirstChecks } from "./rows/first-checks";
import { measureFirstView } from "./rows/first-view";
import { measureFreshBytes } from "./rows/fresh-bytes";
import { measureFullIncident } from "./rows/full-incident";
import { measureIncidentCreate } from "./rows/incident-create";
import { measureKeyList } from "./rows/key-list";
import { measureLimiter } from "./rows/limiter";
import { measureLogInFlood } from "./rows/log-in-flood";
import { measureLongHistory } from "./rows/long-history";
import { measureLongTurns } from "./rows/long-turns";
import { measureManyResults } from "./rows/many-results";
import { measureOneByteChunks } from "./rows/one-byte-chunks";
import { measurePublicPage } from "./rows/public-page";
import { measureRefusedBodies } from "./rows/refused-bodies";
import { measureResidentMemory } from "./rows/resident-memory";
import { measureSlowDisk } from "./rows/slow-disk";
import { measureSignInBesideHostile } from "./rows/sign-in-beside-hostile";
import { measureStartUp } from "./rows/start-up";
import { measureStatusBesideChecks } from "./rows/status-beside-checks";
import { measureStatusRead } from "./rows/status-read";
import { measureWebhooks } from "./rows/webhooks";
import { measureTenThousandMonitors } from "./rows/ten-thousand-monitors";

const ROWS: Record<string, (workspace: Workspace) => Promise<Figure[]>> = {
  "status-read": measureStatusRead,
  "public-page": measurePublicPage,
  "first-view": measureFirstView,
  limiter: measureLimiter,
  "start-up": measureStartUp,
  "resident-memory": measureResidentMemory,
  "component-change": measureComponentChange,
  "incident-create": measureIncidentCreate,
  "full-incident": measureFullIncident,
  "key-list": measureKeyList,
  "dashboard-page": measureDashboardPage,
  "dashboard-weight": measureDashboardWeight,
  "log-in-flood": measureLogInFlood,
  "sign-in-beside-hostile": measureSignInBesideHostile,
  "one-byte-chunks": measureOneByteChunks,
  "fresh-bytes": measureFreshBytes,
  "long-history": measureLongHistory,
  "refused-bodies": measureRefusedBodies,
  "long-turns": measureLongTurns,
  webhooks: measureWebhooks,
  "check-cost": measureCheckCost,
  assertions: measureAssertions,
  "ten-thousand-monitors": measureTenThousandMonitors,
  "first-checks": measureFirstChecks,
  "disk-per-check": measureDiskPerCheck,
  "many-results": measureManyResults,
  "status-beside-checks": measureStatusBesideChecks,
  "slow-disk": measureSlowDisk,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in ROWS));
if (unknown.length > 0) {
  console.error(
    `There is no row ${unknown.join(", ")}; there are ${Object.keys(ROWS).join(", ")}.`,
  );
  process.exit(2);
}

const figures: Figure[] = [];
let isWhole = true;
for (const [name, measure] of Object.entries(ROWS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.error(`measuring ${name} …`);
  try {
    figures.push(...(await withWorkspace(measure)));
  } catch (error) {
    isWhole = false;
    console.error(`${name} could not be measured: ${(error as Error).message}`);
  }
}
console.log(toTable(figures));
process.exit(isWhole ? 0 : 1);
