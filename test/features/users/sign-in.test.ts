import { describe, expect, test } from "bun:test";
import { createLoginThrottle, type LoginThrottle } from "../../../src/features/auth/throttle";
import { createPasswords, type Passwords } from "../../../src/features/auth/passwords";
import { createSessions } from "../../../src/features/auth/sessions";
import { authenticate, changePassword, signIn } from "../../../src/features/users/sign-in";
import { disableUser, enableUser, getUser } from "../../../src/features/users/users";
import type { UserRow } from "../../../src/features/users/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { client } from "../../support/auth-installation";
import { sessionTokenOf } from "../../support/second-factors";
import {
  FROM,
  HASH,
  openPeopleInstallation,
  type PeopleInstallation,
} from "../../support/user-installation";

const RIGHT = "correct horse battery";
const HOME = client("203.0.113.7");

/** Passwords whose hash is a marked form of the password, which record what they verified. */
function recordingPasswords(): Omit<Passwords, "requirePlace"> & {
  verified: [string, string | null | undefined][];
} {
  const verified: [string, string | null | undefined][] = [];
  return {
    verified,
    hash: async (password) => `hash of ${password}`,
    async verify(password, hash) {
      verified.push([password, hash]);
      return hash === `hash of ${password}`;
    },
  };
}

