import type { MonitorRow } from "./checked";
import { idOf, type KumaData } from "./data";
import type { LeftOut } from "../source";
import type { DomainMonitor } from "./notifications";
import type { MonitorTree } from "./tree";
import { flag, text } from "./values";

/** Maximum number of parts of a registered domain. */
const LABELS_MAX = 10;

/** Returns monitors of the domains that are watched there, and the domains that no monitor watches. */
export function findDomains(
  data: KumaData,
  tree: MonitorTree,
  days: number,
): { domains: DomainMonitor[]; leftOut: LeftOut[] } {
  const watching = byDomain(
    data.monitor.filter((monitor) => flag(monitor.domain_expiry_notification)),
  );
  const domains: DomainMonitor[] = [];
  const leftOut: LeftOut[] = [];
  for (const row of data.domain_expiry) {
    const domain = text(row["domain"]).trim().toLowerCase();
    const foreign = { type: "domain_expiry", id: String(idOf(row)), name: domain };
    const watchedBy = watching.get(domain) ?? [];
    if (watchedBy.length === 0) {
      leftOut.push({ foreign, reason: "No monitor watches this domain." });
      continue;
    }
    domains.push({
      watchedBy,
      monitor: {
        foreign,
        number: null,
        body: {
          type: "domain",
          name: domain,
          config: { domain, days },
          paused: !watchedBy.some((monitor) => tree.isActive(monitor)),
        },
        changes: [],
        components: [],
        dependsOn: [],
        tokens: [],
      },
    });
  }
  return { domains, leftOut };
}

function hostOf({ url, hostname, grpc_url: grpcUrl }: MonitorRow): string {
  const host = URL.parse(text(url))?.hostname || text(hostname).replace(/^\w+:\/\//, "");
  return (host || text(grpcUrl)).split(":")[0]?.toLowerCase() ?? "";
}

/** Returns monitors by each domain that the name of their host ends with. */
function byDomain(monitors: readonly MonitorRow[]): ReadonlyMap<string, MonitorRow[]> {
  const found = new Map<string, MonitorRow[]>();
  for (const monitor of monitors) {
    const labels = hostOf(monitor).split(".").slice(-LABELS_MAX);
    for (const index of labels.keys()) {
      const domain = labels.slice(index).join(".");
      const known = found.get(domain);
      if (known) known.push(monitor);
      else found.set(domain, [monitor]);
    }
  }
  return found;
}
