import { inDemoData, openDialog, type Screen } from "./screen";

const MAILINGS = "/admin/mailings";

/** Screens of mailings. */
export const MAILING_SCREENS: readonly Screen[] = [
  { name: "mailings", open: inDemoData(() => MAILINGS, "admin") },
  {
    name: "mailings-of-a-page",
    open: inDemoData(() => `${MAILINGS}?page=northwind-internal`, "admin"),
  },
  {
    name: "mailing",
    open: inDemoData(({ mailings }) => `${MAILINGS}/${mailings.failed}`, "admin"),
  },
  {
    name: "mailing-stop-dialog",
    isOverlay: true,
    open: inDemoData(({ mailings }) => `${MAILINGS}/${mailings.waiting}`, "admin"),
    reach: (page) => openDialog(page, "Stop this mailing"),
  },
  {
    name: "mailing-suppressions",
    open: inDemoData(({ mailings }) => `${MAILINGS}/holds/${mailings.hold}`, "admin"),
  },
  {
    name: "mailing-suppressions-none-selected",
    status: 409,
    open: inDemoData(({ mailings }) => `${MAILINGS}/holds/${mailings.hold}`, "admin"),
    async reach(page) {
      await page.getByRole("button", { name: "End selected" }).click();
      await page.getByRole("alert").waitFor();
    },
  },
];
