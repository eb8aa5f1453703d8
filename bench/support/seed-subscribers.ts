import { insertAllInto, type Tx } from "../../src/db/statements";
import {
  mails,
  mailings,
  mailThreads,
  subscribers,
  subscriberChoices,
} from "../../src/db/tables/mail";
import type { Ctx } from "../../src/context";
import { CLI_ACTOR } from "../../src/base/actor";
import type { MailingState } from "../../src/base/mail-address";
import { startSession } from "../../src/features/auth/sessions";
import { suppress } from "../../src/features/mail/suppressions";
import { findPageBySlug } from "../../src/features/pages/store";
import { createUser } from "../../src/features/users/users";
import { mailingRow, mailRow, subscriberRow } from "../../test/support/mail-rows";
import { openData } from "./open-data";
import { seed } from "./seed";

const AT_ONCE = 500;
const DOMAINS = 3_000;
const MAILS_EACH = 10;
/** One of so many addresses is suppressed. */
const SUPPRESSED = 40;

const insertSubscribers = insertAllInto(subscribers);
const insertChoices = insertAllInto(subscriberChoices);
const insertMails = insertAllInto(mails);
const insertMailings = insertAllInto(mailings);
const insertThreads = insertAllInto(mailThreads);

/** Parameters for opening the screens of subscribers. */
interface SeededSubscribers {
  dataDir: string;
  slug: string;
  /** Tokens of sessions of the owner. */
  sessions: string[];
  /** Id of a subscriber, and of a component that a fifth of them chose. */
  subscriber: string;
  component: string;
}

/** Subscriber to be stored, with the mark of its address. */
interface Stored {
  id: string;
  seq: number;
  address: string;
  mark: string;
}

/** Stores subscribers of a page. Every second one has a selection, and every 20th has unsubscribed. */
export function storeSubscribers(
  tx: Tx,
  rows: readonly Stored[],
  pageId: string,
  now: number,
): void {
  insertSubscribers(
    tx,
    rows.map(({ id, seq, address, mark }) => {
      const isActive = seq % 20 !== 0;
      return subscriberRow({
        id,
        seq,
        pageId,
        address,
        addressHmac: mark,
        scope: seq % 2 === 0 ? "selection" : "page",
        status: isActive ? "active" : "unsubscribed",
        confirmedAt: now,
        unsubscribedAt: isActive ? null : now,
      });
    }),
  );
}

/** Stores a mailing that wrote `count` mails. Returns its id. */
export function storeMailing(
  ctx: Ctx,
  tx: Tx,
  {
    pageId,
    subjectId,
    state,
    count,
  }: { pageId: string; subjectId: string; state: MailingState; count: number },
): string {
  const now = ctx.clock.now();
  const id = ctx.newId("mlg");
  const [domain, subject] = ["acme.example", "[Acme] Payments fail"];
  insertThreads(tx, [{ subjectId, pageId, domain, subject, reach: [], lastBeganAt: now }]);
  const sent = state === "done" ? count : 0;
  const counts = { cursor: count, maxSeq: count, written: count, sent };
  insertMailings(tx, [mailingRow({ id, pageId, subjectId, state, ...counts, createdAt: now })]);
  return id;
}

/** Fills a new data directory with a page with subscribers, half of them with selections, and ten mails to each. */
export async function seedSubscribers(
  folder: string,
  count: number,
  sessions: number,
): Promise<SeededSubscribers> {
  const { dataDir, slug, componentIds } = await seed(folder);
  const { ctx, close } = openData(dataDir);
  try {
    const now = ctx.clock.now();
    const pageId = findPageBySlug(ctx.db, { slug })?.id ?? "";
    const subjects = Array.from({ length: MAILS_EACH }, () => ctx.newId("inc"));
    let mailingIds: string[] = [];
    const tokens = await ctx.db.write((tx) => {
      mailingIds = subjects.map((subjectId) =>
        storeMailing(ctx, tx, { pageId, subjectId, state: "done", count }),
      );
      const owner = { email: "ada@acme.example", name: "Ada", role: "owner" as const };
      const { id } = createUser(ctx, tx, owner, CLI_ACTOR);
      return Array.from({ length: sessions }, () =>
        startSession(ctx, tx, id, { ip: "203.0.113.7", userAgent: "bench" }),
      );
    });
    let subscriber = "";
    for (let from = 0; from < count; from += AT_ONCE) {
      await ctx.db.write((tx) => {
        const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => {
          const seq = from + index + 1;
          const domain = `customer${(seq * 7_919) % DOMAINS}.example.com`;
          const mark = Bun.SHA256.hash(String(seq), "base64url");
          return { id: ctx.newId("sub"), seq, address: `person.${seq}@${domain}`, mark };
        });
        storeSubscribers(tx, rows, pageId, now);
        insertChoices(
          tx,
          rows
            .filter(({ seq }) => seq % 2 === 0)
            .flatMap(({ id, seq }) =>
              [0, 1].map((step) => ({
                targetId: componentIds[(seq / 2 + step * 3) % 5] ?? "",
                subscriberId: id,
              })),
            ),
        );
        insertMails(
          tx,
          rows.flatMap(({ id, address }) =>
            mailingIds.map((mailingId, index) =>
              mailRow({
                id: ctx.newId("eml"),
                mailingId,
                subscriberId: id,
                recipient: address,
                subjectId: subjects[index] ?? "",
                reply: "250 2.0.0 Ok: queued as 4cXyZ12bKq",
                createdAt: now,
              }),
            ),
          ),
        );
        for (const { seq, mark } of rows) {
          const reason = seq % 3 === 0 ? "complained" : "bounced";
          if (seq % SUPPRESSED === 1) suppress(ctx, tx, { addressHmac: mark, reason });
        }
        subscriber = rows[0]?.id ?? "";
      });
    }
    return { dataDir, slug, sessions: tokens, subscriber, component: componentIds[0] ?? "" };
  } finally {
    close();
  }
}
