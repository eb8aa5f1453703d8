import { Database } from "bun:sqlite";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { compileProgram } from "./compile";
import { type Figure, median, rounded } from "./figure";
import { processMs } from "./processor-time";
import { startAllclear } from "./server";
import { runWrk } from "./wrk";
import type { Workspace } from "./workspace";

export const CLIENTS = 32;

/** Durable changes by requests, and the program of the bench that writes the same rows without a server. */
interface Changes {
  dataDir: string;
  key: string;
  /** Script of wrk (Lua), which gets the ids of components. */
  script: string;
  componentIds: readonly string[];
  /** Name of the program. */
  raw: string;
  /** Rounds that are not measured, and those that are. */
  warmUps: number;
  rounds: number;
  seconds: number;
  /** Counts the changes that are stored. */
  count(database: Database): number;
  /** Share of the requests that must have changed something. */
  changedAtLeast: number;
  /** Called after each round, with the changed database. */
  afterRound?: (database: Database) => void;
  /** Name of the figure. */
  what: string;
}

/** Measures changes by many clients, against one raw commit each, on the same disk. */
export async function measureBesideRaw(workspace: Workspace, changes: Changes): Promise<Figure[]> {
  const { dataDir, key, componentIds, seconds, afterRound } = changes;
  const raw = compileProgram(workspace, changes.raw);
  const rawDir = workspace.path("raw");
  cpSync(dataDir, rawDir, { recursive: true });
  const script = workspace.path("changes.lua");
  await Bun.write(script, changes.script);
  const server = await startAllclear(workspace, dataDir);
  const database = openFile(dataDir);
  const rawDatabase = afterRound && openFile(rawDir);
  let sent = 0;
  const change = async () => {
    const before = changes.count(database);
    const { requests, perSecond } = await runWrk(server.url, {
      connections: CLIENTS,
      seconds,
      headers: { Authorization: `Bearer ${key}` },
      script,
      args: componentIds,
    });
    const changed = changes.count(database) - before;
    if (changed < requests * changes.changedAtLeast) {
      throw new Error(`of ${requests} requests only ${changed} changed something`);
    }
    afterRound?.(database);
    sent += requests;
    return perSecond;
  };
  const commitRaw = () => {
    const file = join(rawDir, "allclear.db");
    const { exitCode, stdout, stderr } = Bun.spawnSync([raw, file, String(seconds)]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    if (rawDatabase) afterRound?.(rawDatabase);
    return Number(stdout.toString());
  };
  try {
    for (let warmUp = 0; warmUp < changes.warmUps; warmUp++) await change();
    sent = 0;
    const spentBefore = processMs(server.pid);
    const rounds: { ours: number; raw: number }[] = [];
    for (let round = 0; round < changes.rounds; round++) {
      const ours = await change();
      rounds.push({ ours, raw: workspace.isCompared ? Number.NaN : commitRaw() });
    }
    const spentMs = processMs(server.pid) - spentBefore;
    const ratio = median(rounds.map(({ ours, raw: theirs }) => ours / theirs));
    const ours = rounded(median(rounds.map((round) => round.ours)));
    const theirs = rounded(median(rounds.map((round) => round.raw)));
    return [
      {
        what: changes.what,
        target: "faster than one raw SQLite commit a request",
        measured: `${ratio.toFixed(2)} times as fast (${ours}/s against ${theirs}/s)`,
        isReached: ratio > 1,
        numbers: {
          "requests per second": median(rounds.map((round) => round.ours)),
          "µs of processor time per request": (spentMs * 1_000) / sent,
        },
      },
    ];
  } finally {
    database.close();
    rawDatabase?.close();
    await server.stop();
  }
}

function openFile(dataDir: string): Database {
  const database = new Database(join(dataDir, "allclear.db"), { strict: true });
  database.run("PRAGMA busy_timeout = 5000");
  return database;
}
