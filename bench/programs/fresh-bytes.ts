/**
 * Fills the data directory that it is given with a large page and a year of incidents, then changes the
 * page again and again, each time in another way, and prints as JSON what it takes from the commit to
 * the bytes of each document, as the front door answers who asks first.
 */
import { createApp } from "../../src/app";
import { setManualStatuses } from "../../src/features/components/statuses";
import { CLI_ACTOR } from "../../src/base/actor";
import { openData } from "../support/open-data";
import { seedHistory } from "../support/seed-history";
import { addUpdate, createKey } from "../../test/support/examined";

/** Milliseconds of each round, and the size in bytes as sent, by the document. */
export type FreshBytes = Record<string, { ms: number[]; bytes: number }>;

const HISTORY = { incidents: 1_000, days: 365, updates: 4 };
const ROUNDS = 200;
/** Until the code is compiled, as in a server that has run for a while. */
const REHEARSALS = 100;
const STATUSES = ["major_outage", "operational"] as const;
const ORIGIN = "http://127.0.0.1:8080";

const installation = openData(process.argv[2] ?? "", { canCreate: true });
const { ctx } = installation;
const { slug, componentIds, incidentIds } = await seedHistory(ctx, HISTORY);
const key = await ctx.db.write((tx) => {
  const body = { name: "bench", scopes: ["read:status" as const], rate_limit: 1_000_000 };
  return createKey(ctx, tx, body, CLI_ACTOR).value;
});

const page = `/status/${slug}`;
const asked: [what: string, path: string, headers: Record<string, string>][] = [
  ["the status document", `/api/v1/status/${slug}`, { Authorization: `Bearer ${key}` }],
  ["`/api/v2/summary.json`", `${page}/api/v2/summary.json`, {}],
  ["`/api/v2/incidents.json`", `${page}/api/v2/incidents.json`, {}],
  ["the public page", page, {}],
  ["the public page, compressed", page, { "Accept-Encoding": "gzip" }],
];

const fresh: FreshBytes = {};
for (const [what, path, headers] of asked) {
  // Of its own, so that what is asked for is the first that is made of the change.
  const app = createApp(ctx);
  const spent: { ms: number[]; bytes: number } = { ms: [], bytes: 0 };
  for (let round = -REHEARSALS; round < ROUNDS; round++) {
    await change(round + REHEARSALS);
    const request = new Request(ORIGIN + path, { headers });
    const since = Bun.nanoseconds();
    const answer = await app.handle(request, () => "127.0.0.1");
    const { byteLength } = await answer.bytes();
    const ms = (Bun.nanoseconds() - since) / 1e6;
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    spent.bytes = byteLength;
    if (round >= 0) spent.ms.push(ms);
  }
  app.usage.stop();
  fresh[what] = spent;
}
installation.close();
process.stdout.write(JSON.stringify(fresh));

function change(round: number): Promise<unknown> {
  return ctx.db.write((tx) => {
    if (round % 2 === 0) {
      const update = { body: `Still at it, no. ${round}` };
      return addUpdate(ctx, tx, incidentIds[round % 5] ?? "", update, CLI_ACTOR);
    }
    const id = componentIds[round % componentIds.length] ?? "";
    const status = STATUSES[Math.floor(round / componentIds.length) % 2] ?? "operational";
    const why = { source: "manual", actor: CLI_ACTOR, reason: null } as const;
    return setManualStatuses(ctx, tx, new Map([[id, status]]), why);
  });
}
