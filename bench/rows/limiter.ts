import type { LimiterCost } from "../programs/limiter-decisions";
import { compileProgram } from "../support/compile";
import { type Figure, median, megabytes } from "../support/figure";
import type { Workspace } from "../support/workspace";

const RUNS = 5;
const REACH_NANOSECONDS = 500;
/** Memory of an entry for an IPv4 address. */
const REACH_BYTES = 190;

/** Processor time of a decision, and the memory of all buckets, each run in a fresh process. */
export async function measureLimiter(workspace: Workspace): Promise<Figure[]> {
  const program = compileProgram(workspace, "limiter-decisions");
  const costs: LimiterCost[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([program]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    costs.push(JSON.parse(stdout.toString()));
  }
  const middle = (name: keyof LimiterCost) => median(costs.map((cost) => cost[name]));
  const count = middle("buckets").toLocaleString("en-US");
  const each = Math.max(middle("residentBytes"), middle("heapBytes")) / middle("buckets");
  return [
    {
      what: `processor time of a limiter decision with ${count} live buckets`,
      target: `${REACH_NANOSECONDS} ns`,
      measured: `${Math.round(middle("nanoseconds"))} ns`,
      isReached: middle("nanoseconds") <= REACH_NANOSECONDS,
    },
    {
      what: "the same for an address beyond these",
      target: "",
      measured: `${Math.round(middle("overflowNanoseconds"))} ns`,
    },
    {
      what: `memory of one of ${count} buckets of IPv4 addresses`,
      target: `${REACH_BYTES} B`,
      measured: `${Math.round(each)} B (${megabytes(middle("residentBytes"))} in all)`,
      isReached: each <= REACH_BYTES,
    },
  ];
}
