import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import { readHtml } from "../../../support/html";
import { KEYS, makeKey } from "../../../support/dashboard";

let app: TestApp;
let ids: { api: string; incident: string; draft: string; monitor: string };

beforeAll(async () => {
  app = await createTestApp({ env: { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" } });
  const shop = await app.page({ slug: "shop", name: "Shop" }, ["Checkout API", "Search"]);
  await app.page({ slug: "inside", name: "Inside", visibility: "private" }, ["Payroll"]);
  const api = shop.components["Checkout API"] ?? "";
  const key = await app.keyWith(
    "write:incidents",
    "write:maintenance",
    "manage:monitors",
    "manage:webhooks",
  );
  async function create(path: string, json: object): Promise<string> {
    const { status, body } = await app.call(`/api/v1/${path}`, { method: "POST", key, json });
    expect(status).toBe(201);
    return body.id;
  }
  const incident = await create("incidents", {
    page: "shop",
    name: "Checkout fails for some cards",
    body: "We look into it.",
    components: { [api]: "partial_outage" },
  });
  const draft = await create("incidents", {
    page: "shop",
    name: "Checkout rumours",
    body: "Perhaps nothing.",
    draft: true,
  });
  const monitor = await create("monitors", {
    name: "Checkout probe",
    type: "http",
    config: { url: "http://127.0.0.1:9/health?token=hidden-token" },
    component_ids: [api],
  });
  await create("maintenance", {
    page: "shop",
    name: "Move the checkout database",
    body: "A short interruption.",
    components: [api],
    scheduled_for: "2027-01-01T00:00:00Z",
    scheduled_until: "2027-01-01T01:00:00Z",
  });
  await create("webhooks", {
    url: "http://127.0.0.1:9/hooks/secret-path",
    description: "Checkout team",
  });
  ids = { api, incident, draft, monitor };
});

afterAll(() => app[Symbol.asyncDispose]());

/** Searches as a role, and returns the names found under each title. */
async function find(search: string, role: "viewer" | "editor" | "admin" | "owner" = "owner") {
  const session = await app.signedIn(role);
  const { status, text } = await app.call(`/admin/search?q=${encodeURIComponent(search)}`, {
    session,
  });
  expect(status).toBe(200);
  const page = readHtml(text);
  return {
    titles: page.texts("[data-found] h2"),
    names: page.texts(".found-name"),
    notes: page.texts(".found-note"),
    hrefs: page.attributes("[data-found] a", "href"),
    none: page.texts(".found-none").join(""),
  };
}

describe("the search of the dashboard", () => {
  test("the search finds objects of every kind by a word of their name, and links to them", async () => {
    const { titles, names, hrefs } = await find("checkout");
    expect(titles).toEqual(["Components", "Monitors", "Incidents", "Maintenance", "Webhooks"]);
    expect(names).toEqual([
      "Checkout API",
      "Checkout probe",
      "Checkout rumours",
      "Checkout fails for some cards",
      "Move the checkout database",
      "Checkout team",
    ]);
    expect(hrefs.slice(0, 4)).toEqual([
      `/admin/components/${ids.api}`,
      `/admin/monitors/${ids.monitor}`,
      `/admin/incidents/${ids.draft}`,
      `/admin/incidents/${ids.incident}`,
    ]);
    const session = await app.signedIn("owner");
    for (const href of hrefs) expect((await app.call(href ?? "", { session })).status).toBe(200);
  });

  test("the search finds objects that contain every word in any order and case, and nothing else", async () => {
    expect((await find("CARDS checkout")).names).toEqual(["Checkout fails for some cards"]);
    expect((await find("cards payroll")).names).toEqual([]);
    expect((await find("payroll")).names).toEqual(["Payroll"]);
    expect((await find("probe api checkout /health")).names).toEqual(["Checkout probe"]);
  });

  test("the search finds an object by its id", async () => {
    expect((await find(ids.incident)).names).toEqual(["Checkout fails for some cards"]);
    expect((await find(ids.api)).names).toContain("Checkout API");
    expect((await find(ids.monitor)).names).toEqual(["Checkout probe"]);
  });

  test("the search finds pages, screens and actions", async () => {
    expect((await find("inside")).notes).toContain("/status/inside · Private");
    expect((await find("webh")).names).toEqual(["Create webhook", "Webhooks"]);
    expect((await find("")).names).toContain("Report incident");
  });

  test("the search finds keys by name for admins, and never shows a value", async () => {
    const { value } = await makeKey(app, await app.signedIn("admin"), { name: "Nightly export" });
    const { names, hrefs } = await find("nightly", "admin");
    expect(names).toEqual(["Nightly export"]);
    expect((await find("export nightly", "admin")).names).toEqual(["Nightly export"]);
    expect((await find("export weekly", "admin")).names).toEqual([]);
    expect(hrefs[0]).toStartWith(`${KEYS}/key_`);
    const session = await app.signedIn("admin");
    expect((await app.call("/admin/search?q=nightly", { session })).text).not.toContain(value);
  });

  test("is not repeated by a tab that is left open", async () => {
    const session = await app.signedIn("viewer");
    const isLive = async (path: string) =>
      (await app.call(path, { session })).text.includes("data-live-path");
    expect(await isLive("/admin/search?q=checkout")).toBe(false);
    expect(await isLive("/admin/monitors?q=checkout")).toBe(true);
  });

  test("rejects the value of a key, and does not repeat it", async () => {
    const session = await app.signedIn("admin");
    const { value } = await makeKey(app, session, { name: "Pasted export" });
    const { status, text } = await app.call(`/admin/search?q=${value}`, { session });
    expect(status).toBe(400);
    expect(text).not.toContain(value);
  });

  test.each([
    {
      role: "viewer",
      misses: ["Report incident", "Create monitor", "API Keys", "Webhooks", "Users"],
    },
    { role: "editor", misses: ["Create monitor", "API Keys", "Webhooks", "Users"] },
    { role: "admin", misses: ["Users", "Invite user", "General"] },
  ] as const)(
    "the search offers a role only screens that it may open: $role",
    async ({ role, misses }) => {
      const { names } = await find("", role);
      for (const name of misses) expect(names).not.toContain(name);
      expect(names).toContain("Incidents");
    },
  );

  test("the search finds no keys, webhooks or users for a viewer", async () => {
    const { titles } = await find("checkout", "viewer");
    expect(titles).toEqual(["Components", "Monitors", "Incidents", "Maintenance"]);
    expect((await find("test", "viewer")).titles).not.toContain("Users");
  });

  test("the search does not find a monitor or a webhook by a secret in its address", async () => {
    expect((await find("hidden-token")).names).toEqual([]);
    expect((await find("secret-path")).names).toEqual([]);
  });

  test("the search says that nothing was found, with the search as text", async () => {
    const { none, names } = await find("<b>mainframe</b>");
    expect(names).toEqual([]);
    expect(none).toBe("Nothing was found for “<b>mainframe</b>”.");
  });

  test("a deleted object is not found any more", async () => {
    const key = await app.keyWith("write:incidents");
    const json = { page: "inside", name: "Ephemeral", body: "Short." };
    const { body } = await app.call("/api/v1/incidents", { method: "POST", key, json });
    expect((await find("ephemeral")).names).toEqual(["Ephemeral"]);
    const session = await app.signedIn("owner");
    const path = `/admin/incidents/${body.id}/delete`;
    const deleted = await app.call(path, { method: "POST", session, form: {} });
    expect(deleted.status).toBe(303);
    expect((await find("ephemeral")).names).toEqual([]);
  });

  test("the search needs a session", async () => {
    const { status, headers } = await app.call("/admin/search?q=checkout", {
      headers: { accept: "text/html" },
    });
    expect(status).toBe(303);
    expect(headers.get("location")).toContain("/admin/sign-in");
  });
});

test("the shortcuts list only screens that a role may open", async () => {
  const read = async (role: "viewer" | "owner") => {
    const { text } = await app.call("/admin/shortcuts", { session: await app.signedIn(role) });
    return readHtml(text).texts(".shortcuts dt");
  };
  expect(await read("owner")).toContain("Users");
  expect(await read("owner")).toContain("Report incident");
  expect(await read("viewer")).not.toContain("Users");
  expect(await read("viewer")).not.toContain("Report incident");
});
