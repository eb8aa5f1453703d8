/* Mails that answer sign-ups. */
import type { SubscriberEvent } from "../../base/mail-address";
import type { Reader } from "../../db/statements";
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
import { pageUrl } from "../pages/addresses";
import { findPage, type PageRow } from "../pages/store";
import { existingChoices, namesOfTargets, readChoosable } from "./choices";
import { mailLink } from "./links";
import { findRequest, findSubscriber, type RequestRow } from "./store";

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
    const subject = `Confirm your subscription to ${page.name}`;
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
    const subject = `You are subscribed already to ${page.name}`;
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

/** Page of a sign-up, with what was chosen in words such as "Checkout API" or "Incidents". */
interface SignUp {
  page: { name: string; locale: string; url: string; footer: string | null };
  /** Names of the chosen components and groups, empty if they were removed; null for the whole page. */
  targets: readonly string[] | null;
  /** Chosen kinds of events, as words. */
  events: readonly string[];
}

/** Number of chosen components and groups listed by name. */
const TARGETS_MAX = 20;

/** Returns the mail that asks a visitor to confirm a subscription. */
export function confirmationLetter(
  signUp: SignUp,
  links: { confirm: string; decline: string },
): Letter {
  const { page } = signUp;
  return {
    locale: page.locale,
    sender: page.name,
    preheader: "Open the link within 7 days to get updates by e-mail.",
    tone: "none",
    blocks: [
      title("Confirm your subscription"),
      paragraph(
        "Someone, probably you, asked for updates about ",
        { name: page.name },
        " at this address. Open the link within 7 days and confirm.",
      ),
      ...choiceBlocks(signUp),
      button("Confirm the subscription", links.confirm),
      muted("If you did not ask for this, do nothing. Without a confirmation you get no updates."),
    ],
    footer: [
      link("Never send such mails to this address", links.decline),
      ...footerOf(page.footer),
    ],
  };
}

/** Returns the mail for an address that is subscribed and was typed into the form again. */
function alreadySubscribedLetter(
  signUp: SignUp,
  links: { manage: string; confirm: string },
): Letter {
  const { page } = signUp;
  return {
    locale: page.locale,
    sender: page.name,
    preheader: "Nothing has changed.",
    tone: "none",
    blocks: [
      title("You are subscribed already"),
      paragraph(
        "This address gets updates about ",
        { name: page.name },
        " already, and was typed into its form again. Nothing has changed.",
      ),
      link("Manage or unsubscribe", links.manage),
      heading("To use the new choices instead, confirm them within 7 days"),
      ...choiceBlocks(signUp),
      button("Confirm the new choices", links.confirm),
      muted("If you did not fill in the form, do nothing. Your subscription stays as it is."),
    ],
    footer: footerOf(page.footer),
  };
}

function choiceBlocks({ targets, events }: SignUp): Block[] {
  return [paragraph("About: ", ...targetNames(targets)), paragraph(`Events: ${events.join(", ")}`)];
}

function targetNames(targets: SignUp["targets"]): Inline[] {
  if (targets === null) return ["everything on the page"];
  if (targets.length === 0) return ["no component, since those of the selection were removed"];
  const left = targets.length - TARGETS_MAX;
  return [
    ...targets
      .slice(0, TARGETS_MAX)
      .flatMap((name, index) => [...(index > 0 ? [", "] : []), { name }]),
    ...(left > 0 ? [` and ${left} more`] : []),
  ];
}
