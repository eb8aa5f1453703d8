import { inComponent, inDemoData, inGroup, openDialog, send, type Screen } from "./screen";

/** Components and groups. */
export const COMPONENT_SCREENS: readonly Screen[] = [
  { name: "components", open: inDemoData(() => "/admin/components") },
  {
    name: "components-to-read",
    open: inDemoData(() => "/admin/components?page=northwind-internal", "editor"),
  },
  { name: "component", open: inComponent("Search", "") },
  { name: "component-monitors", open: inComponent("Storefront", "") },
  {
    name: "component-errors",
    status: 422,
    open: inComponent("Storefront", ""),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("");
      await send(page, "Save changes");
    },
  },
  { name: "component-to-read", open: inComponent("Search", "", "viewer") },
  { name: "component-status", open: inComponent("Search", "/status") },
  {
    name: "component-status-dialog",
    isOverlay: true,
    open: inDemoData(() => "/admin/components"),
    async reach(page) {
      await page
        .locator("summary")
        .filter({ hasText: /^Actions for Search$/ })
        .click();
      await openDialog(page, "Set status of Search");
    },
  },
  { name: "component-delete", open: inComponent("Search", "/delete") },
  { name: "component-create", open: inDemoData(() => "/admin/components/new") },
  { name: "components-found", open: inDemoData(() => "/admin/components?q=se") },
  { name: "components-not-found", open: inDemoData(() => "/admin/components?q=mainframe") },
  { name: "components-several", open: inDemoData(() => "/admin/components/several") },
  {
    name: "group-create-errors",
    status: 422,
    open: inDemoData(() => "/admin/components/groups/new"),
    reach: (page) => send(page, "Add group"),
  },
  { name: "group", open: inGroup("Catalogue", "") },
  {
    name: "group-delete-dialog",
    isOverlay: true,
    open: inGroup("Catalogue", ""),
    reach: (page) => openDialog(page, "Delete"),
  },
];
