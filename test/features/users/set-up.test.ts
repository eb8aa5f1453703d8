import { describe, expect, test } from "bun:test";
import type { Tx } from "../../../src/db/statements";
import { createSessions } from "../../../src/features/auth/sessions";
import { findLink } from "../../../src/features/auth/links";
import { createUser, getUser, listUsers } from "../../../src/features/users/users";
import { inviteUser, issueSetUpLink, setUpOwner } from "../../../src/features/users/invitations";
import { CLI_ACTOR } from "../../../src/base/actor";
import {
  fieldErrorsOf,
  FROM,
  HASH,
  openPeopleInstallation,
  type PeopleInstallation,
} from "../../support/user-installation";

const HOUR_MS = 3_600_000;
const ADA = { email: "ada@acme.test", name: "Ada", passwordHash: HASH };

async function setUpLink(installation: PeopleInstallation): Promise<string> {
  return (await installation.write((tx) => issueSetUpLink(installation.ctx, tx))) ?? "none";
}

function setUp(installation: PeopleInstallation, token: string, input = ADA) {
  return (tx: Tx) => setUpOwner(installation.ctx, tx, token, input, FROM);
}

describe("the set-up link", () => {
  test("the set-up link creates the owner, signs them in and writes an audit entry with their address", async () => {
    await using installation = openPeopleInstallation();
    const { user, sessionToken } = await installation.write(
      setUp(installation, await setUpLink(installation)),
    );
    expect(user).toMatchObject({
      email: ADA.email,
      name: "Ada",
      role: "owner",
      has_password: true,
      last_login_at: "2026-03-10T12:00:00.000Z",
    });
    expect(getUser(installation.ctx.db, user.id)).toEqual(user);
    const session = createSessions(installation.ctx).find(sessionToken, installation.clock.now());
    expect(session).toMatchObject({ ...FROM, user: { id: user.id, role: "owner" } });
    expect(installation.audit()).toMatchObject([
      {
        action: "user.set_up",
        actor_kind: "user",
        actor_id: user.id,
        target_id: user.id,
        ip: FROM.ip,
      },
    ]);
  });

  test("the set-up link can be used once", async () => {
    await using installation = openPeopleInstallation();
    const token = await setUpLink(installation);
    await installation.write(setUp(installation, token));
    const again = { ...ADA, email: "eve@acme.test" };
    expect((await installation.rejectionFrom(setUp(installation, token, again))).code).toBe(
      "not_found",
    );
    expect(listUsers(installation.ctx.db)).toHaveLength(1);
  });

  test("the set-up link creates one owner for concurrent requests", async () => {
    await using installation = openPeopleInstallation();
    const token = await setUpLink(installation);
    const attempts = ["ada", "bob", "eve"].map((name) =>
      installation.write(setUp(installation, token, { ...ADA, email: `${name}@acme.test` })),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(listUsers(installation.ctx.db)).toHaveLength(1);
  });

  test("the set-up link is valid for exactly one hour", async () => {
    for (const [waitedMs, isOpen] of [
      [HOUR_MS - 1, true],
      [HOUR_MS, false],
    ] as const) {
      await using installation = openPeopleInstallation();
      const token = await setUpLink(installation);
      await installation.clock.advance(waitedMs);
      if (isOpen)
        expect((await installation.write(setUp(installation, token))).user.role).toBe("owner");
      else
        expect((await installation.rejectionFrom(setUp(installation, token))).code).toBe(
          "not_found",
        );
    }
  });

  test("the set-up link is replaced at the next start", async () => {
    await using installation = openPeopleInstallation();
    const first = await setUpLink(installation);
    const second = await setUpLink(installation);
    expect((await installation.rejectionFrom(setUp(installation, first))).code).toBe("not_found");
    expect((await installation.write(setUp(installation, second))).user.role).toBe("owner");
  });

  test.each([
    ["created", createUser],
    ["invited", inviteUser],
  ] as const)(
    "the set-up link is void after a user is %s, and is not issued again",
    async (_how, make) => {
      await using installation = openPeopleInstallation();
      const token = await setUpLink(installation);
      const bob = { email: "bob@acme.test", name: "Bob" };
      await installation.write((tx) => make(installation.ctx, tx, bob, CLI_ACTOR));
      expect((await installation.rejectionFrom(setUp(installation, token))).code).toBe("not_found");
      expect(
        await installation.write((tx) => issueSetUpLink(installation.ctx, tx)),
      ).toBeUndefined();
      expect(listUsers(installation.ctx.db).map(({ name }) => name)).toEqual(["Bob"]);
    },
  );

  test("the set-up link is still valid after a form with invalid fields", async () => {
    await using installation = openPeopleInstallation();
    const token = await setUpLink(installation);
    const wrong = { ...ADA, email: "ada", name: "" };
    const rejection = await installation.rejectionFrom(setUp(installation, token, wrong));
    expect(Object.keys(fieldErrorsOf(rejection))).toEqual(["#/email", "#/name"]);
    expect((await installation.write(setUp(installation, token))).user.name).toBe("Ada");
  });

  test.each(["", "short", "0".repeat(43), "a".repeat(100_000)])(
    "the set-up link cannot be replaced by another text",
    async (text) => {
      await using installation = openPeopleInstallation();
      await setUpLink(installation);
      expect((await installation.rejectionFrom(setUp(installation, text))).code).toBe("not_found");
    },
  );

  test("an invitation cannot be used as a set-up link and stays valid", async () => {
    await using installation = openPeopleInstallation();
    const bob = { email: "bob@acme.test", name: "Bob" };
    const { token } = await installation.write((tx) =>
      inviteUser(installation.ctx, tx, bob, CLI_ACTOR),
    );
    expect((await installation.rejectionFrom(setUp(installation, token))).code).toBe("not_found");
    expect(findLink(installation.ctx.db, token, installation.clock.now())?.purpose).toBe("invite");
  });

  test("the set-up link creates no owner if there is a user", async () => {
    await using installation = openPeopleInstallation();
    const token = await setUpLink(installation);
    // As a row that came in behind the verbs' backs.
    await installation.addUser("usr_ada");
    expect((await installation.rejectionFrom(setUp(installation, token))).code).toBe("conflict");
  });
});
