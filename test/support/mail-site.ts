import { insertInto, selectOne } from "../../src/db/statements";
import { mailings, mails, subscribers, suppressions } from "../../src/db/tables/mail";
import { type MailingState, parseMailAddress } from "../../src/base/mail-address";
import { addressHmac, ensureMailKey } from "../../src/features/mail/tokens";
import { enqueueMails, type NewMail } from "../../src/features/mail/mail";
import { startSending } from "../../src/features/mail/sending/sender";
import type { Templates } from "../../src/features/mail/compose";
import type { LoadThrottle } from "../../src/features/sending/throttle";
import { DAY_MS } from "../../src/base/time";
import { createTestApp, type TestApp } from "./app";
import { createTestClock } from "./clock";
import { createTestEgress } from "./egress";
import {
  listMailings,
  listMails,
  listSubscribers,
  listSuppressions,
  mailingRow,
  subscriberRow,
} from "./mail-rows";

type MailRow = typeof mails.$inferSelect;
type SuppressionRow = typeof suppressions.$inferSelect;
type SubscriberRow = typeof subscribers.$inferSelect;
type MailingRow = typeof mailings.$inferSelect;

const findLastSeq = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ seq: mailings.maxSeq }).from(mailings).limit(1),
);
const insertSubscriber = insertInto(subscribers);
const insertMailing = insertInto(mailings);

/** Mail of a test. Without a class it is one of an account. */
type TestMail = Omit<Partial<NewMail>, "recipient"> & { to: string };

/** An application that sends mail to a relay of the test, on the test's clock. */
export interface MailSite extends AsyncDisposable {
  app: TestApp;
  readonly sender: ReturnType<typeof startSending>;
  /** Queues mails in one transaction and returns their ids. */
  queue(...mails: TestMail[]): Promise<string[]>;
  /** Creates a mailing of a new subject with one mail to each address, and their subscribers. */
  mailing(addresses: readonly string[], options?: MailingOptions): Promise<string>;
  /** Resolves when nothing is under way or unrecorded, and nothing can begin now. */
  idle(): Promise<void>;
  /** Advances the clock in steps, each followed by `idle`. */
  pass(ms: number, stepMs?: number): Promise<void>;
  mails(): MailRow[];
  /** Status of each mail by its recipient. */
  statuses(): Record<string, string>;
  suppressions(): SuppressionRow[];
  subscribers(): SubscriberRow[];
  mailings(): MailingRow[];
  /** Restarts the sender on the same database. */
  restart(): Promise<void>;
}

interface MailingOptions {
  subjectId?: string;
  state?: MailingState;
  expiresAt?: number;
  /** Batch of each mail; 0 without them. */
  batches?: readonly number[];
}

/** Templates of tests: `test` writes a small mail, `broken` throws. */
export const TEST_TEMPLATES: Templates = {
  test: (mail, { settings }) =>
    mail.params["unwanted"] === true
      ? "unwanted"
      : {
          from: settings.from,
          replyTo: null,
          to: mail.recipient,
          subject: String(mail.params["subject"] ?? "Test"),
          text: "Text",
          html: "<p>Text</p>",
          headers: {},
          messageId: `<${mail.id}@example.com>`,
          date: mail.createdAt,
        },
  broken: () => {
    throw new Error("the template is broken");
  },
};

/** Throttle that lets everything start. */
export const NO_THROTTLE: LoadThrottle = { take: () => true, waitMs: () => 0 };

/** Creates an app and connections for mails to a relay on `port` of loopback. `env` holds further settings. */
export async function createMailApp(
  port: number,
  env: Record<string, string | undefined>,
  options: { databasePath?: string } = {},
) {
  const clock = createTestClock();
  const settings = {
    ALLCLEAR_BASE_URL: "https://status.example.com",
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_SMTP_RATE: "0",
    ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
    ...env,
  };
  const app = await createTestApp({ clock, env: settings, ...options });
  const names = { "relay.test": [["127.0.0.1"]] };
  const { egress } = await createTestEgress(names, { clock, env: settings });
  return { app, clock, egress };
}

