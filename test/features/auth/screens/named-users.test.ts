import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { inviteUser, linkPath } from "../../../../src/features/users/invitations";
import { listIdentitiesOf } from "../../../../src/features/users/store";
import { findUserByEmail } from "../../../../src/features/users/users";
import { createTestApp, type TestApp } from "../../../support/app";
import { BrowserClient } from "../../../support/browser-client";
import { ACCOUNT, invite, makeLink, PASSWORD, signIn } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { createProxiedApp, named, PROXY, PROXY_ENV } from "../../../support/identity-proxy";
import { enrol, signInByCode } from "../../../support/second-factors";

const OWNER = "owner@example.com";
const GRACE = "grace@example.com";
const CONNECT = `${ACCOUNT}/connect/named`;

/** Requests a path through the proxy, which names a user. */
function through(client: BrowserClient, path: string, name: string, more: object = {}) {
  const headers = name === "" ? {} : named(name, { email: "" });
  return client.open(path, { from: PROXY, headers, ...more });
}

const identitiesOf = (app: TestApp, email: string) =>
  listIdentitiesOf(app.ctx.db, { userId: findUserByEmail(app.ctx.db, email)?.id ?? "" });

describe("an invitation of a user whom the proxy names", () => {
  test("is accepted by a button, once, and the proxy signs the user in from then on", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_CREATE_USERS: "off" });
    const { path } = await invite(app, await signIn(app, OWNER), GRACE, "editor");
    const client = new BrowserClient(app);
    const screen = readHtml((await through(client, path, "grace")).text);
    expect(screen.texts("button")).toContain("Join as grace");
    expect(client.session).toBeUndefined();
    const joined = await through(client, `${path}/named`, "grace", { form: {} });
    expect([joined.status, joined.headers.get("location")]).toEqual([303, "/admin"]);
    expect((await through(client, "/admin", "grace")).text).toContain(GRACE);
    expect(identitiesOf(app, GRACE)).toMatchObject([{ issuer: "proxy" }]);
    const again = new BrowserClient(app);
    expect((await through(again, "/admin", "grace")).status).toBe(200);
    const repeated = await through(again, `${path}/named`, "eve", { form: {} });
    expect(repeated.status).toBe(404);
  });

  test("warns a person whose e-mail at the proxy is missing or not the invited one", async () => {
    await using app = await createProxiedApp();
    const { path } = await invite(app, await signIn(app, OWNER), GRACE);
    const shownTo = async (email: string) => {
      const headers = named("olga", { email });
      const { text } = await new BrowserClient(app).open(path, { from: PROXY, headers });
      expect(readHtml(text).texts("button")).toContain("Join as olga");
      return readHtml(text).texts("p").join(" ");
    };
    const warning = `If you join, it signs you in here as ${GRACE} from now on.`;
    for (const email of ["", "olga@example.com"]) {
      const shown = await shownTo(email);
      expect(shown).toContain("The proxy in front of this server names you as olga.");
      expect(shown).toContain(warning);
    }
    expect(await shownTo("Grace@Example.com")).not.toContain(warning);
  });

  test("does not connect a user who has an identity already, whose role would be that of another person", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "ops=owner; *=viewer" });
    const owner = await signIn(app, OWNER);
    const mallory = { from: PROXY, headers: named("mallory") };
    await new BrowserClient(app).open("/admin", mallory);
    const id = findUserByEmail(app.ctx.db, "mallory@northwind.example")?.id ?? "";
    const path = await makeLink(app, owner, id);
    const olga = { from: PROXY, headers: named("olga", { groups: "ops" }) };
    const answer = await new BrowserClient(app).open(`${path}/named`, { ...olga, form: {} });
    expect(answer.status).toBe(403);
    expect(readHtml(answer.text).texts("p").join()).toContain(
      "the user is connected with another identity",
    );
    expect(findUserByEmail(app.ctx.db, "mallory@northwind.example")?.role).toBe("viewer");
    expect(identitiesOf(app, "mallory@northwind.example")).toMatchObject([
      { label: "mallory@northwind.example" },
    ]);
  });

  test("ends the session of the browser, also one that can only set up a second factor", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_SECOND_FACTOR: "owner" });
    const owner = await signIn(app, OWNER);
    const { token } = await app.ctx.db.write((tx) =>
      inviteUser(app.ctx, tx, { email: GRACE, name: "Grace", role: "editor" }, CLI_ACTOR),
    );
    const client = new BrowserClient(app, owner);
    const path = `${linkPath("invite", token)}/named`;
    expect((await through(client, path, "grace", { form: {} })).status).toBe(303);
    expect(client.session).not.toBe(owner);
    expect((await app.call("/admin", { session: owner })).status).toBe(401);
  });

  test("is not accepted without a proxy, or from another site", async () => {
    await using app = await createProxiedApp();
    const { path } = await invite(app, await signIn(app, OWNER), GRACE);
    const client = new BrowserClient(app);
    const screen = readHtml((await through(client, path, "")).text);
    expect(screen.texts("button")).toEqual(["Join"]);
    const posted = await through(client, `${path}/named`, "", { form: {} });
    expect(posted.headers.get("location")).toBe(path);
    const headers = { ...named("grace"), "sec-fetch-site": "cross-site" };
    const foreign = await client.open(`${path}/named`, { from: PROXY, headers, form: {} });
    expect(foreign.status).toBe(403);
    expect(identitiesOf(app, GRACE)).toEqual([]);
  });

  test("is not accepted by a name that another user has, or one without a role", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "ops=viewer" });
    const owner = await signIn(app, OWNER);
    const client = new BrowserClient(app);
    await client.open("/admin", { from: PROXY, headers: named("bob", { groups: "ops" }) });
    const { path } = await invite(app, owner, GRACE);
    for (const [groups, reason] of [
      ["ops", "the identity belongs to another user"],
      ["", "no group of the user has a role"],
    ] as const) {
      const headers = named(groups === "" ? "new" : "bob", { groups });
      const answer = await client.open(`${path}/named`, { from: PROXY, headers, form: {} });
      expect(answer.status).toBe(403);
      expect(readHtml(answer.text).texts("p").join()).toContain(reason);
    }
    expect(identitiesOf(app, GRACE)).toEqual([]);
  });
});

