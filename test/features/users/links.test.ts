import { describe, expect, test } from "bun:test";
import type { Tx } from "../../../src/db";
import { createSessions, findLink, issueLink } from "../../../src/features/auth";
import {
  acceptLink,
  disableUser,
  enableUser,
  getUser,
  inviteUser,
  issuePasswordLink,
  issueSetUpLink,
} from "../../../src/features/users";
import { CLI_ACTOR } from "../../../src/kernel/actor";
import { complaintsOf, FROM, HASH, openPeopleHouse, type PeopleHouse } from "../../support/people";

const DAY_MS = 86_400_000;
const BOB = { email: "bob@acme.test", name: "Bob", role: "viewer" } as const;
const OTHER_HASH = `${HASH}-of-another-password`;

function accept(house: PeopleHouse, token: string, chosen: { name?: string } = {}) {
  return (tx: Tx) =>
    acceptLink(house.ctx, tx, token, { passwordHash: OTHER_HASH, ...chosen }, FROM);
}

async function invited() {
  const house = openPeopleHouse();
  await house.user("Ada");
  const { user, token } = await house.write((tx) => inviteUser(house.ctx, tx, BOB, CLI_ACTOR));
  return { house, bob: user, token, [Symbol.asyncDispose]: () => house[Symbol.asyncDispose]() };
}

/** A link that the verbs would not issue. */
function issueForged(house: PeopleHouse, tx: Tx, purpose: "invite" | "reset", userId: string) {
  return issueLink(house.ctx, tx, { purpose, userId, lastsMs: DAY_MS }).token;
}

async function reset(house: PeopleHouse, id: string) {
  return house.write((tx) => issuePasswordLink(house.ctx, tx, id, CLI_ACTOR));
}

function find(house: PeopleHouse, sessionToken: string) {
  return createSessions(house.ctx).find(sessionToken, house.clock.now());
}

describe("an invitation", () => {
  test("lets its user choose a password and a name, and signs them in", async () => {
    await using at = await invited();
    const { house, bob, token } = at;
    expect(bob).toMatchObject({ ...BOB, has_password: false });
    const { user, sessionToken } = await house.write(accept(house, token, { name: "Robert" }));
    expect(user).toEqual({
      ...bob,
      name: "Robert",
      has_password: true,
      last_login_at: "2026-03-10T12:00:00.000Z",
    });
    expect(getUser(house.ctx.db, bob.id)).toEqual(user);
    expect(find(house, sessionToken)).toMatchObject({ ...FROM, user: { id: bob.id } });
    expect(house.audit().slice(1)).toMatchObject([
      { action: "user.invite", actor_kind: "cli", target_id: bob.id },
      {
        action: "user.accept",
        actor_kind: "user",
        actor_id: bob.id,
        ip: FROM.ip,
        summary: "“Robert” accepted the invitation, and signed in",
      },
    ]);
  });

  test("opens once", async () => {
    await using at = await invited();
    const { house, token } = at;
    const { sessionToken } = await house.write(accept(house, token));
    expect((await house.refused(accept(house, token))).code).toBe("not_found");
    expect(find(house, sessionToken)).toBeDefined();
  });

  test("opens for seven days and not a moment longer", async () => {
    for (const [waitedMs, isOpen] of [
      [7 * DAY_MS - 1, true],
      [7 * DAY_MS, false],
    ] as const) {
      await using at = await invited();
      const { house, token } = at;
      await house.clock.advance(waitedMs);
      if (isOpen) expect((await house.write(accept(house, token))).user.name).toBe("Bob");
      else expect((await house.refused(accept(house, token))).code).toBe("not_found");
    }
  });

  test("survives a wrong name", async () => {
    await using at = await invited();
    const { house, token } = at;
    const rejection = await house.refused(accept(house, token, { name: "" }));
    expect(complaintsOf(rejection)).toEqual({ "#/name": "is empty" });
    expect((await house.write(accept(house, token))).user.name).toBe("Bob");
  });

  test("is dead once its user is disabled, and stays so when they are enabled", async () => {
    await using at = await invited();
    const { house, bob, token } = at;
    await house.write((tx) => disableUser(house.ctx, tx, bob.id, CLI_ACTOR));
    expect((await house.refused(accept(house, token))).code).toBe("not_found");
    await house.write((tx) => enableUser(house.ctx, tx, bob.id, CLI_ACTOR));
    expect((await house.refused(accept(house, token))).code).toBe("not_found");
  });

  test("issued anew replaces the one before", async () => {
    await using at = await invited();
    const { house, bob, token } = at;
    const anew = await reset(house, bob.id);
    expect(anew).toMatchObject({ purpose: "invite", user: { id: bob.id } });
    expect((await house.refused(accept(house, token))).code).toBe("not_found");
    expect((await house.write(accept(house, anew.token))).user.id).toBe(bob.id);
  });
});

