import { gunzipSync } from "node:zlib";
import { type Answer, type Connection, openConnection, requestText } from "../support/connection";
import { browserRequest, seedDashboard } from "../support/dashboard";
import type { Figure } from "../support/figure";
import { startAllclear } from "../support/server";
import type { Workshop } from "../support/workshop";

const REACH_BYTES = 30_000;
const LINK = /<(?:link|script|img|source|iframe)\b[^>]*?\b(?:href|src)="(\/[^"]+)"/g;

/** What a browser that comes for the first time receives of each page: bodies, as they are sent. */
export async function measureDashboardWeight(workshop: Workshop): Promise<Figure[]> {
  const { dataDir, pages, answers, sessions } = await seedDashboard(workshop.path("data"));
  const server = await startAllclear(workshop, dataDir);
  const connection = await openConnection(server.url);
  try {
    const weighAsset = createAssetScales(server.url, connection);
    const weighed: { name: string; html: number; total: number }[] = [];
    for (const page of [...pages, ...answers]) {
      const request = browserRequest(server.url, page, sessions[0] as string);
      const answer = await connection.send(request);
      if (answer.headers.has("location")) continue;
      const links = new Set([...textOf(answer).matchAll(LINK)].map(([, path = ""]) => path));
      if (links.size === 0) throw new Error(`${page.path} answered ${answer.status} and no page`);
      const html = answer.body.byteLength;
      let total = html;
      for (const path of links) total += await weighAsset(path);
      weighed.push({ name: page.name, html, total });
    }
    const worst = weighed.sort((a, b) => b.total - a.total)[0];
    if (!worst) throw new Error("there is no page");
    return [
      {
        what: `the heaviest of the dashboard's ${weighed.length} pages with its style, script and icon, compressed, nothing cached`,
        reach: kilobytes(REACH_BYTES),
        measured: `${kilobytes(worst.total)} (${worst.name}; ${kilobytes(worst.html)} of it the page itself)`,
        isReached: worst.total <= REACH_BYTES,
      },
    ];
  } finally {
    connection.close();
    await server.stop();
  }
}

/** Tells the bytes of assets, each asked for once. Throws for one that leads to more. */
function createAssetScales(url: string, connection: Connection): (path: string) => Promise<number> {
  const known = new Map<string, number>();
  return async (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const headers = { "Accept-Encoding": "gzip" };
    const answer = await connection.send(requestText(url, path, { headers }));
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    if (/url\(|@import|^import /m.test(textOf(answer))) throw new Error(`${path} leads to more`);
    known.set(path, answer.body.byteLength);
    return answer.body.byteLength;
  };
}

function textOf({ headers, body }: Answer): string {
  return (headers.get("content-encoding") === "gzip" ? gunzipSync(body) : body).toString();
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
