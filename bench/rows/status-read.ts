import { CONNECTIONS, readBesideBare } from "../support/beside-bare";
import type { Figure } from "../support/figure";
import { seed } from "../support/seed";
import type { Workshop } from "../support/workshop";

const REACH = 0.8;
const ROUNDS = 9;

/** Reading the status document, against servers that do no work for the same bytes and headers. */
export async function measureStatusRead(workshop: Workshop): Promise<Figure[]> {
  // A key for each round, whose bucket is full.
  const { dataDir, slug, keys } = await seed(workshop.path("data"), { keys: 1 + ROUNDS });
  const { ratio, ratioToInstance, ...found } = await readBesideBare(workshop, {
    dataDir,
    path: `/api/v1/status/${slug}`,
    rounds: keys.map((key) => ({ Authorization: `Bearer ${key}` })),
  });
  return [
    {
      what: `\`GET /api/v1/status/{slug}\`, 20 components (${found.size}), valid key, ${CONNECTIONS} connections, one core`,
      reach: `${REACH.toFixed(2)} of bare \`Bun.serve\``,
      measured: `${ratio.toFixed(2)} (${found.ours}/s against ${found.plain}/s)`,
      isReached: ratio >= REACH,
    },
    {
      what: "the same, where the bare server keeps its headers in one constant `Headers`",
      reach: "",
      measured: `${ratioToInstance.toFixed(2)} (against ${found.instance}/s)`,
    },
  ];
}