describe("a link to choose a new password", () => {
  test("is for who has one; it ends the user's sessions, those of nobody else, and signs in", async () => {
    await using house = openPeopleHouse();
    const ada = await house.user("Ada");
    const bob = await house.user("Bob");
    const [open, others] = [await house.start(bob.id), await house.start(ada.id)];
    const { token, purpose, user } = await reset(house, bob.id);
    expect([purpose, user]).toEqual(["reset", bob]);
    expect(find(house, open)).toBeDefined();
    const { sessionToken } = await house.write(accept(house, token));
    expect(find(house, open)).toBeUndefined();
    expect(find(house, sessionToken)?.user.id).toBe(bob.id);
    expect(find(house, others)?.user.id).toBe(ada.id);
    expect(house.audit().slice(2)).toMatchObject([
      { action: "user.password_link", actor_kind: "cli", target_id: bob.id },
      {
        action: "user.accept",
        summary: "“Bob” chose a new password by a link, and signed in",
      },
    ]);
  });

  test("opens for a day and not a moment longer", async () => {
    for (const [waitedMs, isOpen] of [
      [DAY_MS - 1, true],
      [DAY_MS, false],
    ] as const) {
      await using house = openPeopleHouse();
      const { token } = await reset(house, (await house.user("Ada")).id);
      await house.clock.advance(waitedMs);
      if (isOpen) expect((await house.write(accept(house, token))).user.name).toBe("Ada");
      else expect((await house.refused(accept(house, token))).code).toBe("not_found");
    }
  });

  test("is not issued to who is disabled or unknown", async () => {
    await using house = openPeopleHouse();
    await house.user("Ada");
    const { id } = await house.user("Bob");
    await house.write((tx) => disableUser(house.ctx, tx, id, CLI_ACTOR));
    const issue = (userId: string) => (tx: Tx) =>
      issuePasswordLink(house.ctx, tx, userId, CLI_ACTOR);
    expect((await house.refused(issue(id))).code).toBe("conflict");
    expect((await house.refused(issue("usr_nobody"))).code).toBe("not_found");
  });

  test("voids whatever else the user had been sent", async () => {
    await using house = openPeopleHouse();
    const { id } = await house.user("Ada");
    const other = await house.write((tx) => issueForged(house, tx, "invite", id));
    const { token } = await reset(house, id);
    await house.write(accept(house, token));
    expect((await house.refused(accept(house, other))).code).toBe("not_found");
  });

  test("opens nothing for a disabled user, however it came to be", async () => {
    await using house = openPeopleHouse();
    await house.user("Ada");
    const { id } = await house.user("Bob");
    await house.write((tx) => disableUser(house.ctx, tx, id, CLI_ACTOR));
    const token = await house.write((tx) => issueForged(house, tx, "reset", id));
    expect((await house.refused(accept(house, token))).code).toBe("not_found");
    await house.write((tx) => enableUser(house.ctx, tx, id, CLI_ACTOR));
    expect((await house.write(accept(house, token))).user.id).toBe(id);
  });

  test("is not what the set-up link is, which stays as it was", async () => {
    await using house = openPeopleHouse();
    const token = (await house.write((tx) => issueSetUpLink(house.ctx, tx))) ?? "none";
    expect((await house.refused(accept(house, token))).code).toBe("not_found");
    expect(findLink(house.ctx.db, token, house.clock.now())?.purpose).toBe("setup");
  });
});
