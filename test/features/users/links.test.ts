import { describe, expect, test } from "bun:test";
import type { Tx } from "../../../src/db/statements";
import { createSessions } from "../../../src/features/auth/sessions";
import { findLink, issueLink } from "../../../src/features/auth/links";
import {
  acceptLink,
  inviteUser,
  issuePasswordLink,
  issueSetUpLink,
} from "../../../src/features/users/invitations";
import { disableUser, enableUser, getUser } from "../../../src/features/users/users";
import { CLI_ACTOR } from "../../../src/base/actor";
import { sessionTokenOf } from "../../support/second-factors";
import {
  fieldErrorsOf,
  FROM,
  HASH,
  openPeopleInstallation,
  type PeopleInstallation,
} from "../../support/user-installation";

const DAY_MS = 86_400_000;
const BOB = { email: "bob@acme.test", name: "Bob", role: "viewer" } as const;
const OTHER_HASH = `${HASH}-of-another-password`;

function accept(installation: PeopleInstallation, token: string, chosen: { name?: string } = {}) {
  return (tx: Tx) =>
    acceptWithSession(installation, tx, token, { passwordHash: OTHER_HASH, ...chosen });
}

/** Accepts a link of a user without a second factor. */
function acceptWithSession(
  { ctx }: PeopleInstallation,
  tx: Tx,
  token: string,
  chosen: { passwordHash: string; name?: string },
) {
  const accepted = acceptLink(ctx, tx, token, chosen, FROM);
  return { user: accepted.user, sessionToken: sessionTokenOf(accepted) };
}

