import { describe, expect, test } from "bun:test";
import {
  createUser,
  findUserByEmail,
  getUser,
  hasUsers,
  listUsers,
  renameUser,
  setRole,
} from "../../../src/features/users/users";
import { inviteUser } from "../../../src/features/users/invitations";
import { CLI_ACTOR, userActor } from "../../../src/base/actor";
import { fieldErrorsOf, HASH, openPeopleInstallation } from "../../support/user-installation";
import { shareSite } from "../../support/shared-site";

const ADA = { email: "ada@acme.test", name: "Ada" };
const BOB = { email: "bob@acme.test", name: "Bob", role: "viewer" } as const;

describe("the first user", () => {
  test("the first user is the owner by default, with an audit entry", async () => {
    await using installation = openPeopleInstallation();
    expect(hasUsers(installation.ctx.db)).toBe(false);
    const user = await installation.write((tx) => createUser(installation.ctx, tx, ADA, CLI_ACTOR));
    expect(user).toEqual({
      id: expect.stringMatching(/^usr_[0-9a-z]{26}$/),
      ...ADA,
      role: "owner",
      disabled_at: null,
      last_login_at: null,
      has_password: false,
      created_at: "2026-03-10T12:00:00.000Z",
      version: 1,
    });
    expect(hasUsers(installation.ctx.db)).toBe(true);
    expect(getUser(installation.ctx.db, user.id)).toEqual(user);
    expect(installation.audit()).toMatchObject([
      {
        action: "user.create",
        actor_kind: "cli",
        target_id: user.id,
        summary: "Created the user “Ada” (ada@acme.test), owner",
      },
    ]);
  });

  test.each(["admin", "editor", "viewer"] as const)("the first user cannot be %s", async (role) => {
    await using installation = openPeopleInstallation();
    const rejection = await installation.rejectionFrom((tx) =>
      createUser(installation.ctx, tx, { ...ADA, role }, CLI_ACTOR),
    );
    expect(fieldErrorsOf(rejection)).toEqual({ "#/role": "must be owner: this is the first user" });
    expect(hasUsers(installation.ctx.db)).toBe(false);
  });
});

describe("a later user", () => {
  test("a later user has the given role and password hash", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Ada");
    const bob = await installation.write((tx) =>
      createUser(installation.ctx, tx, { ...BOB, passwordHash: HASH }, CLI_ACTOR),
    );
    expect(bob).toMatchObject({ role: "viewer", has_password: true });
    expect(listUsers(installation.ctx.db).map(({ name }) => name)).toEqual(["Bob", "Ada"]);
  });

  test("a later user without a role is rejected", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Ada");
    const { role: _, ...roleless } = BOB;
    const rejection = await installation.rejectionFrom((tx) =>
      createUser(installation.ctx, tx, roleless, CLI_ACTOR),
    );
    expect(fieldErrorsOf(rejection)).toEqual({ "#/role": "is required" });
  });

  test.each(["ada@acme.test", "ADA@Acme.Test", "  ada@acme.test\t"])(
    "a user with the email %p of another user is rejected",
    async (email) => {
      await using installation = openPeopleInstallation();
      const ada = await installation.user("Ada");
      const input = { ...BOB, email };
      for (const make of [createUser, inviteUser]) {
        const rejection = await installation.rejectionFrom((tx) =>
          make(installation.ctx, tx, input, CLI_ACTOR),
        );
        expect(fieldErrorsOf(rejection)).toEqual({ "#/email": "belongs to another user" });
      }
      expect(findUserByEmail(installation.ctx.db, email)).toEqual(ada);
    },
  );

  test("a user with another's email in another Unicode case or composition is rejected", async () => {
    await using installation = openPeopleInstallation();
    await installation.user("Ada", { email: "zoë@ÜBER.test" });
    for (const email of ["ZOË@über.test", "zoe\u0308@u\u0308ber.test"]) {
      const rejection = await installation.rejectionFrom((tx) =>
        createUser(installation.ctx, tx, { ...BOB, email }, CLI_ACTOR),
      );
      expect(fieldErrorsOf(rejection)).toEqual({ "#/email": "belongs to another user" });
    }
    expect(await installation.user("Bob", { email: "zoe@über.test" })).toMatchObject({
      name: "Bob",
    });
  });
});

