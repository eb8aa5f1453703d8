import { LRUCache } from "lru-cache";
import type { Ctx } from "../../context";
import { countChanges, type Reader } from "../../db/statements";
import type { Db } from "../../db/database";
import type { ComposedMail } from "../mail/compose";
import { createMoments } from "../mail/letter/moments";
import {
  encodeAround,
  type EncodedText,
  encodeShared,
  type SharedText,
} from "../mail/quoted-printable";
import { displayPhrase } from "../mail/header";
import { findMailKey, type MailKey, tokenOf } from "../mail/tokens";
import type { Letter } from "../mail/letter/letter";
import type { MailRow } from "../mail/queue-store";
import type { MailTemplate } from "../mail/templates";
import { type RenderedLetter, renderLetter, renderPlace } from "../mail/letter/render";
import { findPage, type PageRow } from "../pages/store";
import { mailSettingsOf } from "../pages/mail";
import { mailLink } from "../subscribers/links";
import { type MailingContent, readContent } from "./content";
import { MANAGE_PLACE, manageBlocks } from "./letters";
import { reachOf, targetsOf } from "./reach";
import { choiceOf } from "./rules";
import {
  findFirstBegun,
  findMailing,
  findThread,
  listMailingsOfSubject,
  type MailingRow,
  MERGED,
  type ThreadRow,
} from "./store";
import { findChoice, findSubscriber, listCopies, listSuperseded } from "./subscriber-store";
import { REPLY_PREFIX, subjectLine } from "./subject";

/** Number of composed mailings that are kept. Each is composed again after a change of its page. */
const CACHE_MAX = 50;
/** Superseded mails, each by the next, that are followed. */
const CHAIN_MAX = 100;

/** A mailing that was composed once for all recipients with the same earlier texts. */
interface Composed {
  content: MailingContent;
  /** Undefined if the places are not as expected; the mail is then composed in full. */
  parts: { text: SharedText; html: SharedText } | undefined;
  /** JSON list of the components and groups by which selections include the mailing. */
  targets: string;
  isFirst: boolean;
  /** Lines for the place of the recipient, by the link. */
  place: Record<keyof RenderedLetter, (link: string) => EncodedText>;
}

/** Stands for the link of a recipient. Links contain no character that HTML escapes. */
const MANAGE_URL = "https://manage.invalid/";

