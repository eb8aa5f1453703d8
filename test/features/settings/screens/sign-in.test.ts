import { expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import { BrowserClient } from "../../../support/browser-client";
import { readHtml } from "../../../support/html";
import { CLIENT_SECRET, createProviderSite, type FakeProvider } from "../../../support/oidc";

const SCREEN = "/admin/settings/sign-in";
const ROLES = "sre=admin; support=editor; *=viewer";

/** Creates an installation with a provider, and the browser of its owner. */
async function siteWith(env: Record<string, string> = {}) {
  const site = await createProviderSite({ env });
  return { ...site, owner: new BrowserClient(site.app, await site.app.signedIn("owner")) };
}

/** Tries the provider, and returns the path to which it leads. */
async function tryIt(owner: BrowserClient, provider: FakeProvider) {
  return (await owner.signIn(provider, `${SCREEN}/try`)).headers.get("location");
}

/** Returns the texts of the rows of all tables. */
function rowsOf(html: string): string[] {
  return readHtml(html).texts("tbody tr, [role=row]");
}

test("the screen shows what is in force, the redirect URI, and no secret", async () => {
  await using site = await siteWith({ ALLCLEAR_ROLES: ROLES, ALLCLEAR_LOCAL_SIGN_IN: "owners" });
  const { text } = await site.owner.open(SCREEN);
  const page = readHtml(text);
  expect(page.texts("code")).toContain("https://status.test/admin/sign-in/callback");
  expect(page.texts("dd")).toEqual(
    expect.arrayContaining(["Northwind", site.provider.issuer, "allclear", "Set", "Owners only"]),
  );
  for (const part of ["sre", "Admin", "Everyone", "Viewer"]) expect(text).toContain(part);
  expect(text).not.toContain(CLIENT_SECRET);
  expect(text).toContain("The provider is reached without HTTPS");
});

test("the screen says what to set without a provider", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("owner");
  const { text } = await app.call(SCREEN, { session });
  expect(text).toContain("ALLCLEAR_OIDC_ISSUER");
  expect(text).toContain("https://status.test/admin/sign-in/callback");
  expect(readHtml(text).attributes("a", "href")).not.toContain(`${SCREEN}/try`);
  const tried = await app.call(`${SCREEN}/try`, { session });
  expect([tried.status, tried.headers.get("location")]).toEqual([303, SCREEN]);
});

test.each([
  ["none", "No role: each user decides"],
  ["owner", "Owners"],
  ["editor", "Role editor and above"],
  ["viewer", "All users"],
])("the screen says who needs a second factor: %s", async (role, words) => {
  await using site = await siteWith({ ALLCLEAR_SECOND_FACTOR: role });
  const { app } = site;
  // A session of an identity needs none.
  const owner = new BrowserClient(app);
  site.provider.person = { ...site.provider.person, groups: ["ops"] };
  app.ctx.config = { ...app.ctx.config, roles: [{ group: "ops", role: "owner" }] };
  await owner.signIn(site.provider);
  expect(readHtml((await owner.open(SCREEN)).text).texts("dd")).toContain(words);
});

test("only owners open the screen and try the provider", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("admin");
  for (const path of [SCREEN, `${SCREEN}/try`, `${SCREEN}/tried`]) {
    expect((await app.call(path, { session })).status).toBe(403);
  }
});

test("a trial shows claims, matched entry and role, starts no session and writes nothing", async () => {
  await using site = await siteWith({ ALLCLEAR_ROLES: ROLES });
  const { app, owner, provider } = site;
  provider.person = { ...provider.person, groups: ["support"], department: "Ops <b>" };
  const { session } = owner;
  const before = app.ctx.db.changes;
  expect(await tryIt(owner, provider)).toBe(`${SCREEN}/tried`);
  expect(owner.session).toBe(session);
  expect(owner.flow).toBeUndefined();
  const { text } = await owner.open(`${SCREEN}/tried`);
  expect(app.ctx.db.changes).toBe(before);
  expect(text).toContain("Creates the user “Ada Lovelace” (ada@northwind.example) as editor.");
  expect(readHtml(text).texts("dd")).toEqual(["support=editor", "Editor", "support"]);
  const rows = rowsOf(text).join("\n");
  for (const claim of ['"Ops <b>"', "00u-ada", "email_verified", "ID token"]) {
    expect(rows).toContain(claim);
  }
  expect(text).not.toContain("Ops <b>");
});

