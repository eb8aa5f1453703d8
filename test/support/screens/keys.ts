import { inDemoData, keyPath, openDialog, send, type Screen } from "./screen";

/** API keys. */
export const KEY_SCREENS: readonly Screen[] = [
  { name: "keys", open: inDemoData(() => "/admin/settings/keys") },
  { name: "keys-filtered", open: inDemoData(() => "/admin/settings/keys?show=never_expires") },
  { name: "keys-nothing-found", open: inDemoData(() => "/admin/settings/keys?q=mainframe") },
  { name: "keys-sorted", open: inDemoData(() => "/admin/settings/keys?sort=-used") },
  {
    name: "keys-selected",
    open: inDemoData(() => "/admin/settings/keys"),
    reach: (page) => page.getByLabel("Select Grafana").check(),
  },
  {
    name: "revoke-selected",
    open: inDemoData(() => "/admin/settings/keys"),
    async reach(page) {
      await page.getByLabel("Select Grafana").check();
      await page.getByLabel("Select Terraform").check();
      await send(page, "Revoke");
    },
  },
  { name: "create", open: inDemoData(() => "/admin/settings/keys/new") },
  {
    name: "create-another",
    open: inDemoData(({ keys }) => `/admin/settings/keys/new?from=${keys["Terraform"]}`),
  },
  {
    name: "create-preset",
    open: inDemoData(() => "/admin/settings/keys/new?preset=ci-incident-bot"),
  },
  {
    name: "create-errors",
    status: 422,
    open: inDemoData(() => "/admin/settings/keys/new"),
    async reach(page) {
      await page.getByLabel("Rate limit").fill("plenty");
      await page.getByLabel("A date").check();
      await send(page, "Create API Key");
    },
  },
  { name: "key", open: inDemoData(({ keys }) => keyPath(keys, "Deploy pipeline")) },
  { name: "key-rotated", open: inDemoData(({ keys }) => keyPath(keys, "On-call bot")) },
  { name: "key-revoked", open: inDemoData(({ keys }) => keyPath(keys, "Old Jenkins")) },
  {
    name: "key-errors",
    status: 422,
    open: inDemoData(({ keys }) => keyPath(keys, "Grafana")),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("");
      await page.getByLabel("Rate limit").fill("0");
      await send(page, "Save changes");
    },
  },
  {
    name: "key-changed",
    open: inDemoData(({ keys }) => keyPath(keys, "Webhook relay")),
    reach: (page) => send(page, "Save changes"),
  },
  { name: "rotate", open: inDemoData(({ keys }) => `${keyPath(keys, "Grafana")}/rotate`) },
  {
    name: "rotate-dialog",
    isOverlay: true,
    open: inDemoData(({ keys }) => keyPath(keys, "Grafana")),
    reach: (page) => openDialog(page, "Rotate"),
  },
  { name: "revoke", open: inDemoData(({ keys }) => `${keyPath(keys, "Grafana")}/revoke`) },
  {
    name: "revoke-dialog",
    isOverlay: true,
    open: inDemoData(({ keys }) => keyPath(keys, "Grafana")),
    reach: (page) => openDialog(page, "Revoke"),
  },
];
