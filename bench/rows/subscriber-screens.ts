import { openConnection } from "../support/connection";
import { browserRequest, isScreen } from "../support/dashboard";
import { type Figure, percentile } from "../support/figure";
import { costOf } from "../support/request-cost";
import { seedSubscribers } from "../support/seed-subscribers";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const SUBSCRIBERS = 100_000;
const ROUNDS = 200;
const REHEARSALS = 100;
const REACH_MS = 10;

/** Screens of a page with many subscribers, over a socket, one request at a time. */
export async function measureSubscriberScreens(workspace: Workspace): Promise<Figure[]> {
  const seeded = await seedSubscribers(workspace.path("data"), SUBSCRIBERS, 12);
  const { dataDir, slug, sessions, subscriber, component } = seeded;
  const list = `/admin/subscribers?page=${slug}`;
  const paths = {
    "the list": list,
    "the list far down": `${list}&before=500`,
    "a search with one match": `${list}&q=person.77777`,
    "a search that half of them match in part": `${list}&q=zq.example.com`,
    "a search that all match": `${list}&q=example`,
    "a short search": `${list}&q=pe`,
    "a component": `${list}&component=${component}`,
    "a component and a search": `${list}&component=${component}&q=customer1`,
    suppressed: `${list}&show=suppressed`,
    "suppressed and a search without a match": `${list}&show=suppressed&q=nobody`,
    unsubscribed: `${list}&show=unsubscribed`,
    "one subscriber": `/admin/subscribers/${subscriber}`,
  };
  const server = await startAllclear(workspace, dataDir);
  const connection = await openConnection(server.url);
  try {
    const costs: { name: string; server: number; client: number }[] = [];
    for (const [index, [name, path]] of Object.entries(paths).entries()) {
      const page = { name, path, isPublic: false, status: 200 };
      const spent = await costOf({
        server,
        connection,
        request: browserRequest(server.url, page, sessions[index] ?? ""),
        rounds: ROUNDS,
        rehearsals: REHEARSALS,
        check: (answer) => void isScreen(page, answer),
      });
      costs.push({
        name,
        server: percentile(spent.server, 99),
        client: percentile(spent.client, 99),
      });
    }
    const [slowest] = costs.toSorted((a, b) => b.server - a.server);
    if (!slowest) throw new Error("nothing was measured");
    return [
      {
        what: `the slowest of ${costs.length} screens of a page with ${SUBSCRIBERS.toLocaleString("en-US")} subscribers and ten mails to each, the server's time on its processor, p99`,
        target: `${REACH_MS} ms`,
        measured: `${slowest.server.toFixed(1)} ms (${slowest.name}; a client on this machine waits ${slowest.client.toFixed(1)} ms)`,
        isReached: slowest.server <= REACH_MS,
        numbers: Object.fromEntries(costs.map((cost) => [`p99 in ms: ${cost.name}`, cost.server])),
      },
    ];
  } finally {
    connection.close();
    await server.stop();
  }
}
