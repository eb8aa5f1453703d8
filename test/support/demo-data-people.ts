import { createLoginThrottle } from "../../src/features/auth/throttle";
import { createRecoveryCodes, hashRecoveryCode } from "../../src/features/auth/totp";
import {
  insertRecoveryCodes,
  insertSecondFactor,
} from "../../src/features/users/second-factor-store";
import { setPublicAddress } from "../../src/features/settings/settings";
import {
  acceptLink,
  inviteUser,
  issueSetUpLink,
  setUpOwner,
} from "../../src/features/users/invitations";
import { authenticate, signIn } from "../../src/features/users/sign-in";
import { disableUser } from "../../src/features/users/users";
import type { UserResource } from "../../src/features/users/wire";
import type { Actor, Role } from "../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";
import type { TestApp } from "./app";
import { settle } from "./clock";
import { sessionTokenOf } from "./second-factors";

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

export interface People {
  maya: UserResource;
  jonas: UserResource;
  elif: UserResource;
  noor: UserResource;
  lea: UserResource;
  priya: UserResource;
}

/** Session tokens by role. */
export type Sessions = Record<Role, string>;

export function asActor({ id, name }: UserResource): Actor {
  return { kind: "user", id, label: name };
}

/** Sets up the owner and creates the other users over the months before `now`. */
export async function addPeople({ ctx, clock }: TestApp, now: number): Promise<People> {
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
    clock.setWallClock(now - daysAgo * DAY_MS);
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
  const noor = await join(120, "Noor Haddad", "editor");
  const lea = await join(90, "Lea Moreau", "viewer");
  clock.setWallClock(now - 58 * DAY_MS);
  await db.write((tx) => disableUser(ctx, tx, elif.id, by));
  const { user: priya } = await invite(1, "Priya Nair", "viewer");
  return { maya, jonas, elif, noor, lea, priya };
}

/** Gives a user a second factor with eight of ten recovery codes left. */
export async function addSecondFactor({ ctx }: TestApp, user: UserResource, createdAt: number) {
  const userId = user.id;
  const codes = createRecoveryCodes(ctx.random).slice(2);
  const none = { lastPeriod: 0, wrongCodes: [], pauses: 0, pausedUntil: 0 };
  await ctx.db.write((tx) => {
    insertSecondFactor(tx, { userId, secret: Buffer.alloc(20, 7), createdAt, ...none });
    insertRecoveryCodes(
      tx,
      codes.map((code) => ({ hash: hashRecoveryCode(code), userId })),
    );
  });
}

/** Signs the owner in on three devices and the others on one. */
export async function signEverybodyIn(
  { ctx, clock, call }: TestApp,
  now: number,
): Promise<Sessions> {
  const passwords = { hash: async () => HASH, verify: async () => true };
  const deps = { passwords, throttle: createLoginThrottle(ctx) };
  const ago = (ms: number) => clock.setWallClock(now - ms);

  async function enter(name: string, from: typeof LAPTOP): Promise<string> {
    const credentials = { email: `${name}@northwind.example`, password: "" };
    const address = { ip: from.ip, network: from.ip };
    const outcome = await authenticate(ctx, deps, credentials, address);
    if ("rejection" in outcome) throw new Error(`${name} could not sign in`);
    const signedIn = await ctx.db.write((tx) => signIn(ctx, tx, outcome.user, from));
    return sessionTokenOf(signedIn);
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
  const viewer = await enter("lea", OFFICE);
  ago(5 * HOUR_MS);
  const office = await enter("maya", OFFICE);
  ago(3 * HOUR_MS);
  await use(phone, PHONE);
  ago(90 * MINUTE_MS);
  await use(office, OFFICE);
  ago(8 * MINUTE_MS);
  return { owner: await enter("maya", LAPTOP), admin, editor, viewer };
}
