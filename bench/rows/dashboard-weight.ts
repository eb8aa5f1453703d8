import { openConnection } from "../support/connection";
import { browserRequest, DASHBOARD_ENV, isScreen, seedDashboard } from "../support/dashboard";
import type { DashboardPage } from "../support/dashboard-pages";
import type { Figure } from "../support/figure";
import { createScales, kilobytes, resourcesOf, textOf } from "../support/page-resources";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const REACH_BYTES = 45_000;
const INCIDENTS = 100;

interface Weight {
  name: string;
  /** Bytes of the page itself, and of all that it loads. */
  html: number;
  total: number;
}

/** Measures the bodies, as sent, that a browser with an empty cache receives for each page. */
export async function measureDashboardWeight(workspace: Workspace): Promise<Figure[]> {
  const dashboard = await seedDashboard(workspace.path("data"), { incidents: INCIDENTS });
  const { dataDir, pages, answers, previews, largePages, sessions } = dashboard;
  const server = await startAllclear(workspace, dataDir, { env: DASHBOARD_ENV });
  const connection = await openConnection(server.url);
  try {
    const weighResource = createScales(server.url, connection);
    const weigh = async (asked: readonly DashboardPage[]): Promise<Weight[]> => {
      const weights: Weight[] = [];
      for (const page of asked) {
        const request = browserRequest(server.url, page, sessions[0] as string);
        const answer = await connection.send(request);
        if (!isScreen(page, answer)) continue;
        const resources = resourcesOf(textOf(answer));
        if (resources.length === 0) throw new Error(`${page.path} is no page`);
        const html = answer.body.byteLength;
        let total = html;
        for (const { path } of resources) total += await weighResource(path);
        weights.push({ name: page.name, html, total });
      }
      return weights;
    };
    const usual = await weigh([...pages, ...answers, ...previews]);
    const large = await weigh(largePages);
    return [
      heaviest(
        `the heaviest of the dashboard's ${usual.length} pages with its style, script and icon, without the font, compressed, nothing cached`,
        usual,
      ),
      heaviest(
        `the heaviest of ${large.length} screens of a status page of 200 components, likewise`,
        large,
      ),
    ];
  } finally {
    connection.close();
    await server.stop();
  }
}

function heaviest(what: string, weights: readonly Weight[]): Figure {
  const worst = weights.toSorted((a, b) => b.total - a.total)[0];
  if (!worst) throw new Error("there is no page");
  return {
    what,
    target: kilobytes(REACH_BYTES),
    measured: `${kilobytes(worst.total)} (${worst.name}; ${kilobytes(worst.html)} of it the page itself)`,
    isReached: worst.total <= REACH_BYTES,
    numbers: { bytes: worst.total },
  };
}
