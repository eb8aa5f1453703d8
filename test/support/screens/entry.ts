import { send, type Screen } from "./screen";

/** Screens without a session. */
export const ENTRY_SCREENS: readonly Screen[] = [
  {
    name: "sign-in",
    open: ({ demoData }) => ({ site: demoData, path: "/admin/sign-in" }),
  },
  {
    name: "sign-in-error",
    status: 422,
    open: ({ demoData }) => ({ site: demoData, path: "/admin/sign-in" }),
    async reach(page) {
      await page.getByLabel("E-mail").fill("nobody@northwind.example");
      await page.getByLabel("Password").fill("not the password");
      await send(page, "Sign in");
    },
  },
  {
    name: "join",
    open: ({ demoData }) => ({
      site: demoData,
      path: `/admin/join/${demoData.links.invitation}`,
    }),
  },
  {
    name: "new-password",
    open: ({ demoData }) => ({
      site: demoData,
      path: `/admin/join/${demoData.links.newPassword}`,
    }),
  },
  {
    name: "dead-link",
    status: 404,
    open: ({ demoData }) => ({ site: demoData, path: "/admin/join/used-before" }),
  },
];
