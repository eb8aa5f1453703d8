import { eq } from "drizzle-orm";
import type { Ctx } from "../../src/context";
import { insertInto, mutate, type Tx } from "../../src/db/statements";
import { mailings, mails, subscriberChoices, subscribers } from "../../src/db/tables/mail";
import type { SubscriberEvent } from "../../src/base/mail-address";
import { addressHmac, ensureMailKey } from "../../src/features/mail/tokens";
import type { ComposedMail } from "../../src/features/mail/compose";
import { readMailSettings } from "../../src/features/mail/settings";
import { createMailingTemplate } from "../../src/features/mailings/letters";
import { startMailings } from "../../src/features/mailings/mailings";
import { startMaintenanceClock } from "../../src/features/maintenance/clock";
import { type AuthorKind, CLI_ACTOR } from "../../src/base/actor";
import type { PageInput } from "../../src/features/pages/wire";
import type { PageRow } from "../../src/features/pages/store";
import { type Answer, createTestApp, type TestApp } from "./app";
import { settle } from "./clock";
import { listMailings, listMails, mailingRow, subscriberRow } from "./mail-rows";
import { createComponent, updatePage } from "./examined";

type MailRow = typeof mails.$inferSelect;

const insertSubscriber = insertInto(subscribers);
const insertMailing = insertInto(mailings);
const insertChoice = insertInto(subscriberChoices);
const setStatus = mutate((orm, $: { id: string; status: MailRow["status"] }) =>
  orm.update(mails).set({ status: $.status, nextTryAt: null }).where(eq(mails.id, $.id)),
);
const setState = mutate((orm, $: { id: string; state: "held" | "expanding" | "stopped" }) =>
  orm.update(mailings).set({ state: $.state }).where(eq(mailings.id, $.id)),
);
const setSubscriber = mutate((orm, $: { id: string; status: "active" | "unsubscribed" }) =>
  orm.update(subscribers).set({ status: $.status }).where(eq(subscribers.id, $.id)),
);

interface SubscriberInput {
  /** Components and groups; without them, the whole page. */
  targets?: string[];
  events?: SubscriberEvent[];
  status?: "active" | "unsubscribed";
  language?: string;
  pageId?: string;
}

/** An app with a page, its subscribers, and mailings whose mails a test sends by itself. */
export interface MailingSite extends AsyncDisposable {
  app: TestApp;
  page: PageRow;
  /** Component ids by name: API and Web in the group Core, and Search in none. */
  ids: Record<string, string>;
  /** Id of the group. */
  group: string;
  /** Adds a subscriber with the address `name@example.net`, and returns its id. */
  subscribe(name: string, input?: SubscriberInput): Promise<string>;
  unsubscribe(id: string): Promise<void>;
  call(path: string, json: unknown, method?: string): Promise<Answer>;
  /** Changes the page. */
  change(input: Partial<PageInput>): Promise<void>;
  /** Creates an incident and returns its id. */
  open(json?: Record<string, unknown>): Promise<string>;
  /** Adds an update of an incident. */
  update(id: string, json?: Record<string, unknown>): Promise<void>;
  /** Plans a maintenance of API from 14:00 to 15:00, two hours after the start, and returns its id. */
  plan(json?: Record<string, unknown>): Promise<string>;
  advance(ms: number): Promise<void>;
  mails(): MailRow[];
  mailings(): (typeof mailings.$inferSelect)[];
  /** Records mailings of an author, as old as `age` (ms): over, or held. */
  count(author: AuthorKind, count: number, age?: number, state?: "done" | "held"): Promise<void>;
  setState(id: string, state: "held" | "expanding" | "stopped"): Promise<void>;
  /** Changes something in one transaction, and lets the worker finish. */
  control(change: (ctx: Ctx, tx: Tx) => void): Promise<void>;
  /** Stops the worker, and starts another one, as a restart does. */
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  /**
   * Sends all waiting mails as the sender would, and returns those that were not unwanted, with the names of
   * their recipients, in the order of writing.
   */
  send(): Promise<(ComposedMail & { name: string })[]>;
  /** Returns the names of all recipients of pending and sent mails, sorted, and forgets them. */
  recipients(): Promise<string[]>;
}

const RELAY = { ALLCLEAR_SMTP_HOST: "relay.example", ALLCLEAR_MAIL_FROM: "status@mail.example" };

