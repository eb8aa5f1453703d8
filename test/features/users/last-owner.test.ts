import { describe, expect, test } from "bun:test";
import type { Tx } from "../../../src/db/statements";
import { disableUser, enableUser, getUser, setRole } from "../../../src/features/users/users";
import { inviteUser } from "../../../src/features/users/invitations";
import { insertIdentity } from "../../../src/features/users/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { openPeopleInstallation, type PeopleInstallation } from "../../support/user-installation";

const ISSUER = "https://login.northwind.example";

/** Changes that take the rights of an owner from a user. */
const CHANGES = {
  disabled: (installation: PeopleInstallation, id: string) => (tx: Tx) =>
    disableUser(installation.ctx, tx, id, CLI_ACTOR),
  demoted: (installation: PeopleInstallation, id: string) => (tx: Tx) =>
    setRole(installation.ctx, tx, id, "admin", CLI_ACTOR),
};
const kinds = Object.keys(CHANGES) as (keyof typeof CHANGES)[];

describe.each(kinds)("owners that are %s", (kind) => {
  const change = CHANGES[kind];

  test("the only owner cannot be disabled or demoted", async () => {
    await using installation = openPeopleInstallation();
    const ada = await installation.user("Ada");
    await installation.user("Bob", { role: "admin" });
    const rejection = await installation.rejectionFrom(change(installation, ada.id));
    expect(rejection.code).toBe("conflict");
    expect(rejection.message).toStartWith("“Ada” is the last owner and cannot be ");
    expect(getUser(installation.ctx.db, ada.id)).toEqual(ada);
  });

  test("one of two owners can be disabled or demoted, and then not the other", async () => {
    await using installation = openPeopleInstallation();
    const ada = await installation.user("Ada");
    const bob = await installation.user("Bob", { role: "owner" });
    const changed = await installation.write(change(installation, ada.id));
    expect(kind === "disabled" ? changed.disabled_at : changed.role).toBe(
      kind === "disabled" ? "2026-03-10T12:00:00.000Z" : "admin",
    );
    expect((await installation.rejectionFrom(change(installation, bob.id))).code).toBe("conflict");
  });

  test("only one of two owners can be disabled or demoted concurrently", async () => {
    await using installation = openPeopleInstallation();
    const ids = [
      (await installation.user("Ada")).id,
      (await installation.user("Bob", { role: "owner" })).id,
    ];
    const outcomes = await Promise.allSettled(
      ids.map((id) => installation.write(change(installation, id))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  test("an owner cannot be disabled or demoted while the only other one is disabled", async () => {
    await using installation = openPeopleInstallation();
    const ada = await installation.user("Ada");
    const bob = await installation.user("Bob", { role: "owner" });
    await installation.write((tx) => disableUser(installation.ctx, tx, bob.id, CLI_ACTOR));
    expect((await installation.rejectionFrom(change(installation, ada.id))).code).toBe("conflict");
    await installation.write((tx) => enableUser(installation.ctx, tx, bob.id, CLI_ACTOR));
    await installation.write(change(installation, ada.id));
    expect((await installation.rejectionFrom(change(installation, bob.id))).code).toBe("conflict");
  });

  test("an owner cannot be disabled or demoted while the only other one has no password", async () => {
    await using installation = openPeopleInstallation();
    const ada = await installation.user("Ada");
    const bob = { email: "bob@acme.test", name: "Bob", role: "owner" } as const;
    const { user } = await installation.write((tx) =>
      inviteUser(installation.ctx, tx, bob, CLI_ACTOR),
    );
    expect((await installation.rejectionFrom(change(installation, ada.id))).code).toBe("conflict");
    await installation.write(change(installation, user.id));
  });

  test("an owner can be disabled or demoted while another one signs in with an identity", async () => {
    await using installation = openPeopleInstallation();
    const ada = await installation.user("Ada");
    const bob = { email: "bob@acme.test", name: "Bob", role: "owner" } as const;
    const at = { label: "bob", createdAt: 1, lastUsedAt: 1 };
    await installation.write((tx) => {
      const { user } = inviteUser(installation.ctx, tx, bob, CLI_ACTOR);
      insertIdentity(tx, { userId: user.id, issuer: ISSUER, subject: "bob", ...at });
    });
    // An identity of an issuer that is not in force does not sign in.
    expect((await installation.rejectionFrom(change(installation, ada.id))).code).toBe("conflict");
    const config = { ...installation.ctx.config, oidcIssuer: ISSUER };
    const now = { ...installation, ctx: { ...installation.ctx, config } };
    await installation.write(change(now, ada.id));
  });

  test("no command disables or demotes an owner who may sign in with an identity, for one who cannot", async () => {
    await using installation = openPeopleInstallation();
    // The environment of a command names no issuer.
    const id = await installation.write((tx) => {
      const ada = { email: "ada@acme.test", name: "Ada", role: "owner" } as const;
      return inviteUser(installation.ctx, tx, ada, CLI_ACTOR).user.id;
    });
    const invited = { email: "bob@acme.test", name: "Bob", role: "owner" } as const;
    await installation.write((tx) => {
      const at = { label: "ada", createdAt: 1, lastUsedAt: 1 };
      insertIdentity(tx, { userId: id, issuer: ISSUER, subject: "ada", ...at });
      inviteUser(installation.ctx, tx, invited, CLI_ACTOR);
    });
    const rejection = await installation.rejectionFrom(change(installation, id));
    expect([rejection.code, rejection.message]).toEqual([
      "conflict",
      expect.stringContaining("is the last owner"),
    ]);
    await installation.user("Eve", { role: "owner" });
    await installation.write(change(installation, id));
  });

  test("one of two owners without a password can be disabled or demoted, and then not the other", async () => {
    await using installation = openPeopleInstallation();
    const invite = (name: string) =>
      installation.write((tx) => {
        const input = { email: `${name}@acme.test`, name, role: "owner" } as const;
        return inviteUser(installation.ctx, tx, input, CLI_ACTOR).user.id;
      });
    const [ada, bob] = [await invite("ada"), await invite("bob")];
    await installation.write(change(installation, ada));
    expect((await installation.rejectionFrom(change(installation, bob))).code).toBe("conflict");
  });

  test("a disabled owner and other users can be disabled or demoted", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Ada");
    const bob = await installation.user("Bob", { role: "owner" });
    const eve = await installation.user("Eve");
    await installation.write((tx) => disableUser(installation.ctx, tx, bob.id, CLI_ACTOR));
    await installation.write(change(installation, bob.id));
    await installation.write(change(installation, eve.id));
    const found = getUser(installation.ctx.db, eve.id);
    expect(kind === "disabled" ? found.disabled_at !== null : found.role === "admin").toBe(true);
  });
});
