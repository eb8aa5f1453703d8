import { mutate } from "../../../src/db/statements";
import { mails } from "../../../src/db/tables/mail";
import { CLI_ACTOR } from "../../../src/base/actor";
import { setMailSettings } from "../../../src/features/mail/settings";
import { findUserByEmail } from "../../../src/features/users/users";
import { RELAY } from "../subscribing";
import { inDemoData, inEmpty, send, type Screen } from "./screen";

const failMails = mutate((orm, $: { reply: string; at: number }) =>
  orm
    .update(mails)
    .set({ status: "bounced", tries: 1, reply: $.reply, nextTryAt: null, finishedAt: $.at }),
);

/** Opens a path of an installation that can send mail; without a session if `isPublic`. */
function withMail(path: string, isPublic = false): Screen["open"] {
  return ({ empty }) => {
    const { ctx } = empty.app;
    void ctx.db.write((tx) => setMailSettings(ctx, tx, RELAY, CLI_ACTOR));
    return isPublic ? { site: empty, path } : inEmpty(empty, path);
  };
}

/** Invites a person by the form. */
function sendInvitation(email: string): NonNullable<Screen["reach"]> {
  return async (page) => {
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Name").fill("Ines Duarte");
    await send(page, "Send invitation");
  };
}

/** Users, and everything else in the settings. */
export const USER_SCREENS: readonly Screen[] = [
  { name: "users", open: inDemoData(() => "/admin/settings/users") },
  { name: "invite", open: inDemoData(() => "/admin/settings/users/new") },
  {
    name: "invite-errors",
    status: 422,
    open: inDemoData(() => "/admin/settings/users/new"),
    async reach(page) {
      await page.getByLabel("E-mail").fill("jonas@northwind.example");
      await page.getByLabel("Name").fill("Jonas");
      await send(page, "Create invitation link");
    },
  },
  { name: "forgot", open: withMail("/admin/forgot", true) },
  {
    name: "forgot-errors",
    status: 422,
    open: withMail("/admin/forgot", true),
    async reach(page) {
      await page.getByLabel("E-mail").evaluate((input) => input.setAttribute("type", "text"));
      await page.getByLabel("E-mail").fill("maya");
      await send(page, "Send link");
    },
  },
  {
    name: "forgot-sent",
    open: withMail("/admin/forgot", true),
    async reach(page) {
      await page.getByLabel("E-mail").fill("maya@northwind.example");
      await send(page, "Send link");
    },
  },
  {
    name: "forgot-none",
    status: 404,
    open: ({ demoData }) => ({ site: demoData, path: "/admin/forgot" }),
  },
  { name: "sign-in-with-mail", open: withMail("/admin/sign-in", true) },
  { name: "users-with-mail", open: withMail("/admin/settings/users") },
  {
    name: "invite-mailed",
    open: withMail("/admin/settings/users/new"),
    reach: sendInvitation("ines@northwind.example"),
  },
  {
    name: "user-mail-failed",
    open: withMail("/admin/settings/users/new"),
    async reach(page, demoSites) {
      const email = "ines.duarte@northwind.example";
      await sendInvitation(email)(page, demoSites);
      const { ctx } = demoSites.empty.app;
      const reply = `550 5.1.1 <${email}>: Recipient address rejected: User unknown`;
      await ctx.db.write((tx) => failMails(tx, { reply, at: ctx.clock.now() }));
      const user = findUserByEmail(ctx.db, email);
      await page.goto(new URL(`/admin/settings/users/${user?.id}`, page.url()).href);
    },
  },
  { name: "user", open: inDemoData(({ users }) => `/admin/settings/users/${users.jonas}`) },
  {
    name: "user-disabled",
    open: inDemoData(({ users }) => `/admin/settings/users/${users.elif}`),
  },
  {
    name: "user-last-owner",
    status: 409,
    open: inDemoData(({ users }) => `/admin/settings/users/${users.maya}`),
    async reach(page) {
      await page.getByLabel("Viewer").check();
      await send(page, "Save role");
    },
  },
  {
    name: "disable",
    open: inDemoData(({ users }) => `/admin/settings/users/${users.jonas}/disable`),
  },
  { name: "account", open: inDemoData(() => "/admin/settings/account") },
  {
    name: "account-errors",
    status: 422,
    open: inDemoData(() => "/admin/settings/account"),
    async reach(page) {
      await page.getByLabel("New password").fill("short");
      await send(page, "Change password");
    },
  },
  { name: "account-second-factor", open: inDemoData(() => "/admin/settings/account", "admin") },
  {
    name: "second-factor",
    open: inDemoData(() => "/admin/settings/account/second-factor"),
  },
  {
    name: "second-factor-errors",
    status: 422,
    open: inDemoData(() => "/admin/settings/account/second-factor"),
    reach: (page) => send(page, "Turn on second factor"),
  },
  {
    name: "second-factor-recovery-codes",
    open: inDemoData(() => "/admin/settings/account/second-factor/recovery-codes", "admin"),
  },
  {
    name: "second-factor-off",
    open: inDemoData(() => "/admin/settings/account/second-factor/off", "admin"),
  },
  {
    name: "second-factor-off-errors",
    status: 422,
    open: inDemoData(() => "/admin/settings/account/second-factor/off", "admin"),
    reach: (page) => send(page, "Turn off second factor"),
  },
  {
    name: "second-factor-reset",
    open: inDemoData(({ users }) => `/admin/settings/users/${users.jonas}/reset-second-factor`),
  },
  {
    name: "menu",
    isOverlay: true,
    isSmallOnly: true,
    open: inDemoData(() => "/admin/settings/keys"),
    reach: (page) => page.getByRole("button", { name: "More" }).click(),
  },
  { name: "forbidden", status: 403, open: inDemoData(() => "/admin/settings/keys", "editor") },
  { name: "not-found", status: 404, open: inDemoData(() => "/admin/nothing") },
];
