import type { MonitorRow } from "./checked";
import { idOf, type KumaData } from "./data";
import type { LeftOut } from "../source";
import type { DomainMonitor } from "./notifications";
import type { MonitorTree } from "./tree";
import { flag, text } from "./values";

/** Returns monitors of the domains that are watched there, and the domains that no monitor watches. */
export function findDomains(
  data: KumaData,
  tree: MonitorTree,
  days: number,
): { domains: DomainMonitor[]; leftOut: LeftOut[] } {
  const watching = data.monitor.filter((monitor) => flag(monitor.domain_expiry_notification));
  const domains: DomainMonitor[] = [];
  const leftOut: LeftOut[] = [];
  for (const row of data.domain_expiry) {
    const domain = text(row["domain"]).trim().toLowerCase();
    const foreign = { type: "domain_expiry", id: String(idOf(row)), name: domain };
    const watchedBy = watching.filter((monitor) => isIn(hostOf(monitor), domain));
    if (domain === "" || watchedBy.length === 0) {
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

function isIn(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
