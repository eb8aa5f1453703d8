import { expect, test } from "bun:test";
import type { Role } from "../../src/base/actor";
import { MINUTE_MS } from "../../src/base/time";
import { FLEET_PATH, WEBHOOKS_PATH } from "../../src/ui/frame/paths";
import { navigationFor, placesFor } from "../../src/ui/frame/places";
import { createTestApp, type TestApp } from "../support/app";
import { createDeliverySite } from "../support/delivery-site";
import { readHtml } from "../support/html";
import { startReceiver } from "../support/receiver";
import { alarmOf, createTestFleet } from "../support/test-fleet";

/** Settings with which an installation can send mail. */
const MAIL = {
  ALLCLEAR_SMTP_HOST: "relay.example.com",
  ALLCLEAR_MAIL_FROM: "status@example.com",
};

async function sidebarOf(app: TestApp, session: string) {
  const page = readHtml((await app.call("/admin/pages", { session })).text);
  return {
    page: page.texts(".side-page b"),
    headline: page.texts(".side-page small"),
    href: page.attributes(".side-page", "href"),
    counts: page.texts(".side .menu .n"),
    documentation: page.attributes(".side-foot a", "href")[0],
  };
}

test("the sidebar of an installation without a page has no page", async () => {
  await using app = await createTestApp();
  const { page, counts, documentation } = await sidebarOf(app, await app.signedIn("viewer"));
  expect(page).toEqual([]);
  expect(counts).toEqual([]);
  expect(documentation).toBe("/docs");
});

test("the sidebar shows the page with the worst headline and the number of open incidents", async () => {
  await using app = await createTestApp();
  const shop = await app.page({ slug: "shop", name: "Shop" });
  await app.page({ slug: "inside", name: "Inside" });
  const session = await app.signedIn("viewer");
  expect((await sidebarOf(app, session)).headline).toEqual([
    "All systems operational",
    "and 1 other page",
  ]);
  const key = await app.keyWith("write:incidents", "read:status");
  const json = {
    page: "shop",
    name: "Errors",
    body: "Hm.",
    components: { [shop.components["API"] ?? ""]: "major_outage" },
  };
  const created = await app.call("/api/v1/incidents", { method: "POST", key, json });
  expect(created.status).toBe(201);
  expect(await sidebarOf(app, session)).toEqual({
    page: ["Shop"],
    headline: ["Major system outage", "and 1 other page"],
    href: ["/status/shop"],
    counts: ["1 open"],
    documentation: "/docs",
  });
  await app.call(`/api/v1/incidents/${created.body.id}/updates`, {
    method: "POST",
    key,
    json: { status: "resolved", body: "Over." },
  });
  const { counts, headline } = await sidebarOf(app, session);
  expect(counts).toEqual([]);
  expect(headline[0]).toBe("All systems operational");
});

test("the sidebar of a page without components does not say that all is well", async () => {
  await using app = await createTestApp();
  await app.page({ slug: "shop" }, []);
  const session = await app.signedIn("viewer");
  expect((await sidebarOf(app, session)).headline).toEqual(["No components yet"]);
});

test("the sidebar marks failing webhooks, and disabled ones as worse", async () => {
  let status = 500;
  await using receiver = startReceiver(() => status);
  await using site = await createDeliverySite();
  const { app } = site;
  await site.endpoint(receiver.url);
  const session = await app.signedIn("admin");
  const markOf = async () => {
    const page = readHtml((await app.call("/admin/pages", { session })).text);
    return [page.texts(".menu .n")[0], page.attributes(".menu .n", "class")[0]];
  };
  expect(await markOf()).toEqual([undefined, undefined]);
  await site.recordEvents("cmp_1");
  await site.pass(11 * MINUTE_MS);
  expect(await markOf()).toEqual(["1 webhook failing", "n t-partial"]);
  status = 410;
  await site.pass(40 * MINUTE_MS);
  expect(await markOf()).toEqual(["1 webhook disabled", "n t-major"]);
});

