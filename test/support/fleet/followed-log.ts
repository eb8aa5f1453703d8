import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { selectMany } from "../../../src/db/statements";
import { type Following, startFollowing } from "../../../src/fleet/follow/follow";
import { systemClock } from "../../../src/base/clock";
import { createTestLog } from "../log";
import { temporaryFolder } from "../temporary-folder";
import { startLink } from "./link";
import { litestreamPath } from "./litestream";
import { type LogWriter, startLogWriter } from "./log-writer";
import { startS3 } from "./s3";

const PREFIX = "term-000001-1";

/** Time in ms after which a replica is taken never to show what is uploaded. */
const CATCH_UP_MS = 4 * 60_000;
/** Number of reads that an observation needs, however long they take. */
export const LEAST_READS = 51;

/** Results of reads. Times are in ms. */
export interface Observed {
  reads: number;
  /** Reads that showed a part of a transaction. */
  torn: number;
  /** Reads that lacked what was uploaded before `asOf`. */
  stale: number;
  /** Reads that showed an older state than the read before. */
  backwards: number;
  /** Reads that were refused. */
  refused: number;
  /** Longest read that was answered, and longest time without an answer. */
  longestRead: number;
  longestGap: number;
  versions: number;
  lagP50: number;
  lagP99: number;
}

const readNumbers = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ least: sql<number>`min(n)`, most: sql<number>`max(n)` })
    .from(
      sql`(SELECT n FROM numbers UNION ALL SELECT max(n) FROM added HAVING max(n) IS NOT NULL)`,
    ),
);

/** Starts a primary with a store behind a link, and a replica that follows it. */
export async function startFollowedLog(
  kind: "updates" | "growing" | "large",
  perSecond: number,
  settings: Record<string, unknown> = {},
) {
  const folder = temporaryFolder();
  const s3 = await startS3("versitygw");
  const link = await startLink(s3.port);
  const { bucket, region } = s3.addressOf("fleet");
  const replicaOf = (prefix: string) => ({
    type: "s3",
    bucket,
    region,
    endpoint: s3.endpoint,
    "force-path-style": true,
    path: `fleet/${prefix}`,
  });
  const startWriter = (prefix: string, name: string) =>
    startLogWriter({
      folder: join(folder.path, name),
      kind,
      perSecond,
      replica: replicaOf(prefix),
      env: s3.env,
      settings,
    });
  const writer = await startWriter(PREFIX, "primary");
  const { log, lines } = createTestLog("info");
  const store = s3.open("fleet", { deadlineMs: 2_000 }, link.port);
  const program = await litestreamPath();
  const levelPrefix = (prefix: string, level: number) =>
    `${prefix}/${level.toString(16).padStart(4, "0")}/`;
  const replica = join(folder.path, "replica");
  const hints = { arrive: false };
  const start = (prefix = PREFIX) =>
    startFollowing({
      store,
      levelPrefix,
      prefix,
      folder: replica,
      program,
      clock: systemClock(),
      log,
      isPrimaryAlive: () => true,
      hasHints: () => hints.arrive,
    });
  let following = await start();

  return {
    writer,
    link,
    s3,
    lines,
    /** Store without the link. */
    store: s3.open("fleet"),
    levelPrefix,
    prefix: PREFIX,
    following: () => following,
    /** Says to the replica that hints of the primary arrive, which the test does not send. */
    hints,
    startWriter,
    /** Ends the replica, and starts it again. `meanwhile` gets the path of the database. */
    async restart(meanwhile?: (path: string) => Promise<void>, prefix = PREFIX) {
      await following.stop();
      await meanwhile?.(following.db.path);
      following = await start(prefix);
    },
    replica,
    program,
    log,
    /** Returns the process that follows; undefined if none runs. */
    followerPid(): number | undefined {
      try {
        return Number(readFileSync(`${following.db.path}-follower`, "utf8"));
      } catch {
        return undefined;
      }
    },
    /** Resolves when the replica shows what is uploaded now, to the time in ms that it took. */
    async caughtUp(from: LogWriter = writer): Promise<number> {
      const startedAt = performance.now();
      const wanted = Math.max(1, from.uploadedAt(Date.now()));
      while (performance.now() - startedAt < CATCH_UP_MS) {
        const state = await readState(following);
        if (state && state.most >= wanted) return Math.round(performance.now() - startedAt);
        await Bun.sleep(10);
      }
      throw new Error(
        `the replica lacks ${wanted}: ${JSON.stringify(following.state())} ${JSON.stringify(lines.slice(-20))}`,
      );
    },
    /** Reads every 5 ms for a time, while `disturb` runs, and until there were `LEAST_READS`. */
    observe: (ms: number, disturb?: () => Promise<void>) =>
      observe(() => following, writer, ms, disturb),
    async [Symbol.asyncDispose]() {
      await following.stop();
      await writer[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
      await s3[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

export type FollowedLog = Awaited<ReturnType<typeof startFollowedLog>>;

/** Reads the least and the greatest number of all rows; undefined if the read is refused. */
async function readState({ db }: Following): Promise<{ least: number; most: number } | undefined> {
  try {
    const [row] = await db.read(() => readNumbers(db, {}));
    return row;
  } catch {
    return undefined;
  }
}

async function observe(
  following: () => Following,
  writer: LogWriter,
  ms: number,
  disturb: (() => Promise<void>) | undefined,
): Promise<Observed> {
  const seen = { reads: 0, torn: 0, stale: 0, backwards: 0, refused: 0 };
  let [longestRead, longestGap, last] = [0, 0, 0];
  const lags = new Map<number, number>();
  const until = performance.now() + ms;
  let isDisturbed = disturb !== undefined;
  const disturbing = disturb?.().finally(() => (isDisturbed = false));
  // Looks for uploads as often as hints would come.
  const hints = setInterval(() => following().hint(Number.MAX_SAFE_INTEGER), 200);
  let answeredAt = performance.now();
  const isEnough = () => performance.now() >= until && seen.reads >= LEAST_READS;
  while (isDisturbed || !isEnough()) {
    if (performance.now() > until + CATCH_UP_MS) break;
    const startedAt = performance.now();
    const { asOf } = following().state();
    const state = await readState(following());
    const now = performance.now();
    if (state) {
      seen.reads += 1;
      longestRead = Math.max(longestRead, now - startedAt);
      longestGap = Math.max(longestGap, now - answeredAt);
      answeredAt = now;
      if (state.least !== state.most) seen.torn += 1;
      if (state.most < last) seen.backwards += 1;
      if (asOf !== undefined && state.most < writer.uploadedAt(asOf)) seen.stale += 1;
      last = state.most;
      const committedAt = writer.commits.get(last);
      if (committedAt !== undefined && !lags.has(last)) lags.set(last, Date.now() - committedAt);
    } else seen.refused += 1;
    await Bun.sleep(5);
  }
  clearInterval(hints);
  await disturbing;
  const sorted = Array.from(lags.values()).sort((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? -1;
  return {
    ...seen,
    longestRead: Math.round(longestRead),
    longestGap: Math.round(longestGap),
    versions: lags.size,
    lagP50: percentile(0.5),
    lagP99: percentile(0.99),
  };
}
