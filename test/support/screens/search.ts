import { inDemoData, type Screen } from "./screen";

/** The search, and the list of shortcuts. */
export const SEARCH_SCREENS: readonly Screen[] = [
  { name: "search", open: inDemoData(() => "/admin/search") },
  { name: "search-found", open: inDemoData(() => "/admin/search?q=a") },
  { name: "search-nothing-found", open: inDemoData(() => "/admin/search?q=mainframe") },
  {
    name: "search-dialog",
    isOverlay: true,
    open: inDemoData(() => "/admin/maintenance"),
    async reach(page) {
      await page.keyboard.press("/");
      await page.getByRole("dialog").getByRole("searchbox").fill("search");
      await page.getByRole("dialog").locator(".found-note").first().waitFor();
    },
  },
  { name: "shortcuts", open: inDemoData(() => "/admin/shortcuts") },
];
