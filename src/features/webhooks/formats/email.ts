import { Type } from "@sinclair/typebox";
import { COMPONENT_STATUSES, STATUS_TONES } from "../../../base/status";
import type { RecordedEvent } from "../../../events/outbox";
import { wordsOf } from "../../../languages/words";
import { headerText } from "../../mail/compose";
import {
  type Block,
  button,
  type ComponentEntry,
  heading,
  type Letter,
  muted,
  paragraph,
  renderLetter,
  title as titleBlock,
} from "../../mail/letter";
import type { Format, FormatContext } from "./format";
import { type Block as TextBlock, cleanLine, clipTo } from "./markup";
import { buildNotification, isResolved, nameOf, words } from "./notification";
import { type Data, oneOf, recordOf, recordsOf, textOf } from "./reading";

/**
 * E-mail to people. The message here is its text part. It is sent through the mail relay by `alerts/`, with an
 * HTML part and more headers.
 */
export const email: Format = {
  name: "email",
  label: "E-mail",
  hint: "One address, in the API as mailto:oncall@example.com. If it is not the address of a user, its owner must confirm by a link in a mail.",
  settings: Type.Object({}, { additionalProperties: false }),
  pace: [],
  validate: () => [],
  write(event, context) {
    const notification = buildNotification(event, context);
    if (!notification) return undefined;
    const letter: Letter = alertLetter(event, notification, context);
    return {
      headers: { Subject: alertSubject(notification, context) },
      body: renderLetter(letter).text,
    };
  },
};

type Notification = NonNullable<ReturnType<typeof buildNotification>>;

/** Maximum length of a subject with "Re: ", and of the page's name in a longer one. */
const SUBJECT_MAX = 146;
const PAGE_NAME_MAX = 50;

/** Returns the subject, which all mails about one object share: some mail programs thread by it. */
export function alertSubject(
  { name, title }: Notification,
  { pageName }: Pick<FormatContext, "pageName">,
): string {
  const subject = (page: string) => headerText(`[${page}] ${name || title}`);
  const whole = subject(pageName);
  return whole.length <= SUBJECT_MAX
    ? whole
    : clipTo(subject(clipTo(pageName, PAGE_NAME_MAX)), SUBJECT_MAX);
}

/** Returns the mail about an event, without its footer. */
export function alertLetter(
  event: RecordedEvent,
  notification: Notification,
  { gathered, pageName }: Pick<FormatContext, "gathered" | "pageName">,
): Letter {
  const { what, name, title, tone, facts, body, components, url, target, source } = notification;
  const entries = gathered ? [] : entriesOf(event);
  return {
    words: wordsOf("en"),
    sender: cleanLine(pageName),
    preheader: what,
    tone,
    blocks: [
      { type: "status", tone, text: [what] },
      titleBlock({ name: name || title }),
      ...facts.map((fact) => muted(textIn(fact))),
      ...(gathered ? textBlocks([...body, ...components]) : bodyBlocks(event, notification)),
      ...(entries.length > 0
        ? [heading("Components"), { type: "components", entries } as const]
        : []),
      muted({ name: source }),
      button(`View the ${target}`, url),
    ],
    footer: [],
  };
}

/** Returns the text of an update as it was written, or the plain text of other events. */
function bodyBlocks({ type, data }: RecordedEvent, { body, url }: Notification): Block[] {
  const written = recordOf(
    data,
    type === "incident.postmortem_published" ? "postmortem" : "latest_update",
  );
  const source = written && textOf(written, "body");
  if (body.length > 0 && source !== undefined) {
    const isCut = written?.["truncated"] === true;
    return [{ type: "markdown", source: isCut ? `${source} …` : source, url }];
  }
  return textBlocks(body);
}

function textBlocks(blocks: readonly TextBlock[]): Block[] {
  return blocks.map((block) => paragraph(textIn(block)));
}

function textIn({ spans }: TextBlock): string {
  return spans.map(({ text }) => text).join("");
}

/** Returns the components of an event, with their statuses while these still apply. */
function entriesOf({ type, data: whole }: RecordedEvent): ComponentEntry[] {
  const data = type === "monitor.reminder" ? (recordOf(whole, "monitor") ?? {}) : whole;
  const isIncident = type.startsWith("incident.");
  if (type === "incident.postmortem_published") return [];
  const isKnown =
    type.startsWith("monitor.") || (isIncident && type !== "incident.deleted" && !isResolved(data));
  const listed = recordsOf(data, "components").map((component) => entryOf(component, isKnown));
  return data["truncated"] === true && listed.length > 0
    ? [...listed, { name: "and more", status: "", tone: "none" }]
    : listed;
}

function entryOf(component: Data, isKnown: boolean): ComponentEntry {
  const status = isKnown ? textOf(component, "status") : undefined;
  const known = oneOf(COMPONENT_STATUSES, status);
  return {
    name: cleanLine(nameOf(component)),
    status: status === undefined ? "" : words(status),
    tone: known ? STATUS_TONES[known] : "none",
  };
}
