import { describe, expect, test } from "bun:test";
import { findUserByEmail, getUser, listUsers } from "../../../../src/features/users/users";
import { createTestApp, expectProblem, type TestApp } from "../../../support/app";
import {
  actionsOf,
  HTML,
  invite,
  isSignedIn,
  keysOf,
  makeKey,
  openForm,
  sendEdit,
  signIn,
  statusWith,
  USERS,
  userWithPassword,
} from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const ADA = "ada@example.com";
const GRACE = "grace@example.com";
const INVITATION = { email: "new@example.com", name: "New", role: "viewer" };
const LAST_OWNER = "“ada” is the last owner";

/** An owner, and what there is to be left as it was. */
async function withOwner() {
  const app = await createTestApp();
  const { id } = await userWithPassword(app, ADA);
  const session = await signIn(app, ADA);
  return { app, id, session, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const stateOf = (app: TestApp) => ({ users: listUsers(app.ctx.db), audit: app.audit() });

describe("the screens of users", () => {
  for (const role of ["admin", "editor", "viewer"] as const) {
    test(`the screens and forms of users are forbidden to a role ${role}, whose menu has no link to them`, async () => {
      await using installation = await withOwner();
      const { app, id } = installation;
      const session = await app.signedIn(role);
      const before = stateOf(app);
      for (const path of [USERS, `${USERS}/new`, `${USERS}/${id}`, `${USERS}/${id}/disable`]) {
        expectProblem(await app.call(path, { session }), "insufficient_role");
      }
      for (const path of [
        "new",
        ...["role", "link", "disable", "enable"].map((it) => `${id}/${it}`),
      ]) {
        const answer = await app.call(`${USERS}/${path}`, { session, form: INVITATION });
        expectProblem(answer, "insufficient_role");
      }
      expect(stateOf(app)).toEqual(before);
      const links = readHtml((await app.call("/admin", { session })).text);
      expect(links.attributes("nav a", "href")).not.toContain(USERS);
    });
  }

  test("the list of users shows every user with role, last sign-in and state", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    await userWithPassword(app, GRACE, "editor");
    await app.call(`${USERS}/new`, { session, form: INVITATION });
    const page = readHtml((await app.call(USERS, { session })).text);
    const rows = page.texts("tbody tr");
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/new@example\.com.*Viewer.*Never.*Invited/);
    expect(rows[1]).toMatch(/grace@example\.com.*Editor.*Never.*Active/);
    expect(rows[2]).toMatch(/ada@example\.com.*Owner.*Active/);
  });

  test("an unknown user is not_found", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const before = stateOf(app);
    for (const id of ["usr_x", "usr_01kah2v9w0e0rs6x0h3ye0a1bc", "x", "%00"]) {
      for (const path of [`${USERS}/${id}`, `${USERS}/${id}/disable`]) {
        const answer = await app.call(path, { session, headers: HTML });
        expect(answer.status).toBe(404);
        expect(readHtml(answer.text).texts("h1")).toEqual(["Not found"]);
      }
      for (const action of ["role", "link", "disable", "enable"]) {
        const form = { role: "viewer" };
        const answer = await app.call(`${USERS}/${id}/${action}`, { session, form });
        expectProblem(answer, "not_found");
      }
    }
    expect(stateOf(app)).toEqual(before);
  });
});

describe("inviting a user", () => {
  test("an invitation to an email of another user, in any case, is rejected with an error at the field", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    for (const email of [ADA, "ADA@example.com", ` ${ADA} `]) {
      const before = stateOf(app);
      const form = { ...INVITATION, email };
      const answer = await app.call(`${USERS}/new`, { session, form });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({ email: "E-mail belongs to another user." });
      expect(typedIn(answer.text, "email")).toEqual([email]);
      expect(typedIn(answer.text, "role")).toEqual(["viewer"]);
      expect(stateOf(app)).toEqual(before);
    }
    const form = { ...INVITATION, form: await openForm(app, `${USERS}/new`, session) };
    expect((await app.call(`${USERS}/new`, { session, form })).status).toBe(200);
    expect(findUserByEmail(app.ctx.db, INVITATION.email)).toMatchObject({ role: "viewer" });
  });

  test("an invalid invitation is rejected with an error for each field and keeps the typed values", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const before = stateOf(app);
    const form = { email: "a b", name: "", role: "king" };
    const answer = await app.call(`${USERS}/new`, { session, form });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text)).sort()).toEqual(["email", "name", "role"]);
    expect(typedIn(answer.text, "email")).toEqual(["a b"]);
    const empty = await app.call(`${USERS}/new`, { session, form: {} });
    expect(Object.keys(fieldErrorsOn(empty.text)).sort()).toEqual(["email", "name", "role"]);
    expect(stateOf(app)).toEqual(before);
  });
});

