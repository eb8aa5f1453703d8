import type { Egress } from "../../egress/egress";
import { Fault } from "../../egress/model";
import { parseHost } from "../../egress/policy";
import type { Found } from "./source";

/** Maximum number of names that are resolved, and of milliseconds for all of them. */
const HOSTS_MAX = 100;
const TIMEOUT_MS = 1_000;

/** Services whose addresses are public. Their names need no look-up. */
const PUBLIC =
  /^(?:hooks\.slack\.com|discord(?:app)?\.com|api\.telegram\.org|ntfy\.sh|.+\.(?:logic\.azure|webhook\.office)\.com)$/;

/**
 * Resolves the names of the receivers of webhooks, so that an import can name those that are not allowed. Returns the
 * addresses by name; names that cannot be resolved are left out, since every delivery resolves them again.
 */
export async function findReceivers(
  egress: Pick<Egress, "resolve">,
  { webhooks }: Pick<Found, "webhooks">,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Set(webhooks.flatMap(({ body }) => nameOf(body.url) ?? []));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const resolved = await Promise.all(
    [...names].slice(0, HOSTS_MAX).map(async (host) => {
      // Private addresses are what has to be found.
      const addresses = await egress.resolve({ host, policy: "monitor", signal });
      return addresses instanceof Fault ? [] : [[host, addresses] as const];
    }),
  );
  return new Map(resolved.flat());
}

/** Returns the name in a URL; undefined for an address, a public service, and other texts. */
function nameOf(text: string): string | undefined {
  const url = URL.parse(text);
  const host = url && /^https?:$/.test(url.protocol) ? parseHost(url.hostname) : undefined;
  return host && !host.isAddress && !PUBLIC.test(host.name) ? host.name : undefined;
}
