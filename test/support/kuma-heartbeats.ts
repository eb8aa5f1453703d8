import { Database } from "bun:sqlite";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";

/** Status of a heartbeat in Uptime Kuma. */
const [DOWN, UP, PENDING] = [0, 1, 2];

interface Past {
  /** Time between heartbeats in ms; the age of the oldest one. */
  every: number;
  since: number;
  /** Outages by the ages at which they begin and end, in ms. */
  outages: readonly (readonly [from: number, to: number])[];
}

/** Pasts of monitors by name, long enough that Uptime Kuma keeps only sums of most of it. */
const PASTS: Readonly<Record<string, Past>> = {
  Site: {
    every: MINUTE_MS,
    since: 3 * DAY_MS,
    outages: [
      [60 * HOUR_MS, 59 * HOUR_MS],
      [10 * HOUR_MS, 9.5 * HOUR_MS],
    ],
  },
  Port: { every: MINUTE_MS, since: 30 * HOUR_MS, outages: [[3 * HOUR_MS, 2 * HOUR_MS]] },
  Broken: { every: MINUTE_MS, since: 26 * HOUR_MS, outages: [[90 * MINUTE_MS, 0]] },
  JSON: {
    every: 5 * MINUTE_MS,
    since: 7 * DAY_MS,
    outages: [[5 * DAY_MS, 4.5 * DAY_MS]],
  },
  Backup: { every: HOUR_MS, since: 45 * DAY_MS, outages: [[40 * DAY_MS, 38 * DAY_MS]] },
};

/**
 * Replaces the heartbeats in the database of an Uptime Kuma that does not run by older ones, and has its next start
 * aggregate them, as after an update from version 1.
 */
export function giveKumaPast(
  database: Database,
  monitors: ReadonlyMap<string, number>,
  now: number,
): void {
  const insert = database.query(
    "INSERT INTO heartbeat (monitor_id, status, time, end_time, ping, msg, important, duration) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  database.transaction(() => {
    for (const table of ["heartbeat", "stat_minutely", "stat_hourly", "stat_daily"]) {
      database.run(`DELETE FROM ${table}`);
    }
    database.run("DELETE FROM setting WHERE key = 'migrateAggregateTableState'");
    for (const [name, { every, since, outages }] of Object.entries(PASTS)) {
      let before: number | undefined;
      for (let age = since; age >= every; age -= every) {
        const outage = outages.find(([from, to]) => age <= from && age > to);
        // The first failure of an outage is not confirmed, except the one of a monitor without retries.
        const status = !outage ? UP : name === "Site" && age > outage[0] - every ? PENDING : DOWN;
        const time = kumaTime(now - age);
        const ping = status === UP ? 20 + ((age / every) % 7) : null;
        const isImportant = before === undefined || (status !== PENDING && status !== before);
        const values = [status, time, time, ping, status === UP ? "200 - OK" : "Failed"];
        insert.run(monitors.get(name) ?? 0, ...values, isImportant ? 1 : 0, every / 1_000);
        before = status;
      }
    }
    // The incident that is over was two days ago.
    const [from, to] = [48, 47].map((hours) => kumaTime(now - hours * HOUR_MS).slice(0, 19));
    database.run("UPDATE incident SET created_date = ?, last_updated_date = ? WHERE active = 0", [
      from ?? "",
      to ?? "",
    ]);
  })();
}

/** Writes a time as Uptime Kuma does, in UTC. */
function kumaTime(at: number): string {
  return new Date(at).toISOString().replace("T", " ").slice(0, -1);
}
