/**
 * Fills the data directory that it is given with a large page and a year of incidents, then changes the
 * page again and again, each time in another way, and prints as JSON what it takes from the commit to
 * the bytes of each document.
 */
import { loadConfig } from "../../src/config";
import { setBaselines } from "../../src/features/components";
import { addUpdate } from "../../src/features/incidents";
import { createSnapshots, type Snapshot, type Snapshots } from "../../src/features/status";
import { NO_STORE, Representation } from "../../src/http";
import { openForCommand } from "../../src/installation";
import { CLI_ACTOR } from "../../src/kernel/actor";
import { V2_DOCUMENTS } from "../../src/public/v2/documents";
import { seedHistory } from "../support/seed-history";

/** Milliseconds of each round, and the size in bytes, by the document. */
export type FreshBytes = Record<string, { ms: number[]; bytes: number }>;

const INCIDENTS = 1_000;
const ROUNDS = 200;
/** Until the code is compiled, as in a server that has run for a while. */
const REHEARSALS = 100;
const STATUSES = ["major_outage", "operational"] as const;

const loaded = loadConfig({ dataDir: process.argv[2] ?? "", logLevel: "warn" }, {});
if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
const installation = openForCommand(loaded.config, "bench", { mayCreate: true });
const { ctx } = installation;
const { slug, componentIds, incidentIds } = await seedHistory(ctx, INCIDENTS);

const MAKE: Record<string, (snapshot: Snapshot) => object> = {
  "the status document": (snapshot) => snapshot.document,
};
for (const path of ["summary.json", "incidents.json"]) {
  const document = V2_DOCUMENTS.find((each) => each.path === path);
  if (!document) throw new Error(`there is no ${path}`);
  MAKE[`/api/v2/${path}`] = (snapshot) =>
    document.make({ snapshot, reader: ctx.db, now: ctx.clock.now() });
}

const fresh: FreshBytes = {};
for (const [what, make] of Object.entries(MAKE)) {
  // Of its own, so that what is made of it is the first that is asked for.
  const snapshots = createSnapshots(ctx);
  fresh[what] = { ms: [], bytes: 0 };
  for (let round = -REHEARSALS; round < ROUNDS; round++) {
    await change(round + REHEARSALS);
    const { ms, bytes } = measure(snapshots, make);
    fresh[what].bytes = bytes;
    if (round >= 0) fresh[what].ms.push(ms);
  }
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
    return setBaselines(ctx, tx, new Map([[id, status]]), why);
  });
}

function measure(snapshots: Snapshots, make: (snapshot: Snapshot) => object) {
  const since = Bun.nanoseconds();
  const snapshot = snapshots.read(slug, ctx.clock.now());
  if (!snapshot) throw new Error("there is no page");
  const { bytes } = new Representation(JSON.stringify(make(snapshot)), {
    mediaType: "application/json",
    cacheControl: NO_STORE,
  });
  return { ms: (Bun.nanoseconds() - since) / 1e6, bytes: bytes.byteLength };
}
