/* Mails that answer sign-ups. */
import type { SubscriberEvent } from "../../base/mail-address";
import type { Reader } from "../../db/statements";
import { type Words, wordsOf } from "../../languages/words";
import {
  type ComposedMail,
  composeMail,
  type TemplateEnvironment,
  type Templates,
} from "../mail/compose";
import {
  type Block,
  button,
  footerOf,
  heading,
  type Inline,
  type Letter,
  link,
  muted,
  paragraph,
  renderLetter,
  title,
} from "../mail/letter";
import type { MailRow } from "../mail/store";
import { findSuppression } from "../mail/suppressions";
import { addressHmac, findMailKey, type LinkPurpose, tokenOf } from "../mail/tokens";
import { mailSettingsOf, takesSubscribers } from "../pages/mail";
import { languageFor } from "../pages/rules";
import { findPage, type PageRow } from "../pages/store";
import { existingChoices, namesOfTargets, readChoosable } from "./choices";
import { mailLink } from "./links";
import { findRequest, findSubscriber, type RequestRow } from "./store";

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
    const subject = signUp.words.t("mail.confirm_subject", { page: page.name });
    return write(mail, env, page, subject, confirmationLetter(signUp, links));
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
    const subject = signUp.words.t("mail.already_subject", { page: page.name });
    return write(mail, env, page, subject, alreadySubscribedLetter(signUp, links));
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
  const { scope, targets, events, language } = existingChoices(request.choices, choosable);
  const { footer } = mailSettingsOf(page);
  const { name } = page;
  return {
    request,
    page,
    signUp: {
      words: wordsOf(languageFor(page, language)),
      page: { name, footer },
      targets: scope === "page" ? null : namesOfTargets(targets, choosable),
      events,
    },
    linkTo: (purpose, subject) => mailLink(baseUrl, page, purpose, tokenOf(key, purpose, subject)),
  };
}

/** True if the address was blocked or declined mails since the mail was queued. */
function isRefused(reader: Reader, hmac: string, pageId: string): boolean {
  return findSuppression(reader, { addressHmac: hmac, pageId, kind: "confirmation" }) !== undefined;
}

function write(
  mail: MailRow,
  env: TemplateEnvironment,
  page: PageRow,
  subject: string,
  letter: Letter,
): ComposedMail {
  const { from_name: fromName, reply_to: replyTo } = mailSettingsOf(page);
  return composeMail(mail, env, {
    fromName: fromName ?? page.name,
    replyTo,
    subject,
    ...renderLetter(letter),
  });
}

/** Page of a sign-up, with what was chosen, and the words for the mail. */
interface SignUp {
  words: Words;
  page: { name: string; footer: string | null };
  /** Names of the chosen components and groups, empty if they were removed; null for the whole page. */
  targets: readonly string[] | null;
  events: readonly SubscriberEvent[];
}

/** Number of chosen components and groups listed by name. */
const TARGETS_MAX = 20;

/** Returns the mail that asks a visitor to confirm a subscription. */
export function confirmationLetter(
  signUp: SignUp,
  links: { confirm: string; decline: string },
): Letter {
  const { page, words } = signUp;
  const { t } = words;
  return {
    words,
    sender: page.name,
    preheader: t("mail.confirm_preheader"),
    tone: "none",
    blocks: [
      title(t("confirm.title")),
      paragraph(...words.parts<Inline>("mail.confirm_text", { page: { name: page.name } })),
      ...choiceBlocks(signUp),
      button(t("mail.confirm_button"), links.confirm),
      muted(t("mail.confirm_ignore")),
    ],
    footer: [link(t("mail.decline"), links.decline), ...footerOf(page.footer)],
  };
}

/** Returns the mail for an address that is subscribed and was typed into the form again. */
function alreadySubscribedLetter(
  signUp: SignUp,
  links: { manage: string; confirm: string },
): Letter {
  const { page, words } = signUp;
  const { t } = words;
  return {
    words,
    sender: page.name,
    preheader: t("mail.already_preheader"),
    tone: "none",
    blocks: [
      title(t("mail.already_title")),
      paragraph(...words.parts<Inline>("mail.already_text", { page: { name: page.name } })),
      link(t("mail.manage"), links.manage),
      heading(t("mail.already_choices")),
      ...choiceBlocks(signUp),
      button(t("mail.already_button"), links.confirm),
      muted(t("mail.already_ignore")),
    ],
    footer: footerOf(page.footer),
  };
}

function choiceBlocks({ words: { t, parts }, targets, events }: SignUp): Block[] {
  const names = events.map((event) => t(`mail.event.${event}`)).join(t("list.separator"));
  return [
    targets === null
      ? paragraph(t("mail.about_all"))
      : targets.length === 0
        ? paragraph(t("mail.about_none"))
        : paragraph(
            ...parts<Inline | Inline[]>("mail.about", { names: namesOf(targets, t) }).flat(),
          ),
    paragraph(t("mail.events", { names })),
  ];
}

/** Returns the names of the first targets, and the number of the others. */
function namesOf(targets: readonly string[], t: Words["t"]): Inline[] {
  const left = targets.length - TARGETS_MAX;
  return [
    ...targets
      .slice(0, TARGETS_MAX)
      .flatMap((name, index) => [...(index > 0 ? [t("list.separator")] : []), { name }]),
    ...(left > 0 ? [` ${t("list.more", { count: left })}`] : []),
  ];
}
