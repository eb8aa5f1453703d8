import { NEWEST } from "../../base/ids";
import type { SubscriberEvent } from "../../base/mail-address";
import { DAY_MS } from "../../base/time";
import type { Reader, Tx } from "../../db/statements";
import type { ComposedMail, TemplateEnvironment, Templates } from "../mail/compose";
import { type Letter, renderLetter } from "../mail/letter/letter";
import {
  alreadySubscribedLetter,
  alreadySubscribedSubject,
  confirmationLetter,
  confirmationSubject,
  type SignUp,
} from "../mail/letter/sign-up";
import type { MailRow } from "../mail/store";
import { findSuppression } from "../mail/suppressions";
import { addressHmac, findMailKey, type LinkPurpose, tokenOf } from "../mail/tokens";
import { mailSettingsOf, takesSubscribers } from "../pages/mail";
import { pageUrl } from "../pages/references";
import { findPage, type PageRow } from "../pages/store";
import type { ListPart } from "./list";
import { mailLink } from "./sign-up";
import {
  deleteChoicesOfTarget,
  deleteExpiredRequests,
  deleteReportsOf,
  deleteReportsOfSignUps,
  deleteSignUpMails,
  deleteSubscriber,
  findDeletedTarget,
  findRequest,
  findSubscriber,
  listMailsOfSubscriber,
  listSignUpMailsOfPage,
  listSubscribersOfOldPages,
  mergeSearchIndex,
  removeConsentAddresses,
  removeOldAddresses,
  type RequestRow,
  type SubscriberRow,
} from "./store";
import { existingChoices, namesOfTargets, readChoosable, signUpSubject } from "./subscribers";

export type SubscriberMail = ReturnType<typeof listMailsOfSubscriber>[number];

/** Lists the mails to a subscriber, with those that answered sign-ups on the page, newest first. */
export function listSubscriberMails(
  reader: Reader,
  { id: subscriberId, pageId, addressHmac }: SubscriberRow,
  { before = NEWEST, limit }: { before?: string | undefined; limit: number },
): ListPart<SubscriberMail> {
  const part = { before, limit: limit + 1 };
  const subjectId = signUpSubject(addressHmac);
  const found = [
    ...listMailsOfSubscriber(reader, { subscriberId, ...part }),
    ...listSignUpMailsOfPage(reader, { subjectId, pageId, ...part }),
  ];
  const rows = [...new Map(found.map((mail) => [mail.id, mail])).values()].sort((a, b) =>
    a.id < b.id ? 1 : -1,
  );
  const shown = rows.slice(0, limit);
  return { rows: shown, nextBefore: rows.length > limit ? shown.at(-1)?.id : undefined };
}

const EVENT_WORDS: Record<SubscriberEvent, string> = {
  incidents: "incidents and their updates",
  maintenance: "maintenance",
  status: "changes of a component's status",
};

/** Sign-up that can still be confirmed, with what its mail says. */
interface OpenSignUp {
  request: RequestRow;
  page: PageRow;
  signUp: SignUp;
  linkTo(purpose: LinkPurpose, subject: { id: string; version?: number }): string;
}

/** Mails that answer sign-ups. Their links are derived when they are written. */
export const SIGN_UP_TEMPLATES: Templates<ComposedMail | "unwanted"> = {
  confirmation(mail, env) {
    const found = findOpenSignUp(mail, env);
    if (!found) return "unwanted";
    const { request, page, signUp, linkTo } = found;
    const { id } = request;
    const links = { confirm: linkTo("confirm", { id }), decline: linkTo("decline", { id }) };
    return write(mail, env, page, confirmationSubject(signUp), confirmationLetter(signUp, links));
  },

  already_subscribed(mail, env) {
    const found = findOpenSignUp(mail, env);
    const subscriber = findSubscriber(env.ctx.db, { id: mail.subscriberId ?? "" });
    if (!found || subscriber?.status !== "active") return "unwanted";
    const { request, page, signUp, linkTo } = found;
    const { id, tokenVersion: version } = subscriber;
    const links = {
      manage: linkTo("manage", { id, version }),
      confirm: linkTo("confirm", { id: request.id }),
    };
    const letter = alreadySubscribedLetter(signUp, links);
    return write(mail, env, page, alreadySubscribedSubject(signUp), letter);
  },
};