/** Creates a site whose relay listens on `port` of loopback. `env` holds further settings. */
export async function createMailSite(
  { port }: { port: number },
  env: Record<string, string> = {},
  {
    throttle = NO_THROTTLE,
    templates = TEST_TEMPLATES,
    ...options
  }: { databasePath?: string; throttle?: LoadThrottle; templates?: Templates } = {},
): Promise<MailSite> {
  const { app, clock, egress } = await createMailApp(port, env, options);
  const { ctx } = app;
  const start = () => startSending(ctx, egress, { templates, throttle });
  let sender = start();
  let seq = findLastSeq(ctx.db, {})?.seq ?? 0;
  let pageId: string | undefined;

  const idle = async () => {
    // A write of the test that has just ended wakes the sender in the next turn.
    await clock.advance(0);
    await sender.whenIdle();
  };

  return {
    app,
    get sender() {
      return sender;
    },
    queue: (...given) =>
      ctx.db.write((tx) =>
        enqueueMails(
          ctx,
          tx,
          given.map(({ to, ...mail }) => ({
            class: 1,
            recipient: addressOf(to),
            subjectId: `usr_${to}`,
            template: "test",
            params: {},
            expiresAt: clock.now() + DAY_MS,
            ...mail,
          })),
        ),
      ),
    async mailing(addresses, { subjectId, state = "sending", expiresAt, batches = [] } = {}) {
      pageId ??= (await app.page()).page.id;
      const page = pageId;
      return ctx.db.write((tx) => {
        const now = clock.now();
        const id = ctx.newId("mlg");
        const mailing = mailingRow({
          id,
          pageId: page,
          subjectId: subjectId ?? id,
          state,
          maxSeq: seq + addresses.length,
          deadlineAt: expiresAt ?? now + DAY_MS,
          createdAt: now,
        });
        insertMailing(tx, mailing);
        const key = ensureMailKey(ctx, tx);
        const known = new Map(
          listSubscribers(tx, {}).map((row) => [row.addressKey, row.id] as const),
        );
        const rows = addresses.map((address) => {
          const parsed = addressOf(address);
          const existing = known.get(parsed.key);
          if (existing !== undefined) return { parsed, subscriberId: existing };
          const subscriberId = ctx.newId("sub");
          seq += 1;
          const row = subscriberRow({
            id: subscriberId,
            seq,
            pageId: page,
            address: parsed.address,
            addressHmac: addressHmac(key, parsed.key),
            confirmedAt: now,
          });
          insertSubscriber(tx, row);
          return { parsed, subscriberId };
        });
        enqueueMails(
          ctx,
          tx,
          rows.map(({ parsed, subscriberId }, index) => ({
            class: 3,
            batch: batches[index] ?? 0,
            mailingId: id,
            subscriberId,
            recipient: parsed,
            subjectId: subjectId ?? id,
            template: "test",
            params: {},
            expiresAt: expiresAt ?? now + DAY_MS,
          })),
        );
        return id;
      });
    },
    idle,
    async pass(ms, stepMs = ms) {
      const until = clock.now() + ms;
      await idle();
      while (clock.now() < until) {
        await clock.advance(Math.min(stepMs, until - clock.now()));
        await sender.whenIdle();
      }
    },
    mails: () => listMails(ctx.db, {}),
    statuses: () =>
      Object.fromEntries(listMails(ctx.db, {}).map((row) => [row.recipient, row.status])),
    suppressions: () => listSuppressions(ctx.db, {}),
    subscribers: () => listSubscribers(ctx.db, {}),
    mailings: () => listMailings(ctx.db, {}),
    async restart() {
      await sender.stop(0);
      sender = start();
    },
    async [Symbol.asyncDispose]() {
      const stopped = sender.stop(0);
      // Breaks off mails that a test left under way.
      await clock.advance(0);
      await stopped;
      await app[Symbol.asyncDispose]();
    },
  };
}

function addressOf(text: string) {
  const parsed = parseMailAddress(text);
  if ("error" in parsed) throw new Error(`${text} ${parsed.error}`);
  return parsed;
}
