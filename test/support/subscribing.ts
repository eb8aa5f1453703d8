import type { Ctx } from "../../src/context";
import { asc, eq } from "drizzle-orm";
import { mutate, selectMany } from "../../src/db/statements";
import { mailRequests, mails, subscribers, suppressions } from "../../src/db/tables/mail";
import { settings } from "../../src/db/tables/settings";
import { CLI_ACTOR } from "../../src/base/actor";
import { findMailKey, type LinkPurpose, tokenOf } from "../../src/features/mail/tokens";
import { setMailSettings, type StoredMailSettings } from "../../src/features/mail/settings";
import type { PageInput } from "../../src/features/pages/wire";
import { choicesOf } from "../../src/features/subscribers/choices";
import { mailPath } from "../../src/features/subscribers/links";
import { startSignUps } from "../../src/features/subscribers/sign-up";
import type { SubscriberRow } from "../../src/features/subscribers/store";
import { type Answer, type CallOptions, createTestApp, type TestApp, type TestPage } from "./app";
import { settle } from "./clock";
import { listMails, listSubscribers } from "./mail-rows";
import { updatePage } from "./examined";

/** An app with mail, one page, and the decision about sign-ups. */
export interface SubscribingSite extends AsyncDisposable {
  app: TestApp;
  page: TestPage["page"];
  /** Component ids by name: API and Web. */
  components: TestPage["components"];
  /** Sets mail up, as it is at the beginning, or removes it. */
  setUpMail(isReady: boolean): Promise<void>;
  /** Worker that decides about the sign-ups. */
  worker: ReturnType<typeof startSignUps>;
  /** Sends the form of the page. */
  signUp(
    form?: Record<string, string | readonly string[]>,
    options?: Partial<CallOptions>,
  ): Promise<Answer>;
  /** Lets the worker decide about the sign-ups. */
  decide(): Promise<void>;
  /** Signs an address up and returns the path of the link that confirms it. */
  requested(
    email?: string,
    form?: Record<string, string | readonly string[]>,
    options?: Partial<CallOptions>,
  ): Promise<string>;
  /** Signs an address up and confirms it. */
  subscribed(
    email?: string,
    form?: Record<string, string | readonly string[]>,
  ): Promise<SubscriberRow>;
  /** Returns the path of a link to a sign-up or a subscriber. */
  path(purpose: LinkPurpose, subject: { id: string; tokenVersion?: number }): string;
  mails(): (typeof mails.$inferSelect)[];
  requests(): (typeof mailRequests.$inferSelect)[];
  subscribers(): SubscriberRow[];
  suppressions(): { reason: string; pageId: string }[];
  choices(subscriber: SubscriberRow): ReturnType<typeof choicesOf>;
  change(input: Partial<PageInput>): Promise<void>;
}

const deleteSetting = mutate((orm, $: { name: string }) =>
  orm.delete(settings).where(eq(settings.name, $.name)),
);
export const listRequests = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(mailRequests).orderBy(asc(mailRequests.id)),
);
const findSubscriberWith = selectMany((orm, $: { address: string }) =>
  orm.select().from(subscribers).where(eq(subscribers.addressKey, $.address)),
);
const listSuppressions = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ reason: suppressions.reason, pageId: suppressions.pageId }).from(suppressions),
);

/** Relay to which no test connects. */
export const RELAY: StoredMailSettings = {
  host: "relay.example",
  port: null,
  tls: "starttls",
  ca: null,
  user: null,
  password: null,
  connections: 4,
  rate_per_minute: 600,
  from: "status@example.com",
  reply_to: null,
  bounce_address: null,
};

/** Returns the path of a link to a sign-up or a subscriber. */
export function linkPath(
  { db }: Ctx,
  purpose: LinkPurpose,
  { id, tokenVersion: version }: { id: string; tokenVersion?: number },
): string {
  const key = findMailKey(db);
  if (!key) throw new Error("there is no key yet");
  const subject = purpose === "manage" && version !== undefined ? { id, version } : { id };
  return mailPath(purpose, tokenOf(key, purpose, subject));
}

let clients = 0;

export async function createSubscribingSite(
  input: Partial<PageInput> = {},
  options: Parameters<typeof createTestApp>[0] = {},
): Promise<SubscribingSite> {
  const app = await createTestApp({
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "100000" },
    ...options,
  });
  const { ctx } = app;
  const { page, components } = await app.page({ slug: "acme", name: "Acme", ...input }, [
    "API",
    "Web",
  ]);
  const setUpMail: SubscribingSite["setUpMail"] = async (isReady) => {
    await ctx.db.write((tx) =>
      isReady ? setMailSettings(ctx, tx, RELAY, CLI_ACTOR) : deleteSetting(tx, { name: "mail" }),
    );
  };
  // Variables of the relay rule its settings.
  if (options.env?.["ALLCLEAR_SMTP_HOST"] === undefined) await setUpMail(true);
  const worker = startSignUps(ctx);

  const path: SubscribingSite["path"] = (purpose, subject) => linkPath(ctx, purpose, subject);

  const site: SubscribingSite = {
    app,
    page,
    components,
    setUpMail,
    worker,
    path,
    signUp: (form = {}, call = {}) =>
      app.call("/status/acme/subscribe", {
        form: { email: "ann@example.com", ...form },
        // A client of its own, whose limits no other sign-up has used.
        from: `198.51.${100 + Math.floor(++clients / 250)}.${1 + (clients % 250)}`,
        ...call,
      }),
    async decide() {
      await app.clock.advance(200);
      await settle();
    },
    async requested(email = "ann@example.com", form = {}, call = {}) {
      const known = listRequests(ctx.db, {}).length;
      const answer = await site.signUp({ email, ...form }, call);
      if (answer.status !== 303) throw new Error(answer.text);
      await site.decide();
      const request = listRequests(ctx.db, {})[known];
      if (!request) throw new Error("nothing was stored");
      return path("confirm", request);
    },
    async subscribed(email = "ann@example.com", form = {}) {
      const link = await site.requested(email, form);
      const answer = await app.call(link, { method: "POST", form: {} });
      if (answer.status !== 303) throw new Error(answer.text);
      const [subscriber] = findSubscriberWith(ctx.db, { address: email.toLowerCase() });
      if (!subscriber) throw new Error("there is no subscriber");
      return subscriber;
    },
    mails: () => listMails(ctx.db, {}),
    requests: () => listRequests(ctx.db, {}),
    subscribers: () => listSubscribers(ctx.db, {}),
    suppressions: () => listSuppressions(ctx.db, {}),
    choices: (subscriber) => choicesOf(ctx.db, subscriber),
    change: async (changes) =>
      void (await ctx.db.write((tx) => updatePage(ctx, tx, page.id, changes, CLI_ACTOR))),
    async [Symbol.asyncDispose]() {
      worker.cancel();
      await app[Symbol.asyncDispose]();
    },
  };
  return site;
}