async function invited() {
  const installation = openPeopleInstallation();
  await installation.user("Ada");
  const { user, token } = await installation.write((tx) =>
    inviteUser(installation.ctx, tx, BOB, CLI_ACTOR),
  );
  return {
    installation,
    bob: user,
    token,
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

/** A link that the verbs would not issue. */
function issueForged(
  installation: PeopleInstallation,
  tx: Tx,
  purpose: "invite" | "reset",
  userId: string,
) {
  return issueLink(installation.ctx, tx, { purpose, userId, lastsMs: DAY_MS }).token;
}

async function reset(installation: PeopleInstallation, id: string) {
  return installation.write((tx) => issuePasswordLink(installation.ctx, tx, id, CLI_ACTOR));
}

function find(installation: PeopleInstallation, sessionToken: string) {
  return createSessions(installation.ctx).find(sessionToken, installation.clock.now());
}

describe("invitations", () => {
  test("an invitation sets the user's password and name and signs them in", async () => {
    await using at = await invited();
    const { installation, bob, token } = at;
    expect(bob).toMatchObject({ ...BOB, has_password: false });
    const { user, sessionToken } = await installation.write(
      accept(installation, token, { name: "Robert" }),
    );
    expect(user).toEqual({
      ...bob,
      name: "Robert",
      has_password: true,
      last_login_at: "2026-03-10T12:00:00.000Z",
      version: 2,
    });
    expect(getUser(installation.ctx.db, bob.id)).toEqual(user);
    expect(find(installation, sessionToken)).toMatchObject({ ...FROM, user: { id: bob.id } });
    expect(installation.audit().slice(1)).toMatchObject([
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

  test("an invitation can be used once", async () => {
    await using at = await invited();
    const { installation, token } = at;
    const { sessionToken } = await installation.write(accept(installation, token));
    expect((await installation.rejectionFrom(accept(installation, token))).code).toBe("not_found");
    expect(find(installation, sessionToken)).toBeDefined();
  });

  test("an invitation is valid for exactly seven days", async () => {
    for (const [waitedMs, isOpen] of [
      [7 * DAY_MS - 1, true],
      [7 * DAY_MS, false],
    ] as const) {
      await using at = await invited();
      const { installation, token } = at;
      await installation.clock.advance(waitedMs);
      if (isOpen)
        expect((await installation.write(accept(installation, token))).user.name).toBe("Bob");
      else
        expect((await installation.rejectionFrom(accept(installation, token))).code).toBe(
          "not_found",
        );
    }
  });

  test("an invitation is still valid after an invalid name", async () => {
    await using at = await invited();
    const { installation, token } = at;
    const rejection = await installation.rejectionFrom(accept(installation, token, { name: "" }));
    expect(fieldErrorsOf(rejection)).toEqual({ "#/name": "is empty" });
    expect((await installation.write(accept(installation, token))).user.name).toBe("Bob");
  });

  test("an invitation is void after its user is disabled, also after they are enabled", async () => {
    await using at = await invited();
    const { installation, bob, token } = at;
    await installation.write((tx) => disableUser(installation.ctx, tx, bob.id, CLI_ACTOR));
    expect((await installation.rejectionFrom(accept(installation, token))).code).toBe("not_found");
    await installation.write((tx) => enableUser(installation.ctx, tx, bob.id, CLI_ACTOR));
    expect((await installation.rejectionFrom(accept(installation, token))).code).toBe("not_found");
  });

  test("a new invitation replaces the previous one", async () => {
    await using at = await invited();
    const { installation, bob, token } = at;
    const newLink = await reset(installation, bob.id);
    expect(newLink).toMatchObject({ purpose: "invite", user: { id: bob.id } });
    expect((await installation.rejectionFrom(accept(installation, token))).code).toBe("not_found");
    expect((await installation.write(accept(installation, newLink.token))).user.id).toBe(bob.id);
  });
});

describe("password reset links", () => {
  test("a password reset link ends the user's sessions and signs them in", async () => {
    await using installation = openPeopleInstallation();
    const ada = await installation.user("Ada");
    const bob = await installation.user("Bob");
    const [open, others] = [await installation.start(bob.id), await installation.start(ada.id)];
    const { token, purpose, user } = await reset(installation, bob.id);
    expect([purpose, user]).toEqual(["reset", bob]);
    expect(find(installation, open)).toBeDefined();
    const { sessionToken } = await installation.write(accept(installation, token));
    expect(find(installation, open)).toBeUndefined();
    expect(find(installation, sessionToken)?.user.id).toBe(bob.id);
    expect(find(installation, others)?.user.id).toBe(ada.id);
    expect(installation.audit().slice(2)).toMatchObject([
      { action: "user.password_link", actor_kind: "cli", target_id: bob.id },
      {
        action: "user.accept",
        summary: "“Bob” chose a new password by a link, and signed in",
      },
    ]);
  });

  test("a password reset link is valid for exactly one day", async () => {
    for (const [waitedMs, isOpen] of [
      [DAY_MS - 1, true],
      [DAY_MS, false],
    ] as const) {
      await using installation = openPeopleInstallation();
      const { token } = await reset(installation, (await installation.user("Ada")).id);
      await installation.clock.advance(waitedMs);
      if (isOpen)
        expect((await installation.write(accept(installation, token))).user.name).toBe("Ada");
      else
        expect((await installation.rejectionFrom(accept(installation, token))).code).toBe(
          "not_found",
        );
    }
  });

  test("a password reset link is not issued for disabled or unknown users", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Ada");
    const { id } = await installation.user("Bob");
    await installation.write((tx) => disableUser(installation.ctx, tx, id, CLI_ACTOR));
    const issue = (userId: string) => (tx: Tx) =>
      issuePasswordLink(installation.ctx, tx, userId, CLI_ACTOR);
    expect((await installation.rejectionFrom(issue(id))).code).toBe("conflict");
    expect((await installation.rejectionFrom(issue("usr_nobody"))).code).toBe("not_found");
  });

  test("using a password reset link voids the user's other links", async () => {
    await using installation = openPeopleInstallation();
    const { id } = await installation.user("Ada");
    const other = await installation.write((tx) => issueForged(installation, tx, "invite", id));
    const { token } = await reset(installation, id);
    await installation.write(accept(installation, token));
    expect((await installation.rejectionFrom(accept(installation, other))).code).toBe("not_found");
  });

  test("a password reset link does not work for a disabled user", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Ada");
    const { id } = await installation.user("Bob");
    await installation.write((tx) => disableUser(installation.ctx, tx, id, CLI_ACTOR));
    const token = await installation.write((tx) => issueForged(installation, tx, "reset", id));
    expect((await installation.rejectionFrom(accept(installation, token))).code).toBe("not_found");
    await installation.write((tx) => enableUser(installation.ctx, tx, id, CLI_ACTOR));
    expect((await installation.write(accept(installation, token))).user.id).toBe(id);
  });

  test("a set-up link cannot be used as a password reset link and stays valid", async () => {
    await using installation = openPeopleInstallation();
    const token =
      (await installation.write((tx) => issueSetUpLink(installation.ctx, tx))) ?? "none";
    expect((await installation.rejectionFrom(accept(installation, token))).code).toBe("not_found");
    expect(findLink(installation.ctx.db, token, installation.clock.now())?.purpose).toBe("setup");
  });
});
