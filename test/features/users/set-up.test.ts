import { describe, expect, test } from "bun:test";
import type { Tx } from "../../../src/db";
import { createSessions, findLink } from "../../../src/features/auth";
import {
  createUser,
  getUser,
  inviteUser,
  issueSetUpLink,
  listUsers,
  setUpOwner,
} from "../../../src/features/users";
import { CLI_ACTOR } from "../../../src/kernel/actor";
import { complaintsOf, FROM, HASH, openPeopleHouse, type PeopleHouse } from "../../support/people";

const HOUR_MS = 3_600_000;
const ADA = { email: "ada@acme.test", name: "Ada", passwordHash: HASH };

async function setUpLink(house: PeopleHouse): Promise<string> {
  return (await house.write((tx) => issueSetUpLink(house.ctx, tx))) ?? "none";
}

function setUp(house: PeopleHouse, token: string, input = ADA) {
  return (tx: Tx) => setUpOwner(house.ctx, tx, token, input, FROM);
}

describe("the set-up link", () => {
  test("makes the owner, signs them in, and is audited with their address", async () => {
    await using house = openPeopleHouse();
    const { user, sessionToken } = await house.write(setUp(house, await setUpLink(house)));
    expect(user).toMatchObject({
      email: ADA.email,
      name: "Ada",
      role: "owner",
      has_password: true,
      last_login_at: "2026-03-10T12:00:00.000Z",
    });
    expect(getUser(house.ctx.db, user.id)).toEqual(user);
    const session = createSessions(house.ctx).find(sessionToken, house.clock.now());
    expect(session).toMatchObject({ ...FROM, user: { id: user.id, role: "owner" } });
    expect(house.audit()).toMatchObject([
      {
        action: "user.set_up",
        actor_kind: "user",
        actor_id: user.id,
        target_id: user.id,
        ip: FROM.ip,
      },
    ]);
  });

  test("opens once", async () => {
    await using house = openPeopleHouse();
    const token = await setUpLink(house);
    await house.write(setUp(house, token));
    const again = { ...ADA, email: "eve@acme.test" };
    expect((await house.refused(setUp(house, token, again))).code).toBe("not_found");
    expect(listUsers(house.ctx.db)).toHaveLength(1);
  });

  test("makes one owner of those who send it together", async () => {
    await using house = openPeopleHouse();
    const token = await setUpLink(house);
    const attempts = ["ada", "bob", "eve"].map((name) =>
      house.write(setUp(house, token, { ...ADA, email: `${name}@acme.test` })),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(listUsers(house.ctx.db)).toHaveLength(1);
  });

  test("opens to the end of its hour, and from then on nothing", async () => {
    for (const [waitedMs, isOpen] of [
      [HOUR_MS - 1, true],
      [HOUR_MS, false],
    ] as const) {
      await using house = openPeopleHouse();
      const token = await setUpLink(house);
      await house.clock.advance(waitedMs);
      if (isOpen) expect((await house.write(setUp(house, token))).user.role).toBe("owner");
      else expect((await house.refused(setUp(house, token))).code).toBe("not_found");
    }
  });

  test("is replaced by the next start's", async () => {
    await using house = openPeopleHouse();
    const first = await setUpLink(house);
    const second = await setUpLink(house);
    expect((await house.refused(setUp(house, first))).code).toBe("not_found");
    expect((await house.write(setUp(house, second))).user.role).toBe("owner");
  });

  test.each([
    ["created", createUser],
    ["invited", inviteUser],
  ] as const)("dies when a user is %s, and is not issued any more", async (_how, make) => {
    await using house = openPeopleHouse();
    const token = await setUpLink(house);
    const bob = { email: "bob@acme.test", name: "Bob" };
    await house.write((tx) => make(house.ctx, tx, bob, CLI_ACTOR));
    expect((await house.refused(setUp(house, token))).code).toBe("not_found");
    expect(await house.write((tx) => issueSetUpLink(house.ctx, tx))).toBeUndefined();
    expect(listUsers(house.ctx.db).map(({ name }) => name)).toEqual(["Bob"]);
  });

  test("survives a form with wrong fields, all of which are told", async () => {
    await using house = openPeopleHouse();
    const token = await setUpLink(house);
    const wrong = { ...ADA, email: "ada", name: "" };
    const rejection = await house.refused(setUp(house, token, wrong));
    expect(Object.keys(complaintsOf(rejection))).toEqual(["#/email", "#/name"]);
    expect((await house.write(setUp(house, token))).user.name).toBe("Ada");
  });

  test.each(["", "short", "0".repeat(43), "a".repeat(100_000)])(
    "is no text but its own",
    async (text) => {
      await using house = openPeopleHouse();
      await setUpLink(house);
      expect((await house.refused(setUp(house, text))).code).toBe("not_found");
    },
  );

  test("is not what an invitation is, which stays as it was", async () => {
    await using house = openPeopleHouse();
    const bob = { email: "bob@acme.test", name: "Bob" };
    const { token } = await house.write((tx) => inviteUser(house.ctx, tx, bob, CLI_ACTOR));
    expect((await house.refused(setUp(house, token))).code).toBe("not_found");
    expect(findLink(house.ctx.db, token, house.clock.now())?.purpose).toBe("invite");
  });

  test("makes nobody where there is a user already", async () => {
    await using house = openPeopleHouse();
    const token = await setUpLink(house);
    // As a row that came in behind the verbs' backs.
    await house.addUser("usr_ada");
    expect((await house.refused(setUp(house, token))).code).toBe("conflict");
  });
});
