import type { Reader } from "../../db/statements";
import type { SubscriberEvent } from "../../base/mail-address";
import { addressHmac, findMailKey, type LinkPurpose, tokenOf } from "../mail/tokens";
import {
  alreadySubscribedLetter,
  alreadySubscribedSubject,
  confirmationLetter,
  confirmationSubject,
  type SignUp,
} from "../mail/letter/sign-up";
import type { ComposedMail } from "../mail/compose";
import { findSuppression } from "../mail/suppressions";
import type { Letter } from "../mail/letter/letter";
import type { MailRow } from "../mail/queue-store";
import { renderLetter } from "../mail/letter/render";
import type { TemplateEnvironment, Templates } from "../mail/templates";
import { findPage, type PageRow } from "../pages/store";
import { mailSettingsOf, takesSubscribers } from "../pages/mail";
import { pageUrl } from "../pages/references";
import { existingChoices, namesOfTargets, readChoosable } from "./choices";
import { mailLink } from "./links";
import { findRequest, type RequestRow } from "./request-store";
import { findSubscriber } from "./store";

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