describe("connecting with the name that the proxy gives, in Account", () => {
  /** Signs the owner in with a password. */
  async function ownerIn(app: TestApp): Promise<BrowserClient> {
    return new BrowserClient(app, await signIn(app, OWNER));
  }

  test("needs the password, and the proxy signs the user in from then on", async () => {
    await using app = await createProxiedApp();
    const client = await ownerIn(app);
    const screen = readHtml((await through(client, ACCOUNT, "root")).text);
    expect(screen.texts("button")).toContain("Connect as root");
    const wrong = await through(client, CONNECT, "root", { form: { own_password: "wrong" } });
    expect(wrong.status).toBe(422);
    expect(fieldErrorsOn(wrong.text)).toEqual({ own_password: "Current password is wrong." });
    expect(identitiesOf(app, OWNER)).toEqual([]);
    const right = await through(client, CONNECT, "root", { form: { own_password: PASSWORD } });
    expect([right.status, right.headers.get("location")]).toEqual([303, ACCOUNT]);
    expect(app.audit().at(-1)).toMatchObject({ action: "user.connect" });
    expect((await through(new BrowserClient(app), "/admin", "root")).text).toContain(OWNER);
    const connected = readHtml((await through(client, ACCOUNT, "root")).text);
    expect(connected.texts("button")).not.toContain("Connect as root");
    expect(connected.texts("p").join()).toContain("Connected as root at the identity proxy,");
    const { id } = findUserByEmail(app.ctx.db, OWNER) ?? {};
    const settings = await through(client, `/admin/settings/users/${id}`, "root");
    expect(readHtml(settings.text).texts("p").join()).toContain("root at the identity proxy,");
  });

  test("says why a user is not connected, and what can be done", async () => {
    await using app = await createProxiedApp();
    const client = await ownerIn(app);
    const form = { own_password: PASSWORD };
    await through(client, CONNECT, "root", { form });
    // From a screen that was opened before.
    const refused = await through(client, CONNECT, "second", { form });
    expect(refused.status).toBe(409);
    expect(readHtml(refused.text).texts('[role="alert"]').join()).toContain(
      "You are not connected: the user is connected with another identity. Disconnect that one first, in Account or in Settings → Users.",
    );
    expect(identitiesOf(app, OWNER)).toMatchObject([{ label: "root" }]);
  });

  test("needs a code too from a user with a second factor, who types none at the proxy", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_SECOND_FACTOR: "owner" });
    const authenticator = await enrol(app, findUserByEmail(app.ctx.db, OWNER)?.id ?? "");
    const client = new BrowserClient(app, await signInByCode(app, OWNER, authenticator));
    const screen = readHtml((await through(client, ACCOUNT, "root")).text);
    expect(screen.attributes('input[name="own_code"]', "name")).toEqual(["own_code"]);
    const connect = (password: string, code: string) =>
      through(client, CONNECT, "root", { form: { own_password: password, own_code: code } });
    const code = await authenticator.nextCode();
    for (const [password, typed, errors] of [
      [PASSWORD, "", { own_code: expect.stringContaining("Type the six digits") }],
      [PASSWORD, authenticator.wrongCode(), { own_code: expect.stringContaining("is wrong") }],
      ["wrong", code, { own_password: "Current password is wrong." }],
    ] as const) {
      const refused = await connect(password, typed);
      expect([refused.status, fieldErrorsOn(refused.text)]).toEqual([422, errors]);
    }
    expect(identitiesOf(app, OWNER)).toEqual([]);
    expect((await connect(PASSWORD, code)).headers.get("location")).toBe(ACCOUNT);
    const opened = await through(new BrowserClient(app), "/admin", "root");
    expect([opened.status, opened.text]).toEqual([200, expect.stringContaining(OWNER)]);
  });

  test("asks for no code without a second factor", async () => {
    await using app = await createProxiedApp();
    const client = await ownerIn(app);
    const screen = readHtml((await through(client, ACCOUNT, "root")).text);
    expect(screen.attributes('input[name="own_code"]', "name")).toEqual([]);
  });

  test("is not offered without a proxy", async () => {
    await using app = await createProxiedApp();
    const client = await ownerIn(app);
    const screen = readHtml((await through(client, ACCOUNT, "")).text);
    expect(screen.texts("button").filter((text) => text.startsWith("Connect"))).toEqual([]);
    const posted = await through(client, CONNECT, "", { form: { own_password: PASSWORD } });
    expect(posted.headers.get("location")).toBe(ACCOUNT);
    expect(identitiesOf(app, OWNER)).toEqual([]);
  });

  test("is undone by disconnecting, which ends the sessions of the proxy", async () => {
    await using app = await createProxiedApp();
    const client = await ownerIn(app);
    await through(client, CONNECT, "root", { form: { own_password: PASSWORD } });
    const [identity] = identitiesOf(app, OWNER);
    const behind = new BrowserClient(app);
    await through(behind, "/admin", "root");
    const path = `${ACCOUNT}/disconnect/${identity?.id}`;
    expect((await client.open(path, { form: {} })).status).toBe(303);
    expect(app.audit().at(-1)).toMatchObject({
      summary: "Disconnected “owner” from the identity proxy (root)",
    });
    expect(identitiesOf(app, OWNER)).toEqual([]);
    expect((await through(behind, "/admin", "root")).headers.get("location")).toContain("sign-in");
    expect((await client.open("/admin")).status).toBe(200);
  });
});