test("the sidebar adds up the problems below an entry, and says what they are", async () => {
  await using app = await createTestApp();
  const fleet = createTestFleet();
  fleet.raised = [alarmOf("lease_renewal", "The store does not answer.", app.clock.now())];
  const attention = {
    [WEBHOOKS_PATH]: { count: 3, what: "webhooks failing", tone: "partial" },
    [FLEET_PATH]: { count: 1, what: "alarm", tone: "major" },
  } as const;
  const problemsFor = (role: Role) =>
    navigationFor(placesFor(app.ctx, fleet, role), "/admin", attention).flatMap(
      (entry) => entry.attention ?? [],
    );
  expect(problemsFor("admin")).toEqual([
    { count: 4, what: "problems: 3 webhooks failing, 1 alarm", tone: "major" },
  ]);
  expect(problemsFor("editor")).toEqual([]);
});

const ENTRIES = [
  "Overview",
  "Incidents",
  "Maintenance",
  "Components",
  "Monitors",
  "Analytics",
  "Subscribers",
  "Settings",
];

test.each([
  { role: "owner", left: [] },
  { role: "admin", left: [] },
  { role: "editor", left: ["Settings"] },
  { role: "viewer", left: ["Subscribers", "Settings"] },
] as const)("the sidebar has at most eight entries: $role", async ({ role, left }) => {
  await using app = await createTestApp({ env: MAIL });
  const session = await app.signedIn(role);
  const page = readHtml((await app.call("/admin", { session })).text);
  expect(page.texts(".menu a")).toEqual(
    ENTRIES.filter((name) => !left.some((one) => one === name)),
  );
});

test("Subscribers and Mailings are absent until mail is set up", async () => {
  const readNames = async (env: Record<string, string>) => {
    await using app = await createTestApp({ env });
    const session = await app.signedIn("owner");
    const names = async (path: string, selector: string) =>
      readHtml((await app.call(path, { session })).text)
        .texts(selector)
        .filter((name) => name === "Subscribers" || name === "Mailings");
    return {
      menu: await names("/admin", ".menu a"),
      shortcuts: await names("/admin/shortcuts", ".shortcuts dt"),
      search: await names("/admin/search", ".found-name"),
    };
  };
  expect(await readNames({})).toEqual({ menu: [], shortcuts: [], search: [] });
  const both: ("Subscribers" | "Mailings")[] = ["Subscribers", "Mailings"];
  expect(await readNames(MAIL)).toEqual({ menu: ["Subscribers"], shortcuts: both, search: both });
});

test.each([
  ["/admin", "Overview"],
  ["/admin/pages", "Components"],
  ["/admin/mailings", "Subscribers"],
  ["/admin/settings", "Settings"],
  ["/admin/settings/keys/new", "Settings"],
  ["/admin/mail", "Settings"],
  ["/admin/settings/account", "Account"],
])("the sidebar marks the entry of %s: %s", async (path, name) => {
  await using app = await createTestApp({ env: MAIL });
  const page = readHtml((await app.call(path, { session: await app.signedIn() })).text);
  expect(page.texts(".menu a[aria-current], .who[aria-current] small")).toEqual([name]);
  const isTab = page.texts(".tabbar a[aria-current]").length > 0;
  const isMore = page.texts(".tabbar button[aria-current]").length > 0;
  expect([isTab, isMore]).toEqual([
    ["Overview", "Components"].includes(name),
    ["Subscribers", "Settings"].includes(name),
  ]);
});

test("each place has a letter of its own, and the shortcuts list those that the role may open", async () => {
  await using app = await createTestApp({ env: MAIL });
  const fleet = createTestFleet();
  fleet.mirror = () => ({ target: "/srv/mirror", asOf: undefined, files: 0 });
  const letters = placesFor(app.ctx, fleet, "owner").flatMap(({ letter }) => letter ?? []);
  expect(letters).toHaveLength(18);
  expect(new Set(letters).size).toBe(letters.length);
  const page = readHtml((await app.call("/admin", { session: await app.signedIn("editor") })).text);
  const reached = page.attributes("[data-go]", "data-go");
  expect(reached.toSorted()).toEqual(
    placesFor(app.ctx, undefined, "editor")
      .flatMap(({ letter }) => letter ?? [])
      .toSorted(),
  );
});
