import { inDemoData, send, type Screen } from "./screen";

/** Users, and everything else in the settings. */
export const USER_SCREENS: readonly Screen[] = [
  { name: "users", open: inDemoData(() => "/admin/settings/users") },
  { name: "invite", open: inDemoData(() => "/admin/settings/users/new") },
  {
    name: "invite-errors",
    status: 422,
    open: inDemoData(() => "/admin/settings/users/new"),
    async reach(page) {
      await page.getByLabel("E-mail").fill("jonas@northwind.example");
      await page.getByLabel("Name").fill("Jonas");
      await send(page, "Create invitation link");
    },
  },
  { name: "user", open: inDemoData(({ users }) => `/admin/settings/users/${users.jonas}`) },
  {
    name: "user-disabled",
    open: inDemoData(({ users }) => `/admin/settings/users/${users.elif}`),
  },
  {
    name: "user-last-owner",
    status: 409,
    open: inDemoData(({ users }) => `/admin/settings/users/${users.maya}`),
    async reach(page) {
      await page.getByLabel("Viewer").check();
      await send(page, "Save role");
    },
  },
  {
    name: "disable",
    open: inDemoData(({ users }) => `/admin/settings/users/${users.jonas}/disable`),
  },
  { name: "account", open: inDemoData(() => "/admin/settings/account") },
  {
    name: "account-errors",
    status: 422,
    open: inDemoData(() => "/admin/settings/account"),
    async reach(page) {
      await page.getByLabel("New password").fill("short");
      await send(page, "Change password");
    },
  },
  {
    name: "menu",
    isOverlay: true,
    isSmallOnly: true,
    open: inDemoData(() => "/admin/settings/keys"),
    reach: (page) => page.getByRole("button", { name: "More" }).click(),
  },
  { name: "forbidden", status: 403, open: inDemoData(() => "/admin/settings/keys", "editor") },
  { name: "not-found", status: 404, open: inDemoData(() => "/admin/nothing") },
];
