import type { Flood } from "../programs/sign-in-flood";
import { addOwner, OWNER } from "../support/add-owner";
import { compileProgram } from "../support/compile";
import { type Figure, median, megabytes, percentile } from "../support/figure";
import { type FloodOutcome, PACE_MS, readDuringFlood } from "../support/read-during-flood";
import { type Seed, seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

const RUNS = 5;
const SIGN_INS = 500;
const REACH_MS = { one: 100, many: 200 };

type Addresses = "one" | "many";

interface Outcome extends Omit<FloodOutcome<Flood>, "reads"> {
  /** Milliseconds of the reads that were under way during the flood. */
  p99: number;
  slowest: number;
}

/** Wrong sign-ins all at once, and how long readers of the public page wait meanwhile. */
export async function measureLogInFlood(workspace: Workspace): Promise<Figure[]> {
  const seeded = await seed(workspace.path("data"), { keys: 1 });
  await addOwner(seeded.dataDir);
  const program = compileProgram(workspace, "sign-in-flood");
  const figures: Figure[] = [];
  for (const addresses of ["many", "one"] as const) {
    const outcomes: Outcome[] = [];
    for (let run = 0; run < RUNS; run++) {
      outcomes.push(await floodOnce(workspace, seeded, program, addresses));
    }
    figures.push(...present(outcomes, addresses));
  }
  return figures;
}

function present(outcomes: readonly Outcome[], addresses: Addresses): Figure[] {
  const middle = (of: (outcome: Outcome) => number) => median(outcomes.map(of));
  const p99 = middle((outcome) => outcome.p99);
  const worst = Math.max(...outcomes.map((outcome) => outcome.p99));
  const work = Math.max(...outcomes.map((outcome) => outcome.mostWorkMs));
  const slowest = Math.max(...outcomes.map((outcome) => outcome.slowest));
  const unanswered = outcomes.reduce((sum, { flood }) => sum + flood.unanswered, 0);
  const answered = (status: number) => middle(({ flood }) => flood.answers[status] ?? 0);
  const seconds = middle(({ flood }) => flood.slowestMs) / 1_000;
  const peak = middle((outcome) => outcome.peakBytes);
  const growth = middle((outcome) => outcome.peakBytes - outcome.idleBytes);
  const from = addresses === "one" ? "one address" : `${SIGN_INS} addresses`;
  return [
    {
      what: `the public page, every ${PACE_MS} ms, while ${SIGN_INS} wrong sign-ins come at once from ${from}, p99 from when it was due`,
      target: `${REACH_MS[addresses]} ms`,
      measured: `${p99.toFixed(1)} ms, at most ${worst.toFixed(1)} ms in ${RUNS} runs (slowest read ${slowest.toFixed(0)} ms; at most ${work.toFixed(0)} ms of the server's thread in one read)`,
      isReached: worst <= REACH_MS[addresses],
      numbers: { "p99 in ms": p99, "most processor time in one read in ms": work },
    },
    {
      what: "of those sign-ins",
      target: "each is answered",
      measured: `${answered(422)} judged, ${answered(429)} told to wait, ${answered(503)} told that too many ask; ${unanswered} without an answer, the last after ${seconds.toFixed(1)} s`,
      isReached: unanswered === 0,
      numbers: { verified: answered(422), "seconds until the last": seconds },
    },
    {
      what: "memory at its most meanwhile",
      target: "",
      measured: `${megabytes(peak)} (${megabytes(growth)} more than idle)`,
      numbers: { MB: peak / 1e6 },
    },
  ];
}

async function floodOnce(
  workspace: Workspace,
  seeded: Seed,
  program: string,
  addresses: Addresses,
): Promise<Outcome> {
  const { reads, ...outcome } = await readDuringFlood<Flood>(workspace, seeded, (url) => [
    program,
    url,
    OWNER.email,
    String(SIGN_INS),
    addresses,
  ]);
  const { from, until } = outcome.flood;
  const during = reads
    .filter(({ due, ms }) => due + ms >= from && due <= until)
    .map(({ ms }) => ms);
  return { ...outcome, p99: percentile(during, 99), slowest: Math.max(...during) };
}
