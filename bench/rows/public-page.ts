import { CONNECTIONS, readBesideBare } from "../support/beside-bare";
import type { Figure } from "../support/figure";
import { measureReads } from "../support/read-cost";
import { seed } from "../support/seed";
import { seedPast } from "../support/seed-past";
import type { Workspace } from "../support/workspace";

const REACH = 0.8;
const ROUNDS = 9;

/** Reading the public page as browsers do, against servers that do no work for the same bytes. */
export async function measurePublicPage(workspace: Workspace): Promise<Figure[]> {
  const seeded = await seed(workspace.path("data"));
  await seedPast(seeded);
  const read = {
    dataDir: seeded.dataDir,
    path: `/status/${seeded.slug}`,
    rounds: Array.from({ length: 1 + ROUNDS }, () => ({ "Accept-Encoding": "gzip" })),
    // All requests come from one address, whose bucket each of them is charged to.
    server: { env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" } },
  };
  if (workspace.isCompared) return [await measureReads(workspace, read)];
  const { ratio, ratioToInstance, ...found } = await readBesideBare(workspace, read);
  return [
    {
      what: `the public page, 20 components with three months of history (${found.size} compressed), charged to the client's address, ${CONNECTIONS} connections, one core`,
      target: `${REACH.toFixed(2)} of bare \`Bun.serve\``,
      measured: `${ratio.toFixed(2)} (${found.ours}/s against ${found.plain}/s)`,
      isReached: ratio >= REACH,
    },
    {
      what: "the same, where the bare server keeps its headers in one constant `Headers`",
      target: "",
      measured: `${ratioToInstance.toFixed(2)} (against ${found.instance}/s)`,
    },
  ];
}