describe("the last owner", () => {
  test("the last owner cannot be given another role", async () => {
    await using installation = await withOwner();
    const { app, id, session } = installation;
    const before = stateOf(app);
    for (const role of ["admin", "viewer"]) {
      const answer = await sendEdit(app, `${USERS}/${id}/role`, {
        session,
        form: { role },
        screen: `${USERS}/${id}`,
      });
      expect(answer.status).toBe(409);
      expect(answer.text).toContain(`${LAST_OWNER} and cannot be given another role.`);
    }
    expect(stateOf(app)).toEqual(before);
  });

  test("the last owner cannot be disabled, and their session stays live", async () => {
    await using installation = await withOwner();
    const { app, id, session } = installation;
    const before = stateOf(app);
    const answer = await app.call(`${USERS}/${id}/disable`, { session, form: {} });
    expect(answer.status).toBe(409);
    const page = readHtml(answer.text);
    expect(page.texts('[role="alert"]')[0]).toContain(`${LAST_OWNER} and cannot be disabled.`);
    expect(page.attributes('[role="alert"]', "tabindex")).toEqual(["-1"]);
    expect(page.attributes("[autofocus]", "role")).toEqual(["alert"]);
    expect(page.texts("#field-role-error")).toEqual([]);
    expect(stateOf(app)).toEqual(before);
    expect(await isSignedIn(app, session)).toBe(true);
  });

  test("only users other than the last owner are offered to be disabled", async () => {
    await using installation = await withOwner();
    const { app, id, session } = installation;
    const { id: grace } = await userWithPassword(app, GRACE, "owner");
    const open = async (user: string) =>
      readHtml((await app.call(`${USERS}/${user}`, { session })).text);
    for (const user of [id, grace]) {
      expect((await open(user)).texts("main a.danger")).toEqual(["Disable"]);
      expect((await app.call(`${USERS}/${user}/disable`, { session })).status).toBe(200);
    }
    await app.call(`${USERS}/${grace}/disable`, { session, form: {} });
    const last = await open(id);
    expect(last.texts("main a.danger")).toEqual([]);
    expect(last.texts("#field-role-hint")[0]).toContain("The last owner cannot get another role");
    const confirmation = await app.call(`${USERS}/${id}/disable`, { session });
    expect([confirmation.status, confirmation.headers.get("location")]).toEqual([
      303,
      `${USERS}/${id}`,
    ]);
  });

  test("an owner can take a lesser role once another owner has a password", async () => {
    await using installation = await withOwner();
    const { app, id, session } = installation;
    const { id: grace } = await userWithPassword(app, GRACE, "admin");
    await sendEdit(app, `${USERS}/${grace}/role`, {
      session,
      form: { role: "owner" },
      screen: `${USERS}/${grace}`,
    });
    const answer = await sendEdit(app, `${USERS}/${id}/role`, {
      session,
      form: { role: "viewer" },
      screen: `${USERS}/${id}`,
    });
    expect(answer.status).toBe(303);
    expect(getUser(app.ctx.db, id).role).toBe("viewer");
    // Where they are led is a screen that they may open.
    const { status } = await app.call(answer.headers.get("location") ?? "", { session });
    expect(status).toBe(200);
    // Now the other one is the last.
    const last = await signIn(app, GRACE);
    const rejected = await app.call(`${USERS}/${grace}/disable`, { session: last, form: {} });
    expect(rejected.status).toBe(409);
  });
});

