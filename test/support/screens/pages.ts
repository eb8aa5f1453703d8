import { inDemoData, inPage, inPrivatePage, openDialog, send, type Screen } from "./screen";

/** Status pages. */
export const PAGE_SCREENS: readonly Screen[] = [
  { name: "pages", open: inDemoData(() => "/admin/pages") },
  { name: "page-create", open: inDemoData(() => "/admin/pages/new") },
  {
    name: "page-create-errors",
    status: 422,
    open: inDemoData(() => "/admin/pages/new"),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Northwind");
      await page.locator("summary", { hasText: "More" }).click();
      await page.getByLabel("Accent colour").fill("green");
      await send(page, "Create page");
    },
  },
  { name: "page", open: inPage("") },
  { name: "page-general", open: inPage("/general") },
  { name: "page-look", open: inPage("/look") },
  {
    name: "page-logo-refused",
    open: inPage("/look"),
    async reach(page) {
      const file = { name: "big.png", mimeType: "image/png", buffer: Buffer.alloc(131_073) };
      await page.getByLabel("Logo", { exact: true }).setInputFiles(file);
      await page.locator("#page-logo").getByText("The file is larger than 128 KiB.").waitFor();
    },
  },
  {
    name: "page-look-errors",
    status: 422,
    open: inPage("/look"),
    async reach(page) {
      await page.getByLabel("Notice", { exact: true }).fill("We move on Sunday.");
      await send(page, "Save texts");
    },
  },
  {
    name: "page-css-cut",
    open: inPage("/look"),
    async reach(page) {
      await page.getByLabel("CSS", { exact: true }).fill("@import 'x';\n.card{border-radius:0}");
      await send(page, "Save CSS");
      await page.getByText("The page leaves out parts of the saved CSS").waitFor();
    },
  },
  { name: "page-address", open: inPage("/address") },
  { name: "page-mail", open: inPage("/mail") },
  { name: "page-share", open: inPage("/share") },
  { name: "page-access", open: inPage("/access") },
  {
    name: "page-access-errors",
    status: 422,
    open: inPage("/access"),
    async reach(page) {
      await page.getByRole("textbox", { name: "Networks" }).fill("10.0.0.0/8\n0.0.0.0/0");
      await send(page, "Save networks");
    },
  },
  {
    name: "page-access-rules",
    open: inPrivatePage("/access"),
    async reach(page) {
      await page.getByLabel("New password").fill("correct horse battery");
      await send(page, "Set password");
      await page.getByRole("textbox", { name: "Networks" }).fill("198.51.100.0/24\n2001:db8::/32");
      await send(page, "Save networks");
      await page.getByRole("link", { name: "Create link" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Auditors");
      await page.getByLabel("In 90 days").check();
      await send(page, "Create link");
      await page.getByRole("link", { name: "I have stored it" }).click();
      await page.getByRole("link", { name: "Revoke Auditors" }).waitFor();
    },
  },
  { name: "page-link-create", open: inPage("/links/new") },
  {
    name: "page-link-revealed",
    open: inPrivatePage("/links/new"),
    async reach(page) {
      await page.getByLabel("Name", { exact: true }).fill("Northwind support");
      await send(page, "Create link");
    },
  },
  { name: "page-delete", open: inPage("/delete") },
  {
    name: "page-delete-dialog",
    isOverlay: true,
    open: inPage(""),
    reach: (page) => openDialog(page, "Delete"),
  },
  { name: "page-to-read", open: inPage("", "viewer") },
  { name: "slug-release", open: inPage("/slugs/shop-status/release") },
];
