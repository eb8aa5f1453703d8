import { startS3 } from "../../test/support/fleet/s3";
import { type Figure, median, percentile } from "../support/figure";
import { fleetSettings } from "../support/fleet";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const PER_SECOND = 100;
const WRITES = 1_000;
const WARM_UP = 100;

interface Writes {
  /** Times from the request to the answer, in ms. */
  times: number[];
  /** Answers to writes that were not uploaded. */
  local: number;
  /** Statuses of other answers than 201. */
  refused: number[];
}

/** Time of changes at the primary of a fleet, which are uploaded before the answer, and without that. */
export async function measureAcknowledgedWrites(workspace: Workspace): Promise<Figure[]> {
  const uploaded = await writesWith(workspace, "replicated");
  if (uploaded.local > 0) throw new Error(`${uploaded.local} writes were not uploaded`);
  const local = await writesWith(workspace, "local");
  const [p50, p95] = [median(uploaded.times), percentile(uploaded.times, 95)];
  const shown = ({ times }: Writes) =>
    `p50 ${median(times).toFixed(1)} ms, p95 ${percentile(times, 95).toFixed(1)} ms`;
  return [
    {
      what: `a change that is uploaded before its answer, ${PER_SECOND} a second, store on the same machine`,
      target: "",
      measured: shown(uploaded),
      numbers: { "p50 in ms": p50, "p95 in ms": p95 },
    },
    { what: "the same with `--ack local`", target: "", measured: shown(local) },
  ];
}

async function writesWith(workspace: Workspace, ack: "replicated" | "local"): Promise<Writes> {
  await using store = await startS3();
  const site = await seed(workspace.path("data"), { keys: 1, scopes: ["write:incidents"] });
  const env = { ...(await fleetSettings(store)), ALLCLEAR_ACK: ack };
  const server = await startAllclear(workspace, site.dataDir, { env });
  try {
    const writes: Writes = { times: [], local: 0, refused: [] };
    const write = async (number: number) => {
      const from = performance.now();
      const answer = await fetch(`${server.url}/api/v1/incidents`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${site.keys[0]}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ page: site.slug, name: `Write ${number}`, body: "It is down." }),
      });
      await answer.arrayBuffer();
      if (answer.status !== 201) writes.refused.push(answer.status);
      if (number < WARM_UP) return;
      writes.times.push(performance.now() - from);
      if (ack === "replicated" && answer.headers.has("Allclear-Durability")) writes.local += 1;
    };
    const sent: Promise<void>[] = [];
    const began = performance.now();
    for (let number = 0; number < WARM_UP + WRITES; number++) {
      sent.push(write(number));
      await Bun.sleep(Math.max(0, began + (number * 1_000) / PER_SECOND - performance.now()));
    }
    await Promise.all(sent);
    if (writes.refused.length > 0)
      throw new Error(`writes were answered with ${writes.refused[0]}`);
    return writes;
  } finally {
    await server.stop();
  }
}
