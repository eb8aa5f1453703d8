import { measureBesideBare } from "../support/beside-bare";
import type { Figure } from "../support/figure";
import { CONNECTIONS } from "../support/read-cost";
import { seed } from "../support/seed";
import { seedPast } from "../support/seed-past";
import type { Workspace } from "../support/workspace";

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
  return measureBesideBare(
    workspace,
    read,
    (size) =>
      `the public page, 20 components with three months of history (${size} compressed), charged to the client's address, ${CONNECTIONS} connections, one core`,
  );
}
