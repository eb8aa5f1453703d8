/**
 * Connects to port 80 of each argument, and prints a JSON list of the faults: their messages, true if the address
 * has answered, and how the host was silent.
 */
import { createEgress } from "../../../src/egress/egress";
import { OutsideAnswers } from "../../../src/egress/outside";
import { systemClock } from "../../../src/base/clock";

const clock = systemClock();
const outcomes = [];
for (const host of process.argv.slice(2)) {
  // Some are addresses of this network namespace, which stands for hosts outside.
  const outside = new OutsideAnswers(clock, () => ({}));
  const egress = createEgress({ clock, allowedNetworks: [], outside });
  const contact: { addresses: string[]; silence?: "dns" | "connect" | "timeout" | "proxy" } = {
    addresses: [],
  };
  const signal = AbortSignal.timeout(60_000);
  const outcome = await egress.connect({ host, port: 80, policy: "monitor", signal, contact });
  outcomes.push({
    message: "message" in outcome ? outcome.message : "",
    isAnswer: outside.lastAt > Number.NEGATIVE_INFINITY,
    silence: contact.silence ?? null,
  });
}
console.log(JSON.stringify(outcomes));
