import { openConnection, requestText } from "../support/connection";
import type { Figure } from "../support/figure";
import {
  createScales,
  kilobytes,
  requireAlone,
  resourcesOf,
  textOf,
} from "../support/page-resources";
import { seed } from "../support/seed";
import { seedPast } from "../support/seed-past";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const REACH_HTML_BYTES = 15_000;
const REACH_BYTES = 30_000;

/**
 * Measures the bytes that a browser with an empty cache receives for the public page, and the
 * requests that it waits for.
 */
export async function measureFirstView(workspace: Workspace): Promise<Figure[]> {
  const seeded = await seed(workspace.path("data"));
  await seedPast(seeded);
  const server = await startAllclear(workspace, seeded.dataDir);
  const connection = await openConnection(server.url);
  try {
    const path = `/status/${seeded.slug}`;
    const headers = { Accept: "text/html", "Accept-Encoding": "gzip, deflate, br, zstd" };
    const answer = await connection.send(requestText(server.url, path, { headers }));
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    const text = textOf(answer);
    requireAlone(text, path);
    const resources = resourcesOf(text);
    const awaited = 1 + resources.filter(({ isBlocking }) => isBlocking).length;
    const html = answer.body.byteLength;
    const weigh = createScales(server.url, connection);
    let total = html;
    for (const resource of resources) total += await weigh(resource.path);
    const page = "the public page, 20 components with three months of history";
    return [
      {
        what: `${page}: what is asked for until it is painted`,
        target: "1 request",
        measured: `${awaited} (and ${1 + resources.length - awaited} after it)`,
        isReached: awaited === 1,
        numbers: { requests: awaited },
      },
      {
        what: "its HTML with its style, compressed",
        target: kilobytes(REACH_HTML_BYTES),
        measured: kilobytes(html),
        isReached: html <= REACH_HTML_BYTES,
        numbers: { bytes: html },
      },
      {
        what: "everything that a first view loads, compressed",
        target: kilobytes(REACH_BYTES),
        measured: kilobytes(total),
        isReached: total <= REACH_BYTES,
        numbers: { bytes: total },
      },
    ];
  } finally {
    connection.close();
    await server.stop();
  }
}
