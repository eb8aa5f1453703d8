/* The API keys of the demo, with their use in a year. */
import type { Actor } from "../base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDay, toIso } from "../base/time";
import { composed } from "../base/validation";
import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import { createKey, revokeKey } from "../features/keys/keys";
import { hashKeyValue } from "../features/keys/rules";
import type { Scope } from "../features/keys/scopes";
import { touchKeyValue } from "../features/keys/store";
import { insertKeyHours } from "./store";
import type { Entry, Fraction } from "./year";

interface KeyPlan {
  name: string;
  scopes: Scope[];
  rateLimit: number;
  /** Days before the day of the demo at which it was created. */
  madeDaysAgo: number;
  expiresInDays?: number;
  revokedDaysAgo?: number;
  /** Address of its program, and the time of its last request before the present. */
  from: string;
  lastAgo: number;
  /** Requests in an hour of the day in UTC, about. */
  perHour: (hour: number) => number;
  /** Hour of each day in which a third of the requests exceed the rate limit. */
  limitedHour?: number;
}

const inOffice = (hour: number) => (hour >= 7 && hour < 18 ? 1 : 0);

/** A key for each scope, in their order, then others. */
const KEY_PLANS: readonly KeyPlan[] = [
  {
    name: "Lobby screen",
    scopes: ["read:status"],
    rateLimit: 600,
    madeDaysAgo: 320,
    from: "198.51.100.14",
    lastAgo: 9 * SECOND_MS,
    perHour: () => 240,
  },
  {
    name: "CI incident bot",
    scopes: ["write:incidents"],
    rateLimit: 600,
    madeDaysAgo: 290,
    from: "203.0.113.40",
    lastAgo: 3 * HOUR_MS,
    perHour: (hour) => 3 * inOffice(hour),
  },
  {
    name: "Deploy pipeline",
    scopes: ["write:components"],
    rateLimit: 600,
    madeDaysAgo: 210,
    from: "203.0.113.41",
    lastAgo: 26 * MINUTE_MS,
    perHour: (hour) => 14 * inOffice(hour),
  },
  {
    name: "Terraform",
    scopes: ["manage:monitors"],
    rateLimit: 600,
    madeDaysAgo: 180,
    from: "203.0.113.42",
    lastAgo: 2 * HOUR_MS,
    perHour: (hour) => (hour % 6 === 3 ? 64 : 0),
  },
  {
    name: "Change calendar",
    scopes: ["write:maintenance"],
    rateLimit: 600,
    madeDaysAgo: 150,
    expiresInDays: 9,
    from: "203.0.113.77",
    lastAgo: 17 * HOUR_MS,
    perHour: (hour) => (hour === 5 ? 12 : 0),
  },
  {
    name: "Webhook relay",
    scopes: ["manage:webhooks"],
    rateLimit: 600,
    madeDaysAgo: 120,
    expiresInDays: 245,
    from: "203.0.113.90",
    lastAgo: 41 * MINUTE_MS,
    perHour: () => 4,
  },
  {
    name: "Prometheus scrape",
    scopes: ["read:analytics"],
    rateLimit: 600,
    madeDaysAgo: 300,
    from: "198.51.100.31",
    lastAgo: 20 * SECOND_MS,
    perHour: () => 120,
  },
  {
    name: "Partner portal",
    scopes: ["read:status"],
    rateLimit: 60,
    madeDaysAgo: 95,
    expiresInDays: 270,
    from: "192.0.2.61",
    lastAgo: 4 * MINUTE_MS,
    perHour: (hour) => 90 + 60 * inOffice(hour),
    limitedHour: 9,
  },
  {
    name: "Old Jenkins",
    scopes: ["write:incidents", "write:components", "read:status"],
    rateLimit: 300,
    madeDaysAgo: 360,
    revokedDaysAgo: 44,
    from: "203.0.113.12",
    lastAgo: 45 * DAY_MS,
    perHour: (hour) => 8 * inOffice(hour),
  },
];

interface Year {
  actor: Actor;
  /** Start of the day, and the present, in unix ms. */
  today: number;
  now: number;
  fraction: Fraction;
}

/** Returns the actions that create the keys with their use. Each calls `made` with the value of its key. */
export function keyEntries(
  ctx: Ctx,
  year: Year,
  made: (scopes: readonly Scope[], value: string) => void,
): Entry[] {
  return KEY_PLANS.flatMap((plan) => {
    const { name, scopes, rateLimit, expiresInDays, revokedDaysAgo } = plan;
    let id = "";
    const create: Entry = {
      ago: plan.madeDaysAgo * DAY_MS,
      act(tx) {
        const expires = expiresInDays && toIso(year.today + expiresInDays * DAY_MS).slice(0, 10);
        const body = { name, scopes, rate_limit: rateLimit, ...(expires ? { expires } : {}) };
        const { key, value } = createKey(ctx, tx, composed(body), year.actor);
        ({ id } = key);
        made(scopes, value);
        writeUse(tx, { id, value, createdAt: ctx.clock.now() }, plan, year);
      },
    };
    if (revokedDaysAgo === undefined) return [create];
    const ago = revokedDaysAgo * DAY_MS;
    return [create, { ago, act: (tx) => void revokeKey(ctx, tx, id, year.actor) }];
  });
}

/** Age of the oldest use that is counted by hour; older use is counted by day. */
const HOURS_MS = 8 * DAY_MS;

/** Writes the use of a key from its creation on, in bulk. */
function writeUse(
  tx: Tx,
  { id: keyId, value, createdAt }: { id: string; value: string; createdAt: number },
  { from, lastAgo, perHour, limitedHour }: KeyPlan,
  { now, fraction }: Year,
): void {
  const lastUsedAt = now - lastAgo;
  const hourlyFrom = startOfDay(now) - HOURS_MS;
  const counts = new Map<number, { ok: number; clientError: number; limited: number }>();
  for (let hour = createdAt; hour <= lastUsedAt; hour += HOUR_MS) {
    const hourOfDay = new Date(hour).getUTCHours();
    const share = Math.min(1, (lastUsedAt - hour) / HOUR_MS) * (0.8 + 0.4 * fraction(keyId, hour));
    const requests = Math.round(perHour(hourOfDay) * share);
    if (requests === 0) continue;
    const limited = hourOfDay === limitedHour ? Math.round(requests / 3) : 0;
    const clientError = fraction("error", keyId, hour) < 0.06 ? Math.ceil(requests / 40) : 0;
    const at = hour >= hourlyFrom ? hour : startOfDay(hour);
    const sum = counts.get(at) ?? { ok: 0, clientError: 0, limited: 0 };
    counts.set(at, {
      ok: sum.ok + requests - limited - Math.min(clientError, requests - limited),
      clientError: sum.clientError + Math.min(clientError, requests - limited),
      limited: sum.limited + limited,
    });
  }
  insertKeyHours(
    tx,
    Array.from(counts, ([hour, count]) => ({ keyId, hour, ...count })),
  );
  touchKeyValue(tx, { hash: hashKeyValue(value), at: lastUsedAt, ip: from });
}
