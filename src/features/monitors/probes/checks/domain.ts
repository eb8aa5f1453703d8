import type { Egress } from "../../../../egress/egress";
import { Fault } from "../../../../egress/model";
import { plural } from "../../../../base/text";
import { DAY_MS } from "../../../../base/time";
import type { ProbeContext, ProbeResult } from "../../probe";
import { elapsedMs, failed } from "../fields";
import { RdapClient } from "./rdap";

/** Answers of registries, which all monitors of a server share. */
const clients = new WeakMap<Egress, RdapClient>();

/** Compares the expiry of a domain with the current time. */
export async function checkDomain(
  { domain, days }: { domain: string; days: number },
  context: ProbeContext,
): Promise<ProbeResult> {
  const { egress, clock, signal, steps } = context;
  const client = clients.get(egress) ?? new RdapClient(egress, clock);
  clients.set(egress, client);
  const startedAt = clock.monotonic();
  const answer = await client.ask(domain, signal, steps);
  // A registry that does not answer says nothing about the domain.
  if (answer instanceof Fault) return { ...failed(answer), outcome: "unknown" };
  const latencyMs = elapsedMs(context, startedAt);
  if (answer === "unregistered") {
    return { outcome: "failed", latencyMs, message: "The domain is not registered." };
  }
  if (answer === "ended") {
    const message = "The domain is no longer registered: its registry does not know it any more.";
    return { outcome: "failed", latencyMs, message };
  }
  const left = answer.expiresAt - clock.now();
  if (left <= 0) {
    const day = new Date(answer.expiresAt).toISOString().slice(0, 10);
    return { outcome: "failed", latencyMs, message: `The domain expired on ${day}.` };
  }
  const daysLeft = Math.floor(left / DAY_MS);
  const message = daysLeft < days ? `The domain expires in ${plural(daysLeft, "day")}.` : null;
  return { outcome: "ok", latencyMs, message };
}