export async function createMailingSite(
  env: Record<string, string | undefined> = {},
): Promise<MailingSite> {
  const app = await createTestApp({ env: { ...RELAY, ...env } });
  const { ctx } = app;
  const { page, components: ids } = await app.page({ slug: "acme" }, ["API", "Web"]);
  const search = await ctx.db.write((tx) =>
    createComponent(
      ctx,
      tx,
      page,
      { name: "Search" },
      { managedBy: null, position: 9, groupId: null },
      CLI_ACTOR,
    ),
  );
  ids["Search"] = search.id;
  const key = await app.keyWith(
    "read:status",
    "write:incidents",
    "write:maintenance",
    "write:components",
  );
  const read = async (path: string) => (await app.call(path, { key })).body;
  const group: string = (await read(`/api/v1/components/${ids["API"]}`)).group_id;
  const mailKey = await ctx.db.write((tx) => ensureMailKey(ctx, tx));
  let worker = startMailings(ctx);
  const clock = startMaintenanceClock(ctx);
  const template = createMailingTemplate();
  let seq = 0;

  async function finish(): Promise<void> {
    await settle();
    await worker.whenIdle();
  }

  const site: MailingSite = {
    app,
    page,
    ids,
    group,
    async subscribe(
      name,
      { targets, events, status = "active", language = undefined, pageId = page.id } = {},
    ) {
      const id = ctx.newId("sub");
      const now = ctx.clock.now();
      const address = `${name}@example.net`;
      seq += 1;
      const own = seq;
      await ctx.db.write((tx) => {
        const row = subscriberRow({
          id,
          seq: own,
          pageId,
          address,
          addressHmac: addressHmac(mailKey, address),
          scope: targets ? "selection" : "page",
          status,
          confirmedAt: now,
          ...(events && { events }),
          language: language ?? null,
        });
        insertSubscriber(tx, row);
        for (const targetId of targets ?? []) insertChoice(tx, { targetId, subscriberId: id });
      });
      return id;
    },
    unsubscribe: async (id) =>
      void (await ctx.db.write((tx) => setSubscriber(tx, { id, status: "unsubscribed" }))),
    async call(path, json, method = "POST") {
      const answer = await app.call(`/api/v1/${path}`, { method, key, json });
      if (answer.status >= 400) throw new Error(answer.text);
      await finish();
      return answer;
    },
    async change(input) {
      await ctx.db.write((tx) => updatePage(ctx, tx, page.id, input, CLI_ACTOR));
      await finish();
    },
    async open(json = {}) {
      const incident = { page: "acme", name: "Errors", body: "We look into it.", ...json };
      return (await site.call("incidents", incident)).body.id;
    },
    update: async (id, json = {}) =>
      void (await site.call(`incidents/${id}/updates`, { body: "More.", ...json })),
    async plan(json = {}) {
      const maintenance = {
        page: "acme",
        name: "Database upgrade",
        body: "A minute without search.",
        components: [ids["API"]],
        scheduled_for: "2026-03-10T14:00:00Z",
        scheduled_until: "2026-03-10T15:00:00Z",
        ...json,
      };
      return (await site.call("maintenance", maintenance)).body.id;
    },
    async advance(ms) {
      await app.clock.advance(ms);
      await finish();
    },
    mails: () => listMails(ctx.db, {}),
    mailings: () => listMailings(ctx.db, {}),
    count: (author, count, age = 0, state = "done") =>
      ctx.db.write((tx) => {
        const createdAt = ctx.clock.now() - age;
        for (let index = 0; index < count; index++) {
          const ids = { id: ctx.newId("mlg"), pageId: page.id, subjectId: `inc_${index}` };
          insertMailing(
            tx,
            mailingRow({ ...ids, author, createdAt, state, cursor: state === "held" ? -1 : 0 }),
          );
        }
      }),
    async setState(id, state) {
      await ctx.db.write((tx) => setState(tx, { id, state }));
      ctx.signals.mailingsRecorded.emit();
      await finish();
    },
    async control(change) {
      await ctx.db.write((tx) => change(ctx, tx));
      await finish();
    },
    stopWorker: () => worker.stop(),
    async startWorker() {
      worker = startMailings(ctx);
      await finish();
    },
    async send() {
      await finish();
      const pending = listMails(ctx.db, {}).filter(({ status }) => status === "pending");
      const settings = readMailSettings(ctx);
      if (!settings) throw new Error("there is no relay");
      const sent: (ComposedMail & { name: string })[] = [];
      for (const mail of pending) {
        const isOver = ctx.clock.now() >= mail.expiresAt;
        const composed = isOver ? "unwanted" : template(mail, { ctx, settings });
        const status = composed === "unwanted" ? "cancelled" : "sent";
        await ctx.db.write((tx) => setStatus(tx, { id: mail.id, status }));
        if (composed !== "unwanted") {
          sent.push({ ...composed, name: composed.to.replace("@example.net", "") });
        }
      }
      return sent;
    },
    recipients: async () => (await site.send()).map(({ name }) => name).sort(),
    async [Symbol.asyncDispose]() {
      clock.cancel();
      await worker.stop();
      await app[Symbol.asyncDispose]();
    },
  };
  return site;
}