describe("the fields of a user", () => {
  const NO_EMAIL = "must be an e-mail address, such as ada@example.com";
  const shared = shareSite(async () => {
    const installation = openPeopleInstallation();
    await installation.user("Ada");
    return installation;
  });

  test.each([
    ["email", "", "is empty"],
    ["email", "   ", "is empty"],
    ["email", "ada", NO_EMAIL],
    ["email", "@acme.test", NO_EMAIL],
    ["email", "ada@", NO_EMAIL],
    ["email", "ada@home@acme.test", NO_EMAIL],
    ["email", "ada lovelace@acme.test", NO_EMAIL],
    ["email", "ada\u0000@acme.test", "holds a NUL character"],
    ["email", "ada\u0007@acme.test", NO_EMAIL],
    ["email", "ada\u202e@acme.test", NO_EMAIL],
    ["email", "ada\ud800@acme.test", "holds half of a surrogate pair"],
    ["email", `${"a".repeat(245)}@acme.test`, "is 255 characters long; 254 is the most"],
    ["name", "", "is empty"],
    ["name", " ", "is blank"],
    ["name", "a\nb", "holds control characters or bidirectional overrides"],
    ["name", "a".repeat(256), "is 256 characters long; 255 is the most"],
    ["role", "king", "must be one of owner, admin, editor, viewer"],
    ["role", "", "must be one of owner, admin, editor, viewer"],
  ])("a user with the %s %p is rejected", async (field, value, error) => {
    const installation = await shared();
    for (const make of [createUser, inviteUser]) {
      const rejection = await installation.rejectionFrom((tx) =>
        make(installation.ctx, tx, { ...BOB, [field]: value }, CLI_ACTOR),
      );
      expect(fieldErrorsOf(rejection)).toEqual({ [`#/${field}`]: error });
    }
  });

  test("all invalid fields of a user are listed together, including a used email", async () => {
    await using installation = openPeopleInstallation();
    const together = { email: "ada", name: "", role: "king" as never };
    const all = await installation.rejectionFrom((tx) =>
      createUser(installation.ctx, tx, together, CLI_ACTOR),
    );
    expect(Object.keys(fieldErrorsOf(all))).toEqual(["#/email", "#/name", "#/role"]);
    await installation.user("Ada");
    const taken = { email: "ADA@acme.test", name: "" };
    const some = await installation.rejectionFrom((tx) =>
      createUser(installation.ctx, tx, taken, CLI_ACTOR),
    );
    expect(Object.keys(fieldErrorsOf(some)).toSorted()).toEqual(["#/email", "#/name", "#/role"]);
  });

  test("the fields of a user can have their maximum length", async () => {
    await using installation = openPeopleInstallation();
    const email = `${"a".repeat(244)}@acme.test`;
    expect(email).toHaveLength(254);
    expect(await installation.user("Ada", { email, name: "𝒜".repeat(255) })).toMatchObject({
      email,
    });
  });
});

describe("changing a user", () => {
  test("renaming a user and changing the role write one audit entry each", async () => {
    await using installation = openPeopleInstallation();
    const ada = await installation.user("Ada");
    const bob = await installation.user("Bob");
    const actor = userActor(ada, "203.0.113.7");
    for (const _ of ["first", "again"]) {
      await installation.write((tx) => renameUser(installation.ctx, tx, bob.id, "Robert", actor));
      await installation.write((tx) => setRole(installation.ctx, tx, bob.id, "admin", actor));
    }
    expect(getUser(installation.ctx.db, bob.id)).toMatchObject({ name: "Robert", role: "admin" });
    const by = { actor_kind: "user", actor_id: ada.id, ip: "203.0.113.7", target_id: bob.id };
    expect(installation.audit().slice(2)).toMatchObject([
      { action: "user.rename", summary: "Renamed the user “Bob” to “Robert”", ...by },
      {
        action: "user.role",
        summary: "Changed the role of “Robert” from editor to admin",
        ...by,
      },
    ]);
  });

  test("an invalid name, an invalid role and an unknown user are rejected", async () => {
    await using installation = openPeopleInstallation();
    const { id } = await installation.user("Ada");
    const { ctx } = installation;
    const name = await installation.rejectionFrom((tx) =>
      renameUser(ctx, tx, id, "a\u202eb", CLI_ACTOR),
    );
    expect(Object.keys(fieldErrorsOf(name))).toEqual(["#/name"]);
    const role = await installation.rejectionFrom((tx) =>
      setRole(ctx, tx, id, "king" as never, CLI_ACTOR),
    );
    expect(Object.keys(fieldErrorsOf(role))).toEqual(["#/role"]);
    for (const change of [renameUser, setRole]) {
      const unknown = await installation.rejectionFrom((tx) =>
        change(ctx, tx, "usr_nobody", "admin", CLI_ACTOR),
      );
      expect(unknown.code).toBe("not_found");
    }
  });
});
