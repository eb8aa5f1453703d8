import type { Page } from "playwright-core";
import { MINUTE_MS } from "../../src/kernel/time";
import type { BrowserSite } from "./browser-site";
import type { Furnished } from "./furnished";
import type { Houses } from "./houses";

/** A screen of the dashboard, in one of its states. */
export interface Screen {
  name: string;
  /** Of the document; 200 unless given. */
  status?: number;
  open(houses: Houses): { site: BrowserSite; path: string; session?: string };
  /** Whether it lies over another, so that what is to be seen of it is in the window. */
  isOverlay?: boolean;
  /** Whether it is there in a small window only. */
  isSmallOnly?: boolean;
  /** What is to be done until the screen is there. */
  reach?(page: Page, houses: Houses): Promise<void>;
}

/** Every screen of the dashboard. Those of the empty installation come in the order of what they make. */
export const SCREENS: readonly Screen[] = [
  {
    name: "set-up",
    open: ({ bare }) => ({ site: bare, path: `/admin/setup/${bare.setUpToken}` }),
    async reach(page) {
      // Proposed is the address that was asked, with a port that is another one each time.
      await page.getByLabel("Public address").fill("https://status.northwind.example");
    },
  },
  {
    name: "set-up-errors",
    status: 422,
    open: ({ bare }) => ({ site: bare, path: `/admin/setup/${bare.setUpToken}` }),
    async reach(page) {
      await page.getByLabel("Email").fill("maya");
      await page.getByLabel("Password").fill("short");
      await page.getByLabel("Public address").fill("status.northwind.example");
      await send(page, "Set up");
    },
  },
  {
    name: "sign-in-before-set-up",
    open: ({ bare }) => ({ site: bare, path: "/admin/sign-in" }),
  },
  {
    name: "overview-empty",
    open: ({ empty }) => inEmpty(empty, "/admin"),
  },
  {
    name: "keys-empty",
    open: ({ empty }) => inEmpty(empty, "/admin/settings/keys"),
  },
  {
    name: "reveal",
    open: ({ empty }) => inEmpty(empty, "/admin/settings/keys/new?preset=ci-incident-bot"),
    reach: (page) => send(page, "Create API Key"),
  },
  {
    name: "reveal-tested",
    open: ({ empty }) => inEmpty(empty, "/admin/settings/keys/new?preset=read-only-dashboard"),
    async reach(page) {
      await send(page, "Create API Key");
      await page.getByRole("button", { name: "Test key" }).click();
      await page.getByText(/^Works: /).waitFor();
    },
  },
  {
    name: "shown-before",
    open: ({ empty }) => inEmpty(empty, "/admin/settings/keys/new?preset=monitoring-as-code"),
    async reach(page, { empty }) {
      await send(page, "Create API Key");
      await empty.app.clock.advance(MINUTE_MS);
      // Sends the form again, as a browser does whose user says so.
      await page.reload();
    },
  },
  {
    name: "invite-link",
    open: ({ empty }) => inEmpty(empty, "/admin/settings/users/new"),
    async reach(page) {
      await page.getByLabel("Email").fill("priya@northwind.example");
      await page.getByLabel("Name").fill("Priya Nair");
      await send(page, "Create invitation link");
    },
  },
  { name: "overview", open: inFurnished(() => "/admin") },
  { name: "keys", open: inFurnished(() => "/admin/settings/keys") },
  { name: "keys-filtered", open: inFurnished(() => "/admin/settings/keys?show=never_expires") },
  { name: "keys-nothing-found", open: inFurnished(() => "/admin/settings/keys?q=mainframe") },
  { name: "create", open: inFurnished(() => "/admin/settings/keys/new") },
  {
    name: "create-preset",
    open: inFurnished(() => "/admin/settings/keys/new?preset=ci-incident-bot"),
  },
  {
    name: "create-errors",
    status: 422,
    open: inFurnished(() => "/admin/settings/keys/new"),
    async reach(page) {
      await page.getByLabel("Rate limit").fill("plenty");
      await page.getByLabel("A date").check();
      await send(page, "Create API Key");
    },
  },
  { name: "key", open: inFurnished(({ keys }) => keyPath(keys, "Deploy pipeline")) },
  { name: "key-rotated", open: inFurnished(({ keys }) => keyPath(keys, "On-call bot")) },
  { name: "key-revoked", open: inFurnished(({ keys }) => keyPath(keys, "Old Jenkins")) },
  {
    name: "key-errors",
    status: 422,
    open: inFurnished(({ keys }) => keyPath(keys, "Grafana")),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("");
      await page.getByLabel("Rate limit").fill("0");
      await send(page, "Save changes");
    },
  },
  {
    name: "key-changed",
    open: inFurnished(({ keys }) => keyPath(keys, "Webhook relay")),
    reach: (page) => send(page, "Save changes"),
  },
  { name: "rotate", open: inFurnished(({ keys }) => `${keyPath(keys, "Grafana")}/rotate`) },
  {
    name: "rotate-dialog",
    isOverlay: true,
    open: inFurnished(({ keys }) => keyPath(keys, "Grafana")),
    reach: (page) => openDialog(page, "Rotate"),
  },
  { name: "revoke", open: inFurnished(({ keys }) => `${keyPath(keys, "Grafana")}/revoke`) },
  {
    name: "revoke-dialog",
    isOverlay: true,
    open: inFurnished(({ keys }) => keyPath(keys, "Grafana")),
    reach: (page) => openDialog(page, "Revoke"),
  },
  { name: "users", open: inFurnished(() => "/admin/settings/users") },
  { name: "invite", open: inFurnished(() => "/admin/settings/users/new") },
  {
    name: "invite-errors",
    status: 422,
    open: inFurnished(() => "/admin/settings/users/new"),
    async reach(page) {
      await page.getByLabel("Email").fill("jonas@northwind.example");
      await page.getByLabel("Name").fill("Jonas");
      await send(page, "Create invitation link");
    },
  },
  { name: "user", open: inFurnished(({ users }) => `/admin/settings/users/${users.jonas}`) },
  {
    name: "user-disabled",
    open: inFurnished(({ users }) => `/admin/settings/users/${users.elif}`),
  },
  {
    name: "user-last-owner",
    status: 422,
    open: inFurnished(({ users }) => `/admin/settings/users/${users.maya}`),
    async reach(page) {
      await page.getByLabel("Viewer").check();
      await send(page, "Save role");
    },
  },
  {
    name: "disable",
    open: inFurnished(({ users }) => `/admin/settings/users/${users.jonas}/disable`),
  },
  { name: "general", open: inFurnished(() => "/admin/settings/general") },
  {
    name: "general-errors",
    status: 422,
    open: inFurnished(() => "/admin/settings/general"),
    async reach(page) {
      await page.getByLabel("Public address").fill("https://status.northwind.example/status");
      await send(page, "Save address");
    },
  },
  { name: "account", open: inFurnished(() => "/admin/settings/account") },
  {
    name: "account-errors",
    status: 422,
    open: inFurnished(() => "/admin/settings/account"),
    async reach(page) {
      await page.getByLabel("New password").fill("short");
      await send(page, "Change password");
    },
  },
  {
    name: "menu",
    isOverlay: true,
    isSmallOnly: true,
    open: inFurnished(() => "/admin/settings/keys"),
    reach: (page) => page.getByRole("button", { name: "Menu" }).click(),
  },
  { name: "overview-as-editor", open: inFurnished(() => "/admin", "editor") },
  { name: "forbidden", status: 403, open: inFurnished(() => "/admin/settings/keys", "editor") },
  { name: "not-found", status: 404, open: inFurnished(() => "/admin/nothing") },
  {
    name: "sign-in",
    open: ({ furnished }) => ({ site: furnished, path: "/admin/sign-in" }),
  },
  {
    name: "sign-in-error",
    status: 422,
    open: ({ furnished }) => ({ site: furnished, path: "/admin/sign-in" }),
    async reach(page) {
      await page.getByLabel("Email").fill("nobody@northwind.example");
      await page.getByLabel("Password").fill("not the password");
      await send(page, "Sign in");
    },
  },
  {
    name: "join",
    open: ({ furnished }) => ({
      site: furnished,
      path: `/admin/join/${furnished.links.invitation}`,
    }),
  },
  {
    name: "new-password",
    open: ({ furnished }) => ({
      site: furnished,
      path: `/admin/join/${furnished.links.newPassword}`,
    }),
  },
  {
    name: "dead-link",
    status: 404,
    open: ({ furnished }) => ({ site: furnished, path: "/admin/join/used-before" }),
  },
];

function inEmpty(site: Houses["empty"], path: string) {
  return { site, path, session: site.session };
}

function inFurnished(
  path: (furnished: Furnished) => string,
  role: keyof Furnished["sessions"] = "owner",
): Screen["open"] {
  return ({ furnished }) => ({
    site: furnished,
    path: path(furnished),
    session: furnished.sessions[role],
  });
}

function keyPath(keys: Furnished["keys"], name: string): string {
  return `/admin/settings/keys/${keys[name]}`;
}

/** Presses a form's button and waits for the page that comes. */
async function send(page: Page, button: string): Promise<void> {
  const before = await page.evaluate(() => performance.timeOrigin);
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.waitForFunction((origin) => performance.timeOrigin !== origin, before);
  await page.waitForLoadState();
}

async function openDialog(page: Page, link: string): Promise<void> {
  await page.getByRole("link", { name: link, exact: true }).click();
  await page.getByRole("dialog").waitFor();
}