/** Returns the sign-up of a mail; undefined if it was confirmed, refused or has expired meanwhile. */
function findOpenSignUp(mail: MailRow, { ctx }: TemplateEnvironment): OpenSignUp | undefined {
  const { db, baseUrl, clock } = ctx;
  const request = findRequest(db, { id: String(mail.params["request"]) });
  const page = request && findPage(db, { id: request.pageId });
  const key = findMailKey(db);
  if (key && request && isRefused(db, addressHmac(key, request.addressKey), request.pageId)) {
    return undefined;
  }
  if (!request || !page || !key || !takesSubscribers(page)) return undefined;
  if (request.state !== "sent" || clock.now() >= request.expiresAt) return undefined;
  const choosable = readChoosable(db, page.id);
  const { scope, targets, events } = existingChoices(request.choices, choosable);
  const { footer } = mailSettingsOf(page);
  const { name, locale } = page;
  return {
    request,
    page,
    signUp: {
      page: { name, locale, url: pageUrl(baseUrl, page), footer },
      targets: scope === "page" ? null : namesOfTargets(targets, choosable),
      events: events.map((event) => EVENT_WORDS[event]),
    },
    linkTo: (purpose, subject) => mailLink(baseUrl, page, purpose, tokenOf(key, purpose, subject)),
  };
}

/** True if the address was blocked or declined mails since the mail was queued. */
function isRefused(reader: Reader, hmac: string, pageId: string): boolean {
  return findSuppression(reader, { addressHmac: hmac, pageId, kind: "confirmation" }) !== undefined;
}

function write(
  { id, recipient }: MailRow,
  { ctx, settings }: TemplateEnvironment,
  page: PageRow,
  subject: string,
  letter: Letter,
): ComposedMail {
  const { address } = settings.from;
  const { from_name: fromName, reply_to: replyTo } = mailSettingsOf(page);
  return {
    from: { name: fromName ?? page.name, address },
    replyTo: replyTo ?? settings.replyTo,
    to: recipient,
    subject,
    ...renderLetter(letter),
    headers: {},
    messageId: `<${id}@${address.slice(address.lastIndexOf("@") + 1)}>`,
    date: ctx.clock.now(),
  };
}

/** Time for which the address of an unsubscribed person, and subscribers of a deleted page, are kept. */
const KEPT_MS = 30 * DAY_MS;
/** Limits of one transaction. Deleting a subscriber deletes mails as well. */
const ROWS_PER_RUN = 500;
const SUBSCRIBERS_PER_RUN = 50;
/** Pages of the search index, of 4 KB each, that one transaction rewrites. */
const PAGES_PER_RUN = 100;

/**
 * Deletes expired sign-ups, addresses of people who unsubscribed, subscribers of deleted pages, deleted
 * components in selections, and client addresses of consents from before `addressesUntil`. Times are unix ms. Returns true if more may be left.
 */
export function sweepSubscribers(
  tx: Tx,
  { now, addressesUntil }: { now: number; addressesUntil: number },
): boolean {
  const limit = ROWS_PER_RUN;
  const counts = [
    deleteExpiredRequests(tx, { now, limit }),
    removeOldAddresses(tx, { until: now - KEPT_MS, limit }),
    removeConsentAddresses(tx, { until: addressesUntil, limit }),
  ];
  const deleted = findDeletedTarget(tx, {});
  if (deleted) counts.push(deleteChoicesOfTarget(tx, { ...deleted, limit }));
  mergeSearchIndex(tx, { pages: PAGES_PER_RUN });
  const until = now - KEPT_MS;
  const ofOldPages = listSubscribersOfOldPages(tx, { until, limit: SUBSCRIBERS_PER_RUN });
  for (const { id, pageId, addressHmac } of ofOldPages) {
    const subjectId = signUpSubject(addressHmac);
    deleteReportsOf(tx, { subscriberId: id });
    deleteReportsOfSignUps(tx, { subjectId, pageId });
    deleteSignUpMails(tx, { subjectId, pageId });
    deleteSubscriber(tx, { id });
  }
  return counts.includes(limit) || ofOldPages.length === SUBSCRIBERS_PER_RUN || !!deleted;
}
