import { CLI_ACTOR } from "../../src/base/actor";
import type { ComponentStatus } from "../../src/base/status";
import { UPDATE_TEXT_MAX, UPDATES_MAX } from "../../src/features/timeline/updates";
import { openConnection, requestText } from "../support/connection";
import { type Figure, percentile } from "../support/figure";
import { openData } from "../support/open-data";
import { costOf } from "../support/request-cost";
import { seed } from "../support/seed";
import { seedHistory } from "../support/seed-history";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";
import { addUpdate, createIncident } from "../../test/support/examined";

const ROUNDS = 50;
const REHEARSALS = 20;
const REACH_MS = 50;
const NOTHING_YET = { incidents: 0, days: 1, updates: 4 };

/** Text and number of named components of each update, by the kind of incident measured. */
const SHAPES = {
  "with the longest texts": { text: "y".repeat(UPDATE_TEXT_MAX), named: 2 },
  "with as many named components as it may have": { text: "More.", named: 40 },
};

/** Reading an incident that has as many updates as it may have. */
export async function measureFullIncident(workspace: Workspace): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, shape] of Object.entries(SHAPES)) {
    const { dataDir, keys } = await seed(workspace.path("data"), { keys: 1 });
    const id = await openFullIncident(dataDir, shape);
    const server = await startAllclear(workspace, dataDir);
    const connection = await openConnection(server.url);
    try {
      const headers = { Authorization: `Bearer ${keys[0]}` };
      const cost = await costOf({
        server,
        connection,
        request: requestText(server.url, `/api/v1/incidents/${id}`, { headers }),
        rounds: ROUNDS,
        rehearsals: REHEARSALS,
        check({ status }) {
          if (status !== 200) throw new Error(`the incident was answered ${status}`);
        },
      });
      const [worst, middle] = [percentile(cost.server, 99), percentile(cost.server, 50)];
      figures.push({
        what: `\`GET /api/v1/incidents/{id}\`, ${UPDATES_MAX} updates ${what}, processor time of the server, p99`,
        target: `${REACH_MS} ms`,
        measured: `${worst.toFixed(1)} ms (median ${middle.toFixed(1)} ms)`,
        isReached: worst <= REACH_MS,
        numbers: { "p99 in ms": worst, "median in ms": middle },
      });
    } finally {
      connection.close();
      await server.stop();
    }
  }
  return figures;
}

/** Opens an incident with 250 updates on a large page, each of which names `named` components. */
async function openFullIncident(
  dataDir: string,
  { text, named }: { text: string; named: number },
): Promise<string> {
  const { ctx, close } = openData(dataDir);
  try {
    const { slug, componentIds } = await seedHistory(ctx, NOTHING_YET);
    const namedAt = (count: number): Record<string, ComponentStatus> => {
      const status = count % 2 === 0 ? "partial_outage" : "major_outage";
      return Object.fromEntries(componentIds.slice(0, named).map((id) => [id, status]));
    };
    return await ctx.db.write((tx) => {
      const input = { page: slug, name: "A long incident", body: text, components: namedAt(0) };
      const { id } = createIncident(ctx, tx, input, "api", CLI_ACTOR).row;
      for (let count = 1; count < UPDATES_MAX; count++) {
        addUpdate(ctx, tx, id, { body: text, components: namedAt(count) }, CLI_ACTOR);
      }
      return id;
    });
  } finally {
    close();
  }
}
