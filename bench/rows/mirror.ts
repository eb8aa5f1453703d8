import { existsSync, readFileSync } from "node:fs";
import { CLI_ACTOR } from "../../src/base/actor";
import { HOUR_MS, toIso } from "../../src/base/time";
import { type Figure, median } from "../support/figure";
import { openData } from "../support/open-data";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";
import {
  createComponent,
  createIncident,
  createKey,
  createPage,
} from "../../test/support/examined";

const PAGES = 20;
const COMPONENTS = 20;
const INCIDENTS = 60;
const ROUNDS = 5;
const REACH_MS = 2_000;
const PATIENCE_MS = 60_000;

/** From a change to the list of files of a mirror that has it, in a folder. This includes the second of gathering. */
export async function measureMirror(workspace: Workspace): Promise<Figure[]> {
  const dataDir = workspace.path("data");
  const folder = workspace.path("mirror");
  const { key, slugs } = await seedPages(dataDir);
  const server = await startAllclear(workspace, dataDir, { env: { ALLCLEAR_MIRROR: folder } });
  try {
    await untilCopied(folder, 0);
    const report = async (slug: string, round: number) => {
      const json = { page: slug, name: `Trouble ${round}`, body: "We look into it." };
      const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
      const request = { method: "POST", headers, body: JSON.stringify(json) };
      const answer = await fetch(`${server.url}/api/v1/incidents`, request);
      if (answer.status !== 201) throw new Error(`the answer was ${answer.status}`);
    };
    const one: number[] = [];
    const all: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      one.push(await timeOf(folder, () => report(slugs[round] ?? "", round)));
      all.push(
        await timeOf(folder, async () => {
          for (const slug of slugs) await report(slug, round);
        }),
      );
    }
    const count = Object.keys(indexOf(folder)?.files ?? {}).length;
    return [
      figure(`one change → a mirror of ${PAGES} pages (${count} files in a folder)`, one, REACH_MS),
      figure(`a change of each of the ${PAGES} pages → the same mirror`, all),
    ];
  } finally {
    await server.stop();
  }
}

function figure(what: string, times: readonly number[], reachMs?: number): Figure {
  const middle = median([...times]);
  return {
    what: `${what}, median of ${ROUNDS}`,
    target: reachMs === undefined ? "" : `${reachMs / 1_000} s`,
    measured: `${(middle / 1_000).toFixed(2)} s (slowest ${(Math.max(...times) / 1_000).toFixed(2)} s)`,
    ...(reachMs !== undefined && { isReached: middle <= reachMs }),
    numbers: { "median in ms": middle },
  };
}

/** Returns the milliseconds from the answer to a change to a complete mirror. */
async function timeOf(folder: string, change: () => Promise<void>): Promise<number> {
  await change();
  const since = performance.now();
  await untilCopied(folder, Date.now());
  return performance.now() - since;
}

/** Waits for a copy of the data of a moment (unix ms) or later. */
async function untilCopied(folder: string, moment: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const asOf = indexOf(folder)?.as_of;
    if (asOf && Date.parse(asOf) >= moment) return;
    await Bun.sleep(10);
  }
  throw new Error("the mirror was not written");
}

function indexOf(folder: string): { as_of: string | null; files: object } | undefined {
  const path = `${folder}/mirror.json`;
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** Fills a new data directory with pages that have two months of incidents each. */
async function seedPages(dataDir: string): Promise<{ key: string; slugs: string[] }> {
  const { ctx, close } = openData(dataDir, { canCreate: true });
  try {
    const slugs: string[] = [];
    for (let number = 1; number <= PAGES; number++) {
      const slug = `page-${number}`;
      slugs.push(slug);
      await ctx.db.write((tx) => {
        const page = createPage(ctx, tx, { slug, name: `Page ${number}` }, CLI_ACTOR);
        const ids = Array.from({ length: COMPONENTS }, (_, position) => {
          const at = { position, managedBy: null, groupId: null };
          return createComponent(ctx, tx, page, { name: `Service ${position}` }, at, CLI_ACTOR).id;
        });
        for (let past = INCIDENTS; past > 0; past--) {
          const startedAt = ctx.clock.now() - past * 24 * HOUR_MS;
          const input = {
            page: slug,
            name: `Past trouble ${past}`,
            body: "Some requests failed. We restarted the service.",
            components: { [ids[past % COMPONENTS] ?? ""]: "partial_outage" as const },
            started_at: toIso(startedAt),
            resolved_at: toIso(startedAt + HOUR_MS),
          };
          createIncident(ctx, tx, input, "api", CLI_ACTOR);
        }
      });
    }
    const key = await ctx.db.write((tx) => {
      const body = { name: "bench", scopes: ["write:incidents" as const], rate_limit: 1_000_000 };
      return createKey(ctx, tx, body, CLI_ACTOR).value;
    });
    return { key, slugs };
  } finally {
    close();
  }
}
