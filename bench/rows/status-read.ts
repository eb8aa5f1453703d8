import { CONNECTIONS, readBesideBare } from "../support/beside-bare";
import { measureReads } from "../support/read-cost";
import type { Figure } from "../support/figure";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

const REACH = 0.8;
const ROUNDS = 9;

/** Reading the status document, against servers that do no work for the same bytes and headers. */
export async function measureStatusRead(workspace: Workspace): Promise<Figure[]> {
  // A key for each round, whose bucket is full.
  const { dataDir, slug, keys } = await seed(workspace.path("data"), { keys: 1 + ROUNDS });
  const read = {
    dataDir,
    path: `/api/v1/status/${slug}`,
    rounds: keys.map((key) => ({ Authorization: `Bearer ${key}` })),
  };
  if (workspace.isCompared) return [await measureReads(workspace, read)];
  const { ratio, ratioToInstance, ...found } = await readBesideBare(workspace, read);
  return [
    {
      what: `\`GET /api/v1/status/{slug}\`, 20 components (${found.size}), valid key, ${CONNECTIONS} connections, one core`,
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
