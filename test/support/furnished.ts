import { createLoginThrottle } from "../../src/features/auth";
import { setBaselines } from "../../src/features/components";
import { revokeKey, rotateKey } from "../../src/features/keys";
import { setPublicAddress } from "../../src/features/settings";
import {
  acceptLink,
  authenticate,
  disableUser,
  inviteUser,
  issuePasswordLink,
  issueSetUpLink,
  setUpOwner,
  signIn,
  type UserResource,
} from "../../src/features/users";
import { type Actor, CLI_ACTOR } from "../../src/kernel/actor";
import type { ComponentStatus } from "../../src/kernel/component-status";
import type { Role } from "../../src/kernel/role";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/kernel/time";
import type { TestApp } from "./app";
import { createTestClock, settle, type TestClock } from "./clock";
import { type FurnishedKey, makeKeys, useKeys } from "./furnished-keys";

/** The moment at which a furnished installation is looked at. */
const NOW = Date.parse("2026-03-10T14:32:20.000Z");
const FIRST_DAY = 210;

export const PUBLIC_ADDRESS = "https://status.northwind.example";
const HASH = "$argon2id$stands-for-a-hash";
const LAPTOP = {
  ip: "198.51.100.24",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:135.0) Gecko/20100101 Firefox/135.0",
};
const PHONE = {
  ip: "2001:db8:40:9::1f",
  userAgent:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Mobile/15E148 Safari/604.1",
};
const OFFICE = {
  ip: "203.0.113.80",
  userAgent:
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/133.0.0.0 Safari/537.36",
};

interface People {
  maya: UserResource;
  jonas: UserResource;
  elif: UserResource;
  priya: UserResource;
}

/** What a furnished installation holds, to be opened by name. */
export interface Furnished {
  /** Tokens of sessions, by role. */
  sessions: Record<"owner" | "admin" | "editor", string>;
  /** Ids by name. */
  keys: Record<string, string>;
  users: Record<keyof People, string>;
  /** Tokens of an invitation that waits, and of a link for a new password. */
  links: { invitation: string; newPassword: string };
}

/** The clock that an installation to be furnished begins with. */
export function furnishingClock(): TestClock {
  return createTestClock(NOW - FIRST_DAY * DAY_MS);
}

/**
 * Makes an empty installation what a small team's is after half a year: three users, one more who was
 * disabled and one who is invited; two pages, not all well; nine keys and the last day's use of them.
 * Every run makes the same, but for what is random. Needs a `furnishingClock`, which then stands still.
 */
export async function furnish(house: TestApp): Promise<Furnished> {
  const { ctx, clock } = house;
  const people = await addPeople(house);
  const keys = await makeKeys(house, NOW, {
    owner: asActor(people.maya),
    admin: asActor(people.jonas),
    cli: CLI_ACTOR,
  });
  const oldValue = await changeKeys(house, keys, people);
  await addPages(house, asActor(people.maya));
  const sessions = await signEverybodyIn(house);
  clock.setWallClock(NOW - 7 * MINUTE_MS);
  const links = await ctx.db.write((tx) => ({
    invitation: issuePasswordLink(ctx, tx, people.priya.id, asActor(people.maya)).token,
    newPassword: issuePasswordLink(ctx, tx, people.jonas.id, asActor(people.maya)).token,
  }));
  clock.setWallClock(NOW);
  await useKeys(house, NOW, [...keys.values(), oldValue]);
  return {
    sessions,
    links,
    keys: Object.fromEntries([...keys].map(([name, { id }]) => [name, id])),
    users: {
      maya: people.maya.id,
      jonas: people.jonas.id,
      elif: people.elif.id,
      priya: people.priya.id,
    },
  };
}

function asActor({ id, name }: UserResource): Actor {
  return { kind: "user", id, label: name };
}

