/**
 * Baseline for checks: evenly spread requests with `node:http`, each over a new connection.
 * `bare-checks URL N` sends N requests per second until it is stopped.
 */
import { request } from "node:http";

/** As many are begun together as are due within this. */
const TICK_MS = 25;

const [url = "", perSecond = ""] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const since = performance.now();
let asked = 0;

function ask(): void {
  asked += 1;
  const sent = request({ hostname, port, path: `/service/${asked}`, agent: false }, (answer) => {
    answer.resume();
  });
  sent.end();
}

setInterval(() => {
  const due = ((performance.now() - since) / 1_000) * Number(perSecond);
  while (asked < due) ask();
}, TICK_MS);
process.stderr.write(`Open ${url}\n`);
