import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import { CLI_ACTOR, userActor } from "../base/actor";
import type { UserResource } from "../features/users/wire";
import { createUser } from "../features/users/users";
import { createKey } from "../features/keys/keys";
import { type Scope, SCOPE_NAMES } from "../features/keys/scopes";
import { createWebhook } from "../features/webhooks/webhooks";
import { sendTestEvent } from "../features/webhooks/deliveries";
import { createContext, type Installation } from "../installation";
import { systemClock } from "../base/clock";
import { systemRandom } from "../base/hash";
import { DAY_MS, HOUR_MS, startOfDay } from "../base/time";
import { addMonitors, type DemoJob } from "./monitors";
import { addPage, PRIVATE_PAGE, PUBLIC_PAGE } from "./pages";
import { createFraction, createSeededBytes, diaryOf } from "./year";

/** Address with which the owner of the demo signs in. */
export const OWNER_EMAIL = "owner@meridian.example";
/** Host of the webhooks' URLs. Their requests end inside the process. */
const RECEIVER = "https://receiver.meridian.example";

interface Filled {
  /** Key values by scope. */
  keys: Record<Scope, string>;
  jobs: readonly DemoJob[];
}

/**
 * Fills an empty installation with a year of data that depends only on the seed and the day in UTC, except for
 * the last hours of monitors. Keys, tokens and the password are random, since others may reach the demo.
 */
export async function fillDemo(
  { ctx: opened }: Pick<Installation, "ctx">,
  { seed, passwordHash }: { seed: number; passwordHash: string },
): Promise<Filled> {
  const now = opened.clock.now();
  const today = startOfDay(now);
  const fraction = createFraction(`${seed}/${today}`);
  let at = today;
  const clock = { ...systemClock(), now: () => at };
  const random = createSeededBytes(fraction);
  const ctx = createContext({ ...opened, clock, random });
  ctx.random = systemRandom;

  const year = (tx: Tx): Filled & { owner: UserResource } => {
    at = today - 400 * DAY_MS;
    const member = { email: OWNER_EMAIL, name: "Robin Vale", role: "owner" as const };
    const owner = createUser(ctx, tx, { ...member, passwordHash }, CLI_ACTOR);
    const actor = userActor(owner);
    const pages = {
      open: addPage(ctx, tx, PUBLIC_PAGE, actor),
      inside: addPage(ctx, tx, PRIVATE_PAGE, actor),
    };
    at = today - 365 * DAY_MS;
    const jobs = addMonitors(ctx, tx, { pages, actor, today, now, fraction });
    for (const entry of diaryOf(ctx, { pages, actor, today, fraction })) {
      at = today - entry.ago;
      entry.act(tx);
    }
    at = today - HOUR_MS;
    return { owner, jobs, keys: addKeys(ctx, tx) };
  };
  const { owner, ...filled } = await ctx.db.write(year);
  // In a transaction of its own, so that the events of the year are not delivered.
  await ctx.db.write((tx) => {
    at = now;
    addWebhooks(ctx, tx, owner);
  });
  return filled;
}

/** Creates a key of each scope and returns their values. */
function addKeys(ctx: Ctx, tx: Tx): Record<Scope, string> {
  const values = SCOPE_NAMES.map((scope) => {
    const body = { name: `Demo ${scope}`, scopes: [scope], rate_limit: 600 };
    return [scope, createKey(ctx, tx, body, CLI_ACTOR).value] as const;
  });
  return Object.fromEntries(values) as Record<Scope, string>;
}

/** Creates webhooks of two formats, and a first delivery for each. */
function addWebhooks(ctx: Ctx, tx: Tx, owner: UserResource): void {
  const actor = userActor(owner);
  for (const input of [
    { url: `${RECEIVER}/on-call`, description: "On-call relay" },
    { url: `${RECEIVER}/chat/a-part-that-is-not-shown`, description: "Chat", format: "discord" },
  ] as const) {
    const { row } = createWebhook(ctx, tx, input, actor);
    sendTestEvent(ctx, tx, row.id, actor);
  }
}