test("a trial at another host is led to the public address, once", async () => {
  await using site = await siteWith();
  const host = "10.0.0.7:8080";
  const away = await site.owner.open(`${SCREEN}/try`, { host });
  const moved = `https://status.test${SCREEN}/try?moved=yes`;
  expect([away.status, away.headers.get("location")]).toEqual([303, moved]);
  expect(site.owner.flow).toBeUndefined();
  const begun = await site.owner.open(`${SCREEN}/try?moved=yes`, { host });
  expect(begun.headers.get("location")).toStartWith(`${site.provider.issuer}/authorize?`);
});

test("a trial shows the first hundred claims, cut, and decides by all groups", async () => {
  await using site = await siteWith({ ALLCLEAR_ROLES: "sre=admin" });
  const { owner, provider } = site;
  const many = Array.from({ length: 500 }, (_, index) => [`claim-${index}`, index]);
  const groups = [...Array.from({ length: 200 }, (_, index) => `team-${index}`), "sre"];
  const long = { long: "x".repeat(5_000) };
  provider.person = { ...provider.person, ...long, ...Object.fromEntries(many), groups };
  await tryIt(owner, provider);
  const { text } = await owner.open(`${SCREEN}/tried`);
  expect(rowsOf(text).length).toBeLessThan(110);
  expect(text).not.toContain("x".repeat(1_100));
  expect(readHtml(text).texts("dd").slice(0, 2)).toEqual(["sre=admin", "Admin"]);
  expect(text).toContain("team-49, and 151 more");
});

test("a trial shows the reason of a refusal, and what can be done", async () => {
  await using site = await siteWith({ ALLCLEAR_ROLES: "sre=admin" });
  const { owner, provider } = site;
  await tryIt(owner, provider);
  const { text } = await owner.open(`${SCREEN}/tried`);
  expect(text).toContain("Refused: no group of the user has a role.");
  expect(text).toContain("Add one of the groups to ALLCLEAR_ROLES");
});

test("a trial shows why it was not completed", async () => {
  await using site = await siteWith();
  const { owner, provider } = site;
  provider.claims = (own) => ({ ...own, nonce: "another" });
  await tryIt(owner, provider);
  expect((await owner.open(`${SCREEN}/tried`)).text).toContain("nonce");
  await using down = await siteWith();
  down.provider.answer = () => new Response("down", { status: 503 });
  const answer = await down.owner.open(`${SCREEN}/try`);
  expect(answer.text).toContain("The sign-in was not completed");
});

test("a trial is shown to the session that began it alone", async () => {
  await using site = await siteWith();
  const { app, owner, provider } = site;
  const other = new BrowserClient(app, await app.signedIn("owner"));
  const back = await provider.authorize(await owner.begin(`${SCREEN}/try`));
  other.cookies.set("__Host-allclear_flow", owner.flow ?? "");
  expect((await other.open(back)).status).toBe(400);
  const shown = await other.open(`${SCREEN}/tried`);
  expect(shown.headers.get("location")).toBe(SCREEN);
});

test("the settings say how users sign in", async () => {
  await using site = await siteWith();
  expect((await site.owner.open("/admin/settings")).text).toContain("Northwind, password");
  await using app: TestApp = await createTestApp();
  const plain = await app.call("/admin/settings", { session: await app.signedIn() });
  expect(readHtml(plain.text).attributes("a", "href")).toContain(SCREEN);
});
