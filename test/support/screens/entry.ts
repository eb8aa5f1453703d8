import { send, type Screen } from "./screen";

/** For somebody who is not signed in. */
export const ENTRY_SCREENS: readonly Screen[] = [
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
