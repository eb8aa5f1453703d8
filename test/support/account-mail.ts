import { CLI_ACTOR } from "../../src/base/actor";
import type { ComposedMail } from "../../src/features/mail/compose";
import {
  readMailSettings,
  removeMailSettings,
  setMailSettings,
} from "../../src/features/mail/settings";
import type { MailRow } from "../../src/features/mail/store";
import { USER_TEMPLATES } from "../../src/features/users/letters";
import { startUserMails } from "../../src/features/users/mails";
import type { UserResource } from "../../src/features/users/wire";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { settle } from "./clock";
import { signIn, userWithPassword } from "./dashboard";
import { listMails } from "./mail-rows";
import { RELAY } from "./subscribing";

export const OWNER = "ada@example.com";
export const GRACE = "grace@example.com";

/** An app with mail, the owner Ada, and the editor Grace. */
export interface AccountMailSite extends AsyncDisposable {
  app: TestApp;
  owner: UserResource;
  grace: UserResource;
  /** Session of the owner. */
  session: string;
  /** All mails, oldest first, or those of a kind. */
  mails(template?: string): MailRow[];
  /** Writes a mail, by default the newest, as the sender does. */
  compose(mail?: MailRow): Promise<ComposedMail | "unwanted">;
  /** Sends the form for a forgotten password, each time from another client. */
  forgot(email: string, options?: CallOptions): Promise<Answer>;
  /** Lets the worker decide about forgotten passwords. */
  decide(): Promise<void>;
  setUpMail(isReady: boolean): Promise<void>;
}

let clients = 0;

export async function createAccountMailSite(
  options: Parameters<typeof createTestApp>[0] = {},
): Promise<AccountMailSite> {
  const app = await createTestApp(options);
  const { ctx } = app;
  const setUpMail: AccountMailSite["setUpMail"] = async (isReady) =>
    void (await ctx.db.write((tx) =>
      isReady ? setMailSettings(ctx, tx, RELAY, CLI_ACTOR) : removeMailSettings(ctx, tx, CLI_ACTOR),
    ));
  const owner = await userWithPassword(app, OWNER);
  const grace = await userWithPassword(app, GRACE, "editor");
  const session = await signIn(app, OWNER);
  if (options.env?.["ALLCLEAR_SMTP_HOST"] === undefined) await setUpMail(true);
  const worker = startUserMails(ctx);
  return {
    app,
    owner,
    grace,
    session,
    setUpMail,
    mails: (template) =>
      listMails(ctx.db, {}).filter((mail) => !template || mail.template === template),
    async compose(mail = listMails(ctx.db, {}).at(-1)) {
      const settings = readMailSettings(ctx);
      const template = mail && USER_TEMPLATES[mail.template];
      if (!mail || !settings || !template) throw new Error("there is no mail");
      return template(mail, { ctx, settings });
    },
    forgot: (email, call = {}) =>
      app.call("/admin/forgot", {
        form: { email },
        from: `198.51.${100 + Math.floor(++clients / 250)}.${1 + (clients % 250)}`,
        ...call,
      }),
    async decide() {
      await app.clock.advance(200);
      await settle();
    },
    async [Symbol.asyncDispose]() {
      worker.cancel();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Returns a mail that was written. */
export async function written(composed: Promise<ComposedMail | "unwanted">): Promise<ComposedMail> {
  const mail = await composed;
  if (mail === "unwanted") throw new Error("the mail is unwanted");
  return mail;
}

/** Returns the links in the text of a mail, without the public address alone. */
export function linksIn({ text }: ComposedMail): string[] {
  return [...String(text).matchAll(/https?:\/\/[^\s/)]+\/[^\s)]+/g)].map(([link]) => link);
}

/** Returns the path of the link in a mail by which a user chooses a password. */
export function joinPath(mail: ComposedMail): string {
  const links = linksIn(mail).filter((link) => link.includes("/admin/join/"));
  if (links.length !== 1) throw new Error(`the mail has ${links.length} links`);
  return new URL(links[0] ?? "").pathname;
}
