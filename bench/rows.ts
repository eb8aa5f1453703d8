import type { Figure } from "./support/figure";
import type { Workspace } from "./support/workspace";
import { measureAcknowledgedWrites } from "./rows/acknowledged-writes";
import { measureAlerts } from "./rows/alerts";
import { measureApply } from "./rows/apply";
import { measureAssertions } from "./rows/assertions";
import { measureBesideSubscribers } from "./rows/beside-subscribers";
import { measureCheckCost } from "./rows/check-cost";
import { measureComponentChange } from "./rows/component-change";
import { measureDashboardPage } from "./rows/dashboard-page";
import { measureDashboardWeight } from "./rows/dashboard-weight";
import { measureDiskPerCheck } from "./rows/disk-per-check";
import { measureFirstChecks } from "./rows/first-checks";
import { measureFirstView } from "./rows/first-view";
import { measureAgentResults } from "./rows/agent-results";
import { measureFreshBytes } from "./rows/fresh-bytes";
import { measureFullIncident } from "./rows/full-incident";
import { measureImport } from "./rows/import";
import { measureIncidentBurst } from "./rows/incident-burst";
import { measureIncidentCreate } from "./rows/incident-create";
import { measureKeyList } from "./rows/key-list";
import { measureLargeStorm } from "./rows/large-storm";
import { measureLimiter } from "./rows/limiter";
import { measureLogInFlood } from "./rows/log-in-flood";
import { measureLongHistory } from "./rows/long-history";
import { measureLostNetwork } from "./rows/lost-network";
import { measureLongTurns } from "./rows/long-turns";
import { measureMailFanOut } from "./rows/mail-fan-out";
import { measureMailLatency } from "./rows/mail-latency";
import { measureMails } from "./rows/mails";
import { measureManyResults } from "./rows/many-results";
import { measureMirror } from "./rows/mirror";
import { measureOneByteChunks } from "./rows/one-byte-chunks";
import { measureOpenTabs } from "./rows/open-tabs";
import { measurePeers } from "./rows/peers";
import { measurePrivatePage } from "./rows/private-page";
import { measurePublicPage } from "./rows/public-page";
import { measureRefusedBodies } from "./rows/refused-bodies";
import { measureReplicaReads } from "./rows/replica-reads";
import { measureResidentMemory } from "./rows/resident-memory";
import { measureRetention } from "./rows/retention";
import { measureSharedLimits } from "./rows/shared-limits";
import { measureSlowDisk } from "./rows/slow-disk";
import { measureSignInBesideHostile } from "./rows/sign-in-beside-hostile";
import { measureStalls } from "./rows/stalls";
import { measureStartUp } from "./rows/start-up";
import { measureStatusBesideChecks } from "./rows/status-beside-checks";
import { measureStatusRead } from "./rows/status-read";
import { measureStorm } from "./rows/storm";
import { measureWebhooks } from "./rows/webhooks";
import { measureSubscriberScreens } from "./rows/subscriber-screens";
import { measureTenThousandMonitors } from "./rows/ten-thousand-monitors";
import { measureWriteCost } from "./rows/write-cost";

/** A row of the bench: measures one or more figures. */
export type Row = (workspace: Workspace) => Promise<Figure[]>;

/** All rows by name, in the order of the table. */
const ROWS: Readonly<Record<string, Row>> = {
  "status-read": measureStatusRead,
  "public-page": measurePublicPage,
  "private-page": measurePrivatePage,
  "replica-reads": measureReplicaReads,
  "first-view": measureFirstView,
  "open-tabs": measureOpenTabs,
  limiter: measureLimiter,
  "shared-limits": measureSharedLimits,
  "start-up": measureStartUp,
  "resident-memory": measureResidentMemory,
  "component-change": measureComponentChange,
  "incident-create": measureIncidentCreate,
  "write-cost": measureWriteCost,
  "acknowledged-writes": measureAcknowledgedWrites,
  "full-incident": measureFullIncident,
  "key-list": measureKeyList,
  "dashboard-page": measureDashboardPage,
  "dashboard-weight": measureDashboardWeight,
  "subscriber-screens": measureSubscriberScreens,
  "log-in-flood": measureLogInFlood,
  "sign-in-beside-hostile": measureSignInBesideHostile,
  "one-byte-chunks": measureOneByteChunks,
  "agent-results": measureAgentResults,
  "fresh-bytes": measureFreshBytes,
  mirror: measureMirror,
  "long-history": measureLongHistory,
  "refused-bodies": measureRefusedBodies,
  "long-turns": measureLongTurns,
  webhooks: measureWebhooks,
  storm: measureStorm,
  "large-storm": measureLargeStorm,
  "incident-burst": measureIncidentBurst,
  mails: measureMails,
  "mail-fan-out": measureMailFanOut,
  "mail-latency": measureMailLatency,
  "beside-subscribers": measureBesideSubscribers,
  "check-cost": measureCheckCost,
  assertions: measureAssertions,
  "ten-thousand-monitors": measureTenThousandMonitors,
  "first-checks": measureFirstChecks,
  "disk-per-check": measureDiskPerCheck,
  stalls: measureStalls,
  "many-results": measureManyResults,
  "status-beside-checks": measureStatusBesideChecks,
  alerts: measureAlerts,
  import: measureImport,
  apply: measureApply,
  retention: measureRetention,
  "slow-disk": measureSlowDisk,
  "lost-network": measureLostNetwork,
  peers: measurePeers,
};

/** Rows that measure code in a process of the bench instead of the executable. */
export const IN_PROCESS: ReadonlySet<string> = new Set([
  "limiter",
  "shared-limits",
  "key-list",
  "fresh-bytes",
  "disk-per-check",
]);

/** Returns the rows with these names in the order of the table, or all of them. Throws for an unknown name. */
export function selectRows(names: readonly string[]): [name: string, row: Row][] {
  const unknown = names.filter((name) => !(name in ROWS));
  if (unknown.length > 0) {
    throw new Error(
      `There is no row ${unknown.join(", ")}; there are ${Object.keys(ROWS).join(", ")}.`,
    );
  }
  return Object.entries(ROWS).filter(([name]) => names.length === 0 || names.includes(name));
}
