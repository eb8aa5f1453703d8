import { createEgress } from "../../../src/egress/egress";
import { Fault } from "../../../src/egress/model";
import { systemClock } from "../../../src/base/clock";

/*
 * Sends echo requests to all addresses at the same time, with a deadline in ms, and writes the outcomes as JSON with the
 * processor time in ms and the number of descriptors that are left.
 */
const [deadline = "", ...hosts] = process.argv.slice(2);
const egress = createEgress({ clock: systemClock(), allowedNetworks: [] });
const before = await countDescriptors();
const usage = process.cpuUsage();
const keepAlive = setInterval(() => {}, 1_000);
const outcomes = await Promise.all(
  hosts.map(async (host) => {
    const signal = AbortSignal.timeout(Number(deadline));
    const outcome = await egress.ping({ host, policy: "monitor", signal });
    return outcome instanceof Fault ? `${outcome.kind}: ${outcome.message}` : outcome;
  }),
);
clearInterval(keepAlive);
const { user, system } = process.cpuUsage(usage);
const left = (await countDescriptors()) - before;
console.log(JSON.stringify({ outcomes, cpuMs: Math.round((user + system) / 1_000), left }));

async function countDescriptors(): Promise<number> {
  // The code is loaded, so that its descriptors are not counted as those of sockets.
  await egress.ping({ host: "169.254.169.254", policy: "monitor", signal: AbortSignal.abort() });
  const { readdirSync } = await import("node:fs");
  return readdirSync("/proc/self/fd").length;
}
