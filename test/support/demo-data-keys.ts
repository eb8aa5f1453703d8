import { createKeyDirectory } from "../../src/features/keys/directory";
import type { Scope } from "../../src/features/keys/scopes";
import type { Actor } from "../../src/base/actor";
import { type ClientAddress, parseClientAddress } from "../../src/base/client-address";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../src/base/time";
import type { TestApp } from "./app";
import { createKey } from "./examined";

type Maker = "owner" | "admin" | "cli";

interface KeyPlan {
  name: string;
  scopes: Scope[];
  rateLimit?: number;
  by: Maker;
  madeDaysAgo: number;
  expiresInDays?: number;
  use?: KeyUse;
}

interface KeyUse {
  from: string;
  /** Time of the last use before now, in milliseconds. */
  lastAgo: number;
  /** Requests in each hour of the last 24, by the hour of the day in UTC. */
  perHour?: (hour: number) => number;
  /** Number of these requests that exceeded the rate limit. */
  limitedPerHour?: (hour: number) => number;
}

/** The keys, oldest first. */
const PLANS: readonly KeyPlan[] = [
  {
    name: "Partner status board",
    scopes: ["read:status"],
    rateLimit: 60,
    by: "cli",
    madeDaysAgo: 204,
    expiresInDays: 160,
    use: { from: "192.0.2.61", lastAgo: 101 * DAY_MS },
  },
  {
    name: "Old Jenkins",
    scopes: ["write:incidents", "write:components", "read:status"],
    by: "cli",
    madeDaysAgo: 190,
    use: { from: "10.0.4.9", lastAgo: 6 * DAY_MS },
  },
  {
    name: "Grafana",
    scopes: ["read:status", "read:analytics"],
    rateLimit: 600,
    by: "owner",
    madeDaysAgo: 151,
    use: { from: "10.0.7.30", lastAgo: 11 * SECOND_MS, perHour: () => 240 },
  },
  {
    name: "Status page mirror",
    scopes: ["read:status"],
    rateLimit: 120,
    by: "admin",
    madeDaysAgo: 96,
    use: {
      from: "2001:db8:7::14",
      lastAgo: 3 * SECOND_MS,
      perHour: (hour) => (hour === 9 ? 2_400 : 300 + 40 * ((hour * 7) % 11)),
      limitedPerHour: (hour) => (hour === 9 ? 612 : 0),
    },
  },
  {
    name: "Terraform",
    scopes: ["manage:monitors", "manage:webhooks", "read:status"],
    rateLimit: 60,
    by: "admin",
    madeDaysAgo: 81,
    expiresInDays: 9,
    use: {
      from: "198.51.100.24",
      lastAgo: 17 * HOUR_MS,
      perHour: (hour) => (hour === 21 ? 38 : 0),
    },
  },
  {
    name: "On-call bot",
    scopes: ["write:incidents", "write:maintenance", "read:status"],
    by: "owner",
    madeDaysAgo: 64,
    use: {
      from: "10.0.4.22",
      lastAgo: 41 * MINUTE_MS,
      perHour: (hour) => [2, 0, 1, 0, 9, 14, 3, 0, 0, 6, 1, 0][hour % 12] ?? 0,
    },
  },
  {
    name: "Prometheus scrape",
    scopes: ["read:analytics"],
    rateLimit: 120,
    by: "admin",
    madeDaysAgo: 40,
    use: { from: "10.0.7.31", lastAgo: 26 * SECOND_MS, perHour: () => 120 },
  },
  {
    name: "Deploy pipeline",
    scopes: ["write:incidents", "write:components", "read:status"],
    by: "admin",
    madeDaysAgo: 22,
    use: {
      from: "10.0.4.17",
      lastAgo: 4 * MINUTE_MS,
      perHour: (hour) => (hour >= 7 && hour < 17 ? 18 + ((hour * 5) % 9) * 6 : 0),
    },
  },
  {
    name: "Webhook relay",
    scopes: ["manage:webhooks"],
    rateLimit: 30,
    by: "owner",
    madeDaysAgo: 0.1,
    expiresInDays: 364,
  },
];

export interface DemoKey {
  id: string;
  value: string;
  use: KeyUse | undefined;
}

/** Creates the keys of the demo data at their times and returns them by name. */
export async function makeKeys(
  { ctx, clock }: TestApp,
  now: number,
  actors: Record<Maker, Actor>,
): Promise<Map<string, DemoKey>> {
  const made = new Map<string, DemoKey>();
  for (const { name, scopes, rateLimit, by, madeDaysAgo, expiresInDays, use } of PLANS) {
    clock.setWallClock(now - madeDaysAgo * DAY_MS);
    const expires =
      expiresInDays === undefined ? null : toIso(now + expiresInDays * DAY_MS).slice(0, 10);
    const limit = rateLimit === undefined ? {} : { rate_limit: rateLimit };
    const { key, value } = await ctx.db.write((tx) =>
      createKey(ctx, tx, { name, scopes, expires, ...limit }, actors[by]),
    );
    made.set(name, { id: key.id, value, use });
  }
  return made;
}

/** Counts and stores the requests of each key in the last 24 hours. */
export async function useKeys(
  { app, ctx }: TestApp,
  now: number,
  keys: Iterable<DemoKey>,
): Promise<void> {
  const directory = createKeyDirectory(ctx);
  const firstHour = now - (now % HOUR_MS) - 23 * HOUR_MS;
  for (const { value, use } of keys) {
    const credential = directory.find(value);
    if (!credential || !use) continue;
    const from = { address: addressOf(use.from) };
    const lastUse = now - use.lastAgo;
    for (let hour = firstHour; hour <= lastUse; hour += HOUR_MS) {
      const hourOfDay = new Date(hour).getUTCHours();
      const limited = use.limitedPerHour?.(hourOfDay) ?? 0;
      const elapsed = Math.min(1, (lastUse - hour) / HOUR_MS);
      const count = Math.floor((use.perHour?.(hourOfDay) ?? 0) * elapsed);
      for (let n = 0; n < count; n++) {
        app.usage.record(credential, n < limited ? 429 : 200, hour, from);
      }
    }
    app.usage.record(credential, 200, lastUse, from);
  }
  await app.usage.flush();
}

function addressOf(ip: string): ClientAddress {
  const address = parseClientAddress(ip);
  if (!address) throw new Error(`${ip} is no address`);
  return address;
}
