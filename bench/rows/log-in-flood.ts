import type { Flood } from "../programs/sign-in-flood";
import { addOwner, OWNER } from "../support/add-owner";
import { compileProgram } from "../support/compile";
import { openConnection, requestText } from "../support/connection";
import { readUntil } from "../support/paced-reads";
import { type Figure, median, megabytes, percentile } from "../support/figure";
import { forgetPeak, peakResidentBytes, residentBytes } from "../support/memory";
import { type Seed, seed } from "../support/seed";
import { startAllclear } from "../support/server";
import type { Workshop } from "../support/workshop";

const RUNS = 5;
const SIGN_INS = 500;
const REACH_MS = { one: 100, many: 200 };
/** Milliseconds between two reads of the page. */
const PACE_MS = 5;
const WARM_UP_READS = 1_000;
const SETTLE_MS = 2_000;

type Addresses = "one" | "many";

interface Outcome {
  flood: Flood;
  /** Of the reads that were under way during the flood, in milliseconds. */
  p99: number;
  slowest: number;
  idleBytes: number;
  peakBytes: number;
}

/** Wrong sign-ins all at once, and how long readers of the public page wait meanwhile. */
export async function measureLogInFlood(workshop: Workshop): Promise<Figure[]> {
  const seeded = await seed(workshop.path("data"), { keys: 1 });
  await addOwner(seeded.dataDir);
  const program = compileProgram(workshop, "sign-in-flood");
  const figures: Figure[] = [];
  for (const addresses of ["many", "one"] as const) {
    const outcomes: Outcome[] = [];
    for (let run = 0; run < RUNS; run++) {
      outcomes.push(await floodOnce(workshop, seeded, program, addresses));
    }
    figures.push(...present(outcomes, addresses));
  }
  return figures;
}

function present(outcomes: readonly Outcome[], addresses: Addresses): Figure[] {
  const middle = (of: (outcome: Outcome) => number) => median(outcomes.map(of));
  const p99 = middle((outcome) => outcome.p99);
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
      reach: `${REACH_MS[addresses]} ms`,
      measured: `${p99.toFixed(1)} ms (slowest ${slowest.toFixed(0)} ms)`,
      isReached: p99 <= REACH_MS[addresses],
    },
    {
      what: "of those sign-ins",
      reach: "each is answered",
      measured: `${answered(422)} judged, ${answered(429)} told to wait, ${answered(503)} told that too many ask; ${unanswered} without an answer, the last after ${seconds.toFixed(1)} s`,
      isReached: unanswered === 0,
    },
    {
      what: "memory at its most meanwhile",
      reach: "",
      measured: `${megabytes(peak)} (${megabytes(growth)} more than idle)`,
    },
  ];
}

async function floodOnce(
  workshop: Workshop,
  { dataDir, slug }: Seed,
  program: string,
  addresses: Addresses,
): Promise<Outcome> {
  const server = await startAllclear(workshop, dataDir, {
    env: { ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  const reader = await openConnection(server.url);
  try {
    let reads = 0;
    const read = async () => {
      reads += 1;
      const headers = { "X-Forwarded-For": readerAddress(reads), "Accept-Encoding": "gzip" };
      const { status } = await reader.send(requestText(server.url, `/status/${slug}`, { headers }));
      if (status !== 200) throw new Error(`the public page answered ${status}`);
    };
    // The dashboard is loaded with the first request for it, which is no part of what is measured.
    await reader.send(requestText(server.url, "/admin/sign-in"));
    for (let count = 0; count < WARM_UP_READS; count++) await read();
    await Bun.sleep(SETTLE_MS);
    const idleBytes = residentBytes(server.pid);
    forgetPeak(server.pid);

    const child = Bun.spawn([program, server.url, OWNER.email, String(SIGN_INS), addresses], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const timed = await readUntil(child.exited, PACE_MS, read);
    const flood = JSON.parse(await new Response(child.stdout).text()) as Flood;
    const during = timed
      .filter(({ due, ms }) => due + ms >= flood.from && due <= flood.until)
      .map(({ ms }) => ms);
    return {
      flood,
      p99: percentile(during, 99),
      slowest: Math.max(...during),
      idleBytes,
      peakBytes: peakResidentBytes(server.pid),
    };
  } finally {
    reader.close();
    await server.stop();
  }
}

/** Readers come from many addresses, since each has a limit of its own. */
function readerAddress(count: number): string {
  return `192.0.2.${count % 200}`;
}
