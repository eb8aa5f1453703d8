import { ABORTED, codeOf, Fault, timedOut } from "./fault";
import type { Host } from "./host";
import type { BoundedLookup } from "./lookup";
import type { PolicyName, ResolveTarget } from "./model";
import type { Policy } from "./policy";

/** A host with its addresses, all of them allowed. */
interface Resolved {
  host: Host;
  /** At least one, in order of choice. */
  addresses: string[];
}

/** A target whose host was parsed; undefined if it is neither a name nor an address. */
type ParsedTarget = Omit<ResolveTarget, "host"> & { host: Host | undefined };

export type Resolve = (target: ParsedTarget) => Promise<Resolved | Fault>;

/** Creates the function that resolves a host. It returns a fault if any address is forbidden. */
export function createResolve(
  lookup: BoundedLookup,
  policies: Record<PolicyName, Policy>,
): Resolve {
  return async ({ host, family, policy, signal, steps, contact }) => {
    steps?.begin("look_up", host?.name);
    if (contact) Object.assign(contact, { host: host?.name, addresses: [], hasAnswered: false });
    if (!host) return new Fault("refused", "The host is neither a name nor an IP address.");
    const candidates = host.isAddress ? [host.name] : await namedAddresses(host.name);
    if (candidates instanceof Fault) return candidates;
    const addresses = candidates.filter(
      (address) => family === undefined || (address.includes(":") ? 6 : 4) === family,
    );
    if (addresses.length === 0) {
      return new Fault("dns", `The host has no ${family ? `IPv${family} ` : ""}address.`);
    }
    for (const address of addresses) {
      const problem = policies[policy].addressError(address);
      if (problem) return new Fault("refused", `The host's address ${problem}.`);
    }
    steps?.end(host.isAddress ? undefined : addresses.join(", "));
    if (contact) contact.addresses = addresses;
    return { host, addresses };

    async function namedAddresses(name: string): Promise<string[] | Fault> {
      try {
        const answer = await lookup(name, family, signal);
        return answer === ABORTED ? timedOut("resolving the name") : answer;
      } catch (error) {
        return lookupFault(error);
      }
    }
  };
}

function lookupFault(error: unknown): Fault {
  const code = codeOf(error).replace(/^DNS_/, "");
  return code === "ENOTFOUND" || code === "ENODATA"
    ? new Fault("dns", "The name has no address.")
    : new Fault("dns", `The name could not be resolved (${code || "no reason given"}).`);
}