describe("Settings → Sign-in", () => {
  const SETTINGS = "/admin/settings/sign-in";

  test("shows the proxy, and whom it names in this request", async () => {
    await using app = await createProxiedApp();
    const client = new BrowserClient(app, await signIn(app, OWNER));
    const headers = named("root", { email: "", groups: "sre,ops" });
    const screen = await client.open(SETTINGS, { from: PROXY, headers });
    const facts = readHtml(screen.text).texts("dd");
    expect(facts).toContain("10.0.0.0/28");
    expect(facts).toContain("Names root. Groups: sre, ops.");
    expect(screen.text).not.toContain(PROXY_ENV.ALLCLEAR_IDENTITY_PROXY_SECRET);
    const past = readHtml((await client.open(SETTINGS, { from: "192.0.2.9" })).text).texts("dd");
    expect(past).toContain("Names no user. It came from 192.0.2.9.");
  });

  test.each([
    ["off", "No groups are read, so only * matches. The highest match"],
    ["X-Groups", "The groups are those of the header X-Groups. The highest match"],
  ])("says which groups give roles: %s", async (header, words) => {
    const env = { ALLCLEAR_ROLES: "*=viewer", ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: header };
    await using app = await createProxiedApp(env);
    const client = new BrowserClient(app, await signIn(app, OWNER));
    expect(
      readHtml((await client.open(SETTINGS)).text)
        .texts("p")
        .join(),
    ).toContain(words);
    const settings = readHtml((await client.open("/admin/settings")).text);
    expect(settings.texts("main").join()).toContain("Identity proxy, password");
  });

  test("says how a proxy is set up where there is none", async () => {
    await using app = await createTestApp();
    const screen = await app.call(SETTINGS, { session: await app.signedIn() });
    expect(screen.text).toContain("ALLCLEAR_IDENTITY_PROXY_SECRET_FILE");
  });
});