/** Creates an installation with a user of each kind and a function to sign in as any of them. */
async function knocking() {
  const installation = openPeopleInstallation();
  const passwords = recordingPasswords();
  const throttle = createLoginThrottle(installation.ctx);
  const passwordHash = await passwords.hash(RIGHT);
  await installation.user("Ada", { passwordHash });
  const bob = await installation.user("Bob", { passwordHash });
  await installation.write((tx) => disableUser(installation.ctx, tx, bob.id, CLI_ACTOR));
  await installation.addUser("usr_eve", { email: "eve@acme.test" });
  return {
    installation,
    bob,
    passwords,
    knock: (email: string, password: string, from = HOME) =>
      authenticate(installation.ctx, { passwords, throttle }, { email, password }, from),
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

async function authenticated(installation: PeopleInstallation, email: string): Promise<UserRow> {
  const passwords = { ...recordingPasswords(), verify: async () => true };
  const throttle: LoginThrottle = {
    takeAttempt: () => 0,
    accountWaitSeconds: () => 0,
    turnOf: () => ({ source: "", rank: () => 0 }),
    failed: () => {},
    succeeded: () => {},
  };
  const parts = { passwords, throttle };
  const outcome = await authenticate(installation.ctx, parts, { email, password: RIGHT }, HOME);
  if (!("user" in outcome)) throw new Error(outcome.rejection);
  return outcome.user;
}

describe("authenticating", () => {
  test.each(["ada@acme.test", " ADA@Acme.test "])(
    "the correct password with the email %p succeeds",
    async (email) => {
      await using at = await knocking();
      expect(await at.knock(email, RIGHT)).toMatchObject({ user: { name: "Ada" } });
      expect(at.installation.logged).toEqual([]);
    },
  );

  test("authentication fails alike for a wrong password, an unknown or disabled user and one without a password", async () => {
    await using at = await knocking();
    const attempts = [
      ["ada@acme.test", "wrong horse battery"],
      ["nobody@acme.test", RIGHT],
      ["bob@acme.test", RIGHT],
      ["eve@acme.test", RIGHT],
    ] as const;
    for (const [email, password] of attempts) {
      expect([email, await at.knock(email, password)]).toEqual([email, { rejection: "wrong" }]);
    }
    // One verification each. A user who cannot sign in is verified against a dummy hash.
    expect(at.passwords.verified).toEqual([
      ["wrong horse battery", `hash of ${RIGHT}`],
      [RIGHT, null],
      [RIGHT, null],
      [RIGHT, null],
    ]);
    await at.installation.write((tx) => enableUser(at.installation.ctx, tx, at.bob.id, CLI_ACTOR));
    expect(await at.knock("bob@acme.test", RIGHT)).toMatchObject({ user: { name: "Bob" } });
  });

  test("authentication works with real hashes", async () => {
    await using installation = openPeopleInstallation();
    const passwords = createPasswords();
    const throttle = createLoginThrottle(installation.ctx);
    await installation.user("Ada", { passwordHash: await passwords.hash(RIGHT) });
    const knock = (email: string, password: string) =>
      authenticate(installation.ctx, { passwords, throttle }, { email, password }, HOME);
    expect(await knock("ada@acme.test", "wrong horse battery")).toEqual({ rejection: "wrong" });
    expect(await knock("nobody@acme.test", RIGHT)).toEqual({ rejection: "wrong" });
    expect(await knock("ada@acme.test", RIGHT)).toMatchObject({ user: { name: "Ada" } });
  });

  test("authentication waits after three failures in any case of the email, and then accepts the correct password", async () => {
    await using at = await knocking();
    for (const email of ["ada@acme.test", "ADA@acme.test", " Ada@Acme.Test"]) {
      expect(await at.knock(email, "wrong horse battery")).toEqual({ rejection: "wrong" });
    }
    expect(await at.knock("ada@acme.test", RIGHT)).toEqual({ rejection: "wait", seconds: 1 });
    expect(at.passwords.verified).toHaveLength(3);
    await at.installation.clock.advance(1_000);
    expect(await at.knock("ada@acme.test", RIGHT)).toMatchObject({ user: { name: "Ada" } });
    // Which forgets the failures: it takes three more until the next wait.
    for (let n = 0; n < 2; n++) {
      expect(await at.knock("ada@acme.test", "wrong horse battery")).toEqual({
        rejection: "wrong",
      });
    }
    expect(await at.knock("ada@acme.test", RIGHT)).toMatchObject({ user: { name: "Ada" } });
  });

  test("authentication accepts the correct password from another address while one keeps guessing", async () => {
    await using at = await knocking();
    const guess = async () => await at.knock("ada@acme.test", "wrong", client("198.51.100.9"));
    const outcomes = [];
    for (let n = 0; n < 10; n++) outcomes.push(await guess());
    expect(outcomes.at(-1)).toMatchObject({ rejection: "wait" });
    expect(await at.knock("ada@acme.test", RIGHT)).toMatchObject({ user: { name: "Ada" } });
  });

  test("a failed authentication is logged with email and address, never with the password", async () => {
    await using at = await knocking();
    await at.knock(" ADA@acme.test", "wrong horse battery");
    // A password in the place of the email.
    await at.knock(RIGHT, "ada@acme.test");
    expect(at.installation.logged).toEqual([
      expect.objectContaining({ level: 30, email: "ada@acme.test", ip: HOME.ip }),
      expect.objectContaining({ level: 30, ip: HOME.ip, msg: "a sign-in was refused" }),
    ]);
    expect(JSON.stringify(at.installation.logged)).not.toContain("horse");
  });
});

describe("signing in", () => {
  test("signing in starts a session, records the time and writes an audit entry with the address", async () => {
    await using installation = openPeopleInstallation();
    const { id } = await installation.user("Ada");
    const user = await authenticated(installation, "ada@acme.test");
    await installation.clock.advance(60_000);
    const signedIn = await installation.write((tx) => signIn(installation.ctx, tx, user, FROM));
    const token = sessionTokenOf(signedIn);
    const session = createSessions(installation.ctx).find(token, installation.clock.now());
    expect(session).toMatchObject({ ...FROM, user: { id, role: "owner" } });
    expect(getUser(installation.ctx.db, id).last_login_at).toBe("2026-03-10T12:01:00.000Z");
    expect(installation.audit().at(-1)).toMatchObject({
      action: "user.sign_in",
      actor_kind: "user",
      actor_id: id,
      target_id: id,
      summary: "“Ada” signed in",
      ip: FROM.ip,
    });
  });

  test("signing in ends the browser's previous session only", async () => {
    await using installation = openPeopleInstallation();
    const { ctx, clock } = installation;
    await installation.user("Ada");
    const bob = await installation.user("Bob");
    const [before, elsewhere] = [
      await installation.start(bob.id),
      await installation.start(bob.id),
    ];
    const sessions = createSessions(ctx);
    const old = sessions.find(before, clock.now());
    const user = await authenticated(installation, "ada@acme.test");
    const signedIn = await installation.write((tx) => signIn(ctx, tx, user, FROM, old));
    const token = sessionTokenOf(signedIn);
    const found = [before, elsewhere, token].map((it) => sessions.find(it, clock.now())?.user.name);
    expect(found).toEqual([undefined, "Bob", "Ada"]);
  });

  test("signing in is a conflict if the user was disabled after the password was verified", async () => {
    await using installation = openPeopleInstallation();
    const { ctx } = installation;
    await installation.user("Ada");
    const { id } = await installation.user("Bob");
    const user = await authenticated(installation, "bob@acme.test");
    await installation.write((tx) => disableUser(ctx, tx, id, CLI_ACTOR));
    expect((await installation.rejectionFrom((tx) => signIn(ctx, tx, user, FROM))).code).toBe(
      "conflict",
    );
    await installation.write((tx) => enableUser(ctx, tx, id, CLI_ACTOR));
    const signedIn = await installation.write((tx) => signIn(ctx, tx, user, FROM));
    expect(sessionTokenOf(signedIn)).toMatch(/^\w{43}$/);
  });

  test("signing in is a conflict if the password was changed after it was verified", async () => {
    await using installation = openPeopleInstallation();
    const { ctx } = installation;
    const { id } = await installation.user("Ada");
    const user = await authenticated(installation, "ada@acme.test");
    await installation.write((tx) =>
      changePassword(ctx, tx, { userId: id, passwordHash: `${HASH}-new` }, CLI_ACTOR),
    );
    expect((await installation.rejectionFrom((tx) => signIn(ctx, tx, user, FROM))).code).toBe(
      "conflict",
    );
    const again = await authenticated(installation, "ada@acme.test");
    const signedIn = await installation.write((tx) => signIn(ctx, tx, again, FROM));
    expect(sessionTokenOf(signedIn)).toMatch(/^\w{43}$/);
  });
});
