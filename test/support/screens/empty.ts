import { MINUTE_MS } from "../../../src/base/time";
import { inEmpty, send, type Screen } from "./screen";

/** Screens of an empty installation, in the order of what they create. */
export const EMPTY_SCREENS: readonly Screen[] = [
  {
    name: "set-up",
    open: ({ bare }) => ({ site: bare, path: `/admin/setup/${bare.setUpToken}` }),
    async reach(page) {
      // The form proposes the requested address, whose port differs in each run.
      await page.getByLabel("Public address").fill("https://status.northwind.example");
    },
  },
  {
    name: "set-up-errors",
    status: 422,
    open: ({ bare }) => ({ site: bare, path: `/admin/setup/${bare.setUpToken}` }),
    async reach(page) {
      await page.getByLabel("E-mail").fill("maya");
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
      // Submits the form again, like a browser after confirmation.
      await page.reload();
    },
  },
  {
    name: "invite-link",
    open: ({ empty }) => inEmpty(empty, "/admin/settings/users/new"),
    async reach(page) {
      await page.getByLabel("E-mail").fill("priya@northwind.example");
      await page.getByLabel("Name").fill("Priya Nair");
      await send(page, "Create invitation link");
    },
  },
  { name: "incidents-without-a-page", open: ({ empty }) => inEmpty(empty, "/admin/incidents") },
  { name: "report-without-a-page", open: ({ empty }) => inEmpty(empty, "/admin/incidents/new") },
  { name: "maintenance-without-a-page", open: ({ empty }) => inEmpty(empty, "/admin/maintenance") },
  { name: "components-without-a-page", open: ({ empty }) => inEmpty(empty, "/admin/components") },
  { name: "pages-empty", open: ({ empty }) => inEmpty(empty, "/admin/pages") },
  {
    name: "page-created",
    open: ({ empty }) => inEmpty(empty, "/admin/pages/new"),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Northwind");
      await send(page, "Create page");
    },
  },
  { name: "overview-quiet", open: ({ empty }) => inEmpty(empty, "/admin") },
  {
    name: "overview-clear",
    open: ({ empty }) => inEmpty(empty, "/admin"),
    reach: (page) => send(page, "Hide the first steps"),
  },
  { name: "incidents-empty", open: ({ empty }) => inEmpty(empty, "/admin/incidents") },
  { name: "maintenance-empty", open: ({ empty }) => inEmpty(empty, "/admin/maintenance") },
  { name: "components-empty", open: ({ empty }) => inEmpty(empty, "/admin/components") },
  {
    name: "report-without-components",
    open: ({ empty }) => inEmpty(empty, "/admin/incidents/new"),
  },
];
