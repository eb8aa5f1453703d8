import { inFurnished, keyPath, openDialog, send, type Screen } from "./screen";

/** API keys. */
export const KEY_SCREENS: readonly Screen[] = [
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
];