/** Returns the template of mails to subscribers. Each mailing is composed once for each set of earlier texts. */
export function createMailingTemplate(): MailTemplate<ComposedMail | "unwanted"> {
  const cache = new LRUCache<string, Composed>({ max: CACHE_MAX });
  const readFacts = createFactsReader();

  return (mail, { ctx, settings }) => {
    const { db, baseUrl, clock } = ctx;
    const subscriber = findSubscriber(db, { id: mail.subscriberId ?? "" });
    const facts = readFacts(db, mail.mailingId ?? "");
    if (!facts || !subscriber) return "unwanted";
    const { mailing, page, thread, key } = facts;
    const choice = choiceOf(mailing.kind);
    if (subscriber.status !== "active" || !choice || !subscriber.events.includes(choice)) {
      return "unwanted";
    }
    const composed = compose(ctx, mailing, page, earlierMailings(db, mail, facts));
    if (!composed) return "unwanted";
    if (
      subscriber.scope === "selection" &&
      !findChoice(db, { subscriberId: subscriber.id, targets: composed.targets })
    ) {
      return "unwanted";
    }
    const link = (purpose: "manage" | "unsubscribe", version?: { version: number }) =>
      mailLink(baseUrl, page, purpose, tokenOf(key, purpose, { id: subscriber.id, ...version }));
    const { content, parts, isFirst, place } = composed;
    const manage = link("manage", { version: subscriber.tokenVersion });
    const body = parts
      ? {
          text: parts.text.fill({ [MANAGE_PLACE]: place.text(manage) }),
          html: parts.html.fill({ [MANAGE_PLACE]: place.html(manage) }),
        }
      : renderLetter(withBlocks(content.letter, manageBlocks(page, manage)));
    const unsubscribe = link("unsubscribe");
    const own = mailSettingsOf(page);
    const subjectId = `<${mailing.subjectId}@${thread.domain}>`;
    return {
      from: { name: own.from_name ?? page.name, address: settings.from.address },
      replyTo: own.reply_to ?? settings.replyTo,
      to: mail.recipient,
      subject: subjectOf(page, thread.subject, content, isFirst),
      ...body,
      headers: {
        "List-Id": `${displayPhrase(page.name)} <${page.id}.${thread.domain}>`,
        "List-Unsubscribe": `<${unsubscribe}>`,
        ...(unsubscribe.startsWith("https:")
          ? { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
          : {}),
        "Feedback-ID": `${mailing.kind}:${page.id}:allclear`,
        Precedence: "list",
      },
      messageId: `<${mail.id}@${thread.domain}>`,
      references: subjectId,
      inReplyTo: isFirst ? undefined : subjectId,
      date: clock.now(),
    };
  };

  function compose(
    { db, baseUrl }: Ctx,
    mailing: MailingRow,
    page: PageRow,
    earlier: readonly MailingRow[],
  ): Composed | undefined {
    const ids = [mailing, ...earlier].map(({ id }) => id).join(" ");
    const cacheKey = `${ids} ${page.contentVersion} ${page.version} ${baseUrl}`;
    const cached = cache.get(cacheKey);
    if (cached) return cached;
    const reach = reachOf(db, mailing);
    if (!reach) return undefined;
    const source = { baseUrl, page, moments: createMoments(page) };
    const content = readContent(db, mailing, earlier, source);
    if (!content) return undefined;
    const { text, html } = renderLetter(content.letter);
    const place = renderPlace(manageBlocks(page, MANAGE_URL), page.locale);
    const encodedText = encodeShared(text, [MANAGE_PLACE]);
    const encodedHtml = encodeShared(html, [MANAGE_PLACE]);
    const composed = {
      content,
      parts: encodedText && encodedHtml ? { text: encodedText, html: encodedHtml } : undefined,
      targets: JSON.stringify(targetsOf(db, mailing, reach)),
      isFirst: findFirstBegun(db, mailing)?.id === mailing.id,
      place: {
        text: encodeAround(place.text, MANAGE_URL),
        html: encodeAround(place.html, MANAGE_URL),
      },
    };
    cache.set(cacheKey, composed);
    return composed;
  }
}

/** Facts of a mailing that is sent. */
interface MailingFacts {
  mailing: MailingRow;
  page: PageRow;
  thread: ThreadRow;
  key: MailKey;
  /** The newest mailings of its subject, oldest first. */
  all: readonly MailingRow[];
}

/**
 * Returns the function that reads the facts of a mailing; undefined if it is not sent any more. They are kept
 * until anything is written, since the mails of a mailing are composed one after the other.
 */
function createFactsReader(): (db: Db, mailingId: string) => MailingFacts | undefined {
  let kept: { version: string; facts: MailingFacts | undefined } | undefined;

  return (db, mailingId) => {
    const version = `${mailingId} ${db.foreignVersion()} ${countChanges(db, {})?.count}`;
    if (kept?.version !== version) kept = { version, facts: readFacts(db, mailingId) };
    return kept.facts;
  };

  function readFacts(reader: Reader, id: string): MailingFacts | undefined {
    const mailing = findMailing(reader, { id });
    if (!mailing || mailing.state === "stopped") return undefined;
    const page = findPage(reader, { id: mailing.pageId });
    const thread = findThread(reader, mailing);
    const key = findMailKey(reader);
    if (!page || page.visibility === "private" || page.isSample || !thread || !key) {
      return undefined;
    }
    return { mailing, page, thread, key, all: listMailingsOfSubject(reader, mailing) };
  }
}

/** Returns the mailings whose texts a mail contains besides its own, oldest first. */
function earlierMailings(reader: Reader, mail: MailRow, facts: MailingFacts): MailingRow[] {
  const { mailing: own, all } = facts;
  const first = all.find(({ cursor }) => cursor >= 0);
  const superseded =
    mail.subscriberId === null || first?.id === own.id
      ? []
      : listSuperseded(reader, { subscriberId: mail.subscriberId, subjectId: own.subjectId });
  const included = new Set([own.id]);
  // A mail that is sent again says what the first one said.
  let ids = mail.copy > 0 ? listCopies(reader, mail).map(({ id }) => id) : [mail.id];
  for (let step = 0; step < CHAIN_MAX && ids.length > 0; step++) {
    const replaced = superseded.filter(({ supersededBy }) => ids.includes(supersededBy ?? ""));
    for (const { mailingId } of replaced) if (mailingId !== null) included.add(mailingId);
    ids = replaced.map(({ id }) => id);
  }
  // Mailings that were merged are contained in the next one that began.
  let isContained = false;
  for (const { id, cursor } of all.toReversed()) {
    if (cursor >= 0) isContained = included.has(id);
    else if (cursor === MERGED && isContained) included.add(id);
  }
  return all.filter(({ id }) => id !== own.id && included.has(id));
}

function subjectOf(
  page: PageRow,
  shared: string,
  { status, name }: MailingContent,
  isFirst: boolean,
): string {
  if (mailSettingsOf(page).subject === "status")
    return subjectLine(page.name, `${status}: ${name}`);
  return isFirst ? shared : `${REPLY_PREFIX}${shared}`;
}

/** Returns a letter with blocks in the place for those of the recipient. */
function withBlocks(letter: Letter, blocks: Letter["blocks"]): Letter {
  const footer = letter.footer.flatMap((block) => (block.type === "place" ? blocks : [block]));
  return { ...letter, footer };
}
