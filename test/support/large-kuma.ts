import { beatIndexes, createKumaDatabase } from "./kuma-database";

interface LargeKuma {
  monitors: number;
  /** Number of beats of all monitors, a multiple of that of monitors. */
  beats: number;
  /** Seconds between two beats of a monitor. */
  interval?: number;
  /** Time of the newest beat, in unix ms. */
  until: number;
  /** Uptime Kuma 1 keeps all beats. */
  version?: 1 | 2;
}

/**
 * Writes a database of Uptime Kuma with the same content each time: every monitor has a beat in each interval, in the
 * order in which Uptime Kuma writes them. About one beat in 500 begins an outage of four, whose first is pending; one in
 * 5,000 is under maintenance. 10 million beats of 500 monitors take 1.1 GB.
 */
export function writeLargeKuma(
  path: string,
  { monitors, beats, interval = 60, until, version = 1 }: LargeKuma,
): void {
  const sqlite = createKumaDatabase(path, version);
  sqlite.run("PRAGMA synchronous = OFF");
  sqlite.run("PRAGMA journal_mode = OFF");
  // Making indexes at the end is much faster.
  const indexes = sqlite.prepare<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'heartbeat'",
  );
  for (const { name } of indexes.all()) sqlite.run(`DROP INDEX ${name}`);
  const ticks = Math.floor(beats / monitors);
  const first = Math.floor(until / 1_000) - (ticks - 1) * interval;
  sqlite.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO monitor (id, name, interval, type, url)
     SELECT i, 'Monitor ' || i, ?, 'http', 'http://192.0.2.1/' || i FROM n`,
    [monitors, interval],
  );
  // The phase of a monitor is a place in its outages. Times differ by less than an interval.
  sqlite.run(
    `WITH RECURSIVE n (tick, monitor) AS (
       SELECT 0, 1 UNION ALL
       SELECT iif(monitor = ?1, tick + 1, tick), iif(monitor = ?1, 1, monitor + 1) FROM n
       WHERE tick < ?2 - 1 OR monitor < ?1
     ), p AS (
       SELECT tick, monitor, (tick + monitor * 37) % 500 AS phase, (tick + monitor * 41) % 5000 AS rare FROM n
     )
     INSERT INTO heartbeat (monitor_id, important, status, msg, time, ping, duration)
     SELECT monitor, tick = 0 OR phase IN (1, 4),
       CASE WHEN rare = 0 THEN 3 WHEN phase = 0 THEN 2 WHEN phase < 4 THEN 0 ELSE 1 END,
       CASE WHEN phase < 4 THEN 'connect ECONNREFUSED 192.0.2.1:443' ELSE '200 - OK' END,
       strftime('%Y-%m-%d %H:%M:', ?3 + tick * ?4, 'unixepoch')
         || printf('%02d.%03d', (?3 + tick * ?4) % 60, monitor % 1000),
       iif(phase < 4, NULL, 20 + (tick * 31 + monitor * 17) % 200), ?4
     FROM p`,
    [monitors, ticks, first, interval],
  );
  for (const index of beatIndexes(version)) sqlite.run(index);
  sqlite.run("PRAGMA journal_mode = DELETE");
  sqlite.close(true);
}