describe("changing a user's role", () => {
  test("an outdated form of a user's role is a conflict, and does not undo another owner's change", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const { id } = await userWithPassword(app, GRACE, "admin");
    const path = `${USERS}/${id}`;
    const [version = ""] = typedIn((await app.call(path, { session })).text, "version");
    await sendEdit(app, `${path}/role`, { session, form: { role: "viewer" }, screen: path });
    const form = { version, role: "admin" };
    const answer = await app.call(`${path}/role`, { session, form });
    expect(answer.status).toBe(409);
    expect(getUser(app.ctx.db, id).role).toBe("viewer");
  });

  test("giving a user their current role changes nothing and shows “Nothing was changed.”", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const { id } = await userWithPassword(app, GRACE, "editor");
    const give = async (role: string) => {
      await sendEdit(app, `${USERS}/${id}/role`, {
        session,
        form: { role },
        screen: `${USERS}/${id}`,
      });
      return readHtml((await app.call(`${USERS}/${id}`, { session })).text).texts(".flash");
    };
    const before = stateOf(app);
    expect(await give("editor")).toEqual(["Nothing was changed."]);
    expect(stateOf(app)).toEqual(before);
    expect(await give("admin")).toEqual(["The role was changed."]);
  });

  test("an unknown role is rejected with an error, and nothing is written", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const { id } = await userWithPassword(app, GRACE, "editor");
    const before = stateOf(app);
    for (const role of ["", "king", "Owner", "__proto__"]) {
      const answer = await sendEdit(app, `${USERS}/${id}/role`, {
        session,
        form: { role },
        screen: `${USERS}/${id}`,
      });
      expect(answer.status).toBe(422);
      expect(readHtml(answer.text).texts("#field-role-error")[0]).toMatch(/^Role must be /);
    }
    expect(stateOf(app)).toEqual(before);
    const answer = await sendEdit(app, `${USERS}/${id}/role`, {
      session,
      form: { role: "viewer" },
      screen: `${USERS}/${id}`,
    });
    expect(answer.status).toBe(303);
    expect(getUser(app.ctx.db, id).role).toBe("viewer");
  });
});

describe("disabling a user", () => {
  test("the confirmation to disable a user lists their live keys, which keep working", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const { id } = await userWithPassword(app, GRACE, "admin");
    const grace = await signIn(app, GRACE);
    const live = await makeKey(app, grace, { name: "Live one" });
    const revoked = await makeKey(app, grace, { name: "Revoked one" });
    await makeKey(app, grace, { name: "Expired one", expires: "7" });
    await app.call(`/admin/settings/keys/${revoked.id}/revoke`, { session: grace, form: {} });
    await makeKey(app, session, { name: "Somebody else's" });
    await app.clock.advance(60_000);
    app.clock.setWallClock(app.clock.now() + 9 * 24 * 60 * 60 * 1_000);
    const owner = await signIn(app, ADA);
    const page = readHtml((await app.call(`${USERS}/${id}/disable`, { session: owner })).text);
    expect(page.texts(".dialog-body li")).toEqual(["Live one"]);
    expect(page.attributes(".dialog-body li a", "href")).toEqual([
      `/admin/settings/keys/${live.id}`,
    ]);
    const answer = await app.call(`${USERS}/${id}/disable`, { session: owner, form: {} });
    expect(answer.status).toBe(303);
    expect(await statusWith(app, live.value)).toBe(200);
    expect(keysOf(app)).toHaveLength(4);
  });

  test("enabling a user says if they can sign in or need a link for a password", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const joined = await userWithPassword(app, GRACE, "admin");
    const invited = await invite(app, session, "new@example.com");
    for (const { id, message } of [
      { id: joined.id, message: "The user was enabled and can sign in again." },
      { id: invited.id, message: "needs an invitation link" },
    ]) {
      await app.call(`${USERS}/${id}/disable`, { session, form: {} });
      await app.call(`${USERS}/${id}`, { session });
      await app.call(`${USERS}/${id}/enable`, { session, form: {} });
      const page = readHtml((await app.call(`${USERS}/${id}`, { session })).text);
      expect(page.texts(".flash")[0]).toContain(message);
    }
  });

  test("disabling or enabling a user twice is audited once", async () => {
    await using installation = await withOwner();
    const { app, session } = installation;
    const { id } = await userWithPassword(app, GRACE, "admin");
    for (const action of ["disable", "disable", "enable", "enable"]) {
      const answer = await app.call(`${USERS}/${id}/${action}`, { session, form: {} });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, `${USERS}/${id}`]);
    }
    const done = actionsOf(app).filter((action) => action.endsWith("able"));
    expect(done).toEqual(["user.disable", "user.enable"]);
  });
});
