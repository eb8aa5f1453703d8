/**
 * Listens on port 4000, connects a number of times to the first of some addresses that accepts, and prints
 * the last outcome as JSON: "connected", or the kind and message of the fault.
 * `bun connect-to.ts open|openPlain TIMES PORT ADDRESS…`.
 */
import { Connector } from "../../../src/egress/connect";
import { Fault } from "../../../src/egress/model";
import { systemClock } from "../../../src/base/clock";

const [, , way, times = "1", port = "", ...addresses] = process.argv;
Bun.listen({ hostname: "127.0.0.1", port: 4_000, socket: { data: () => {} } });
const connector = new Connector(systemClock(), undefined);
const signal = AbortSignal.timeout(240_000);
let shown: unknown;
for (let count = 0; count < Number(times); count++) {
  const target = { addresses, port: Number(port), signal };
  const opened = await (way === "open" ? connector.open(target) : connector.openPlain(target));
  shown = opened instanceof Fault ? { kind: opened.kind, message: opened.message } : "connected";
}
console.log(JSON.stringify(shown));
process.exit(0);
