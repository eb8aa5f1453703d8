import { type Block, footerOf, type Inline, type Letter } from "./letter";

/** Page of a sign-up, with what was chosen in words such as "Checkout API" or "Incidents". */
export interface SignUp {
  page: { name: string; locale: string; url: string; footer: string | null };
  /** Names of the chosen components and groups, empty if they were removed; null for the whole page. */
  targets: readonly string[] | null;
  /** Chosen kinds of events, as words. */
  events: readonly string[];
}

/** Number of chosen components and groups listed by name. */
const TARGETS_MAX = 20;

/** Subject of the mail that asks for a confirmation. */
export function confirmationSubject({ page }: SignUp): string {
  return `Confirm your subscription to ${page.name}`;
}

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
      { type: "title", text: ["Confirm your subscription"] },
      {
        type: "paragraph",
        text: [
          "Someone, probably you, asked for updates about ",
          { name: page.name },
          " at this address. Open the link within 7 days and confirm.",
        ],
      },
      ...choiceBlocks(signUp),
      { type: "button", label: "Confirm the subscription", url: links.confirm },
      {
        type: "paragraph",
        isMuted: true,
        text: [
          "If you did not ask for this, do nothing. Without a confirmation you get no updates.",
        ],
      },
    ],
    footer: [
      { type: "link", label: "Never send such mails to this address", url: links.decline },
      ...footerOf(page.footer),
    ],
  };
}

/** Subject of the mail for an address that is subscribed already. */
export function alreadySubscribedSubject({ page }: SignUp): string {
  return `You are subscribed already to ${page.name}`;
}

/** Returns the mail for an address that is subscribed and was typed into the form again. */
export function alreadySubscribedLetter(
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
      { type: "title", text: ["You are subscribed already"] },
      {
        type: "paragraph",
        text: [
          "This address gets updates about ",
          { name: page.name },
          " already, and was typed into its form again. Nothing has changed.",
        ],
      },
      { type: "link", label: "Manage or unsubscribe", url: links.manage },
      { type: "heading", text: ["To use the new choices instead, confirm them within 7 days"] },
      ...choiceBlocks(signUp),
      { type: "button", label: "Confirm the new choices", url: links.confirm },
      {
        type: "paragraph",
        isMuted: true,
        text: ["If you did not fill in the form, do nothing. Your subscription stays as it is."],
      },
    ],
    footer: footerOf(page.footer),
  };
}

function choiceBlocks({ targets, events }: SignUp): Block[] {
  return [
    { type: "paragraph", text: ["About: ", ...targetNames(targets)] },
    { type: "paragraph", text: [`Events: ${events.join(", ")}`] },
  ];
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
