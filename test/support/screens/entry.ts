import type { Page } from "playwright-core";
import { startStep } from "../../../src/features/auth/steps";
import { stepCookie } from "../../../src/http/cookies";
import type { DemoSites } from "../demo-sites";
import { send, type Screen } from "./screen";

const atSignIn: Screen["open"] = ({ demoData }) => ({ site: demoData, path: "/admin/sign-in" });

/** Opens the form for the code of a user whose password was right. */
async function enterCode(page: Page, { demoData: { app, origin, users } }: DemoSites) {
  const { ctx } = app;
  const token = await ctx.db.write((tx) => startStep(ctx, tx, users.jonas));
  const [name = "", value = ""] = stepCookie(ctx, token).split(/[=;]/, 2);
  await page.context().addCookies([{ name, value, url: origin.replace("http:", "https:") }]);
  await page.goto(`${origin}/admin/sign-in/code`);
}

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
  { name: "code", open: atSignIn, reach: enterCode },
  {
    name: "code-error",
    status: 422,
    open: atSignIn,
    async reach(page, demoSites) {
      await enterCode(page, demoSites);
      await page.getByText("Use a recovery code").click();
      await page.getByLabel("Recovery code").fill("ABCD-EFGH-IJKL-MNOP");
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