async function addPeople({ ctx, clock }: TestApp): Promise<People> {
  const { db } = ctx;
  const maya = await db.write((tx) => {
    const token = issueSetUpLink(ctx, tx) ?? "";
    const owner = { name: "Maya Lindqvist", email: "maya@northwind.example", passwordHash: HASH };
    const { user } = setUpOwner(ctx, tx, token, owner, LAPTOP);
    setPublicAddress(ctx, tx, PUBLIC_ADDRESS, asActor(user));
    return user;
  });
  const by = asActor(maya);
  const invite = (daysAgo: number, name: string, role: Role) => {
    clock.setWallClock(NOW - daysAgo * DAY_MS);
    const email = `${name.split(" ", 1)[0]?.toLowerCase()}@northwind.example`;
    return db.write((tx) => inviteUser(ctx, tx, { name, email, role }, by));
  };
  const join = async (...invitation: Parameters<typeof invite>) => {
    const { token } = await invite(...invitation);
    const chosen = { passwordHash: HASH };
    return db.write((tx) => acceptLink(ctx, tx, token, chosen, OFFICE).user);
  };
  const jonas = await join(209, "Jonas Weber", "admin");
  const elif = await join(208, "Elif Kaya", "editor");
  await join(120, "Noor Haddad", "editor");
  clock.setWallClock(NOW - 58 * DAY_MS);
  await db.write((tx) => disableUser(ctx, tx, elif.id, by));
  const { user: priya } = await invite(1, "Priya Nair", "viewer");
  return { maya, jonas, elif, priya };
}

/** Revokes one key and rotates another, whose old value, the answer, somebody still uses. */
async function changeKeys(
  { ctx, clock }: TestApp,
  keys: Map<string, FurnishedKey>,
  people: People,
): Promise<FurnishedKey> {
  const [bot, jenkins] = [keys.get("On-call bot"), keys.get("Old Jenkins")];
  if (!bot || !jenkins) throw new Error("two keys are to be there");
  clock.setWallClock(NOW - 5 * DAY_MS);
  await ctx.db.write((tx) => revokeKey(ctx, tx, jenkins.id, asActor(people.jonas)));
  clock.setWallClock(NOW - 20 * HOUR_MS);
  const oldValue = { ...bot, use: { from: "10.0.9.5", lastAgo: 2 * HOUR_MS } };
  await ctx.db.write((tx) => {
    bot.value = rotateKey(ctx, tx, bot.id, "24h", asActor(people.maya)).value;
  });
  return oldValue;
}

async function addPages({ ctx, clock, page }: TestApp, actor: Actor): Promise<void> {
  clock.setWallClock(NOW - 200 * DAY_MS);
  const shop = await page({ slug: "northwind", name: "Northwind", default: true }, [
    "Storefront",
    "Checkout",
    "Search",
    "Product images",
    "Order emails",
    "Public API",
  ]);
  const inside = await page(
    { slug: "northwind-internal", name: "Northwind internal", visibility: "private" },
    ["VPN", "Build farm", "Wiki"],
  );
  clock.setWallClock(NOW - 50 * MINUTE_MS);
  const statuses = new Map<string, ComponentStatus>([
    [shop.components["Search"] ?? "", "degraded_performance"],
    [shop.components["Order emails"] ?? "", "partial_outage"],
    [inside.components["Build farm"] ?? "", "under_maintenance"],
  ]);
  const why = { source: "manual", actor, reason: null } as const;
  await ctx.db.write((tx) => setBaselines(ctx, tx, statuses, why));
}

/** The owner at three devices, and one session of everybody else. */
async function signEverybodyIn({ ctx, clock, call }: TestApp): Promise<Furnished["sessions"]> {
  const passwords = { hash: async () => HASH, verify: async () => true };
  const means = { passwords, throttle: createLoginThrottle(ctx) };
  const ago = (ms: number) => clock.setWallClock(NOW - ms);

  async function enter(name: string, from: typeof LAPTOP): Promise<string> {
    const credentials = { email: `${name}@northwind.example`, password: "" };
    const address = { ip: from.ip, network: from.ip };
    const outcome = await authenticate(ctx, means, credentials, address);
    if ("refusal" in outcome) throw new Error(`${name} could not sign in`);
    return ctx.db.write((tx) => signIn(ctx, tx, outcome.user, from));
  }

  async function use(session: string, from: typeof LAPTOP): Promise<void> {
    await call("/admin", { session, from: from.ip });
    await settle();
  }

  ago(22 * HOUR_MS);
  const phone = await enter("maya", PHONE);
  const editor = await enter("noor", OFFICE);
  ago(6 * HOUR_MS);
  const admin = await enter("jonas", OFFICE);
  ago(5 * HOUR_MS);
  const office = await enter("maya", OFFICE);
  ago(3 * HOUR_MS);
  await use(phone, PHONE);
  ago(90 * MINUTE_MS);
  await use(office, OFFICE);
  ago(8 * MINUTE_MS);
  return { owner: await enter("maya", LAPTOP), admin, editor };
}
