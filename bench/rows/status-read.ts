import { measureBesideBare } from "../support/beside-bare";
import type { Figure } from "../support/figure";
import { CONNECTIONS } from "../support/read-cost";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

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
  return measureBesideBare(
    workspace,
    read,
    (size) =>
      `\`GET /api/v1/status/{slug}\`, 20 components (${size}), valid key, ${CONNECTIONS} connections, one core`,
  );
}
