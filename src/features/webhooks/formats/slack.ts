import { Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { SECOND_MS } from "../../../base/time";
import { type Format, jsonMessage } from "./format";
import {
  type Block,
  type Dialect,
  fitted,
  fittedMessage,
  paragraph,
  withoutMentions,
  writeBlocks,
} from "./markup";
import { buildNotification } from "./notification";
import { TONE_COLOURS } from "../../../base/status";

/**
 * Slack's incoming webhooks and compatible services, such as Mattermost. Only attachments have
 * colours: docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments.
 */

/** docs.slack.dev/reference/block-kit/composition-objects/text-object. */
const TEXT_MAX = 3_000;

/** mrkdwn: docs.slack.dev/messaging/formatting-message-text. */
const MRKDWN: Dialect = {
  text: escape,
  styled: {
    bold: (inner) => `*${inner}*`,
    italic: (inner) => `_${inner}_`,
    strike: (inner) => `~${inner}~`,
  },
  code: (text) => `\`${escapeEntities(text).replaceAll("`", "ˋ")}\``,
  codeBlock: (text) => `\`\`\`\n${escapeEntities(text).replaceAll("`", "ˋ")}\n\`\`\``,
  link: (href) => `<${escapeEntities(href)}>`,
  quote: (lines) => lines.replace(/^/gm, ">"),
  newline: "\n",
  marker: (marker) => `${marker} `,
  indent: "    ",
  rule: "———",
};

// mrkdwn has no escape for these characters. Between letters they have no meaning; elsewhere a
// lookalike replaces them.
const LOOKALIKES: Readonly<Record<string, string>> = { "*": "∗", _: "ˍ", "~": "∼", "`": "ˋ" };
const FORMATTING = /(?<![\p{L}\p{N}])[*_~`]|[*_~`](?![\p{L}\p{N}])/gu;

/** Escapes Slack's three control characters, so that `<!channel>` is text. */
function escapeEntities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function escape(text: string): string {
  return escapeEntities(withoutMentions(text))
    .replace(FORMATTING, (character) => LOOKALIKES[character] ?? character)
    .replace(/^&gt;/gm, "\u200b&gt;");
}

/** `verbatim` prevents links to channels and people. */
function mrkdwn(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}

export const slack: Format = {
  name: "slack",
  label: "Slack",
  hint: "Create an app at api.slack.com/apps, turn on Incoming Webhooks, add one to a channel, and paste its URL.",
  settings: Type.Object({}, { additionalProperties: false }),
  openPath: /^\/(services|workflows)\//,
  pace: [{ count: 1, inMs: SECOND_MS }],
  validate(url): FieldError[] {
    const { hostname, pathname } = new URL(url);
    const isWrong = hostname === "hooks.slack.com" && !/^\/(services|workflows)\//.test(pathname);
    return isWrong
      ? [{ pointer: pointer("url"), detail: "must be the URL of an incoming webhook" }]
      : [];
  },
  write(event, context) {
    const notification = buildNotification(event, context);
    if (!notification) return undefined;
    const { title, tone, url, source } = notification;
    const text = fittedMessage(
      notification,
      (blocks) => writeBlocks(blocks, MRKDWN),
      ({ length }) => length <= TEXT_MAX,
    );
    return jsonMessage({
      text: fitted([paragraph(title)], titleLinkingTo(url), ({ length }) => length <= TEXT_MAX),
      unfurl_links: false,
      unfurl_media: false,
      attachments: [
        {
          color: TONE_COLOURS[tone],
          fallback: escapeEntities(withoutMentions(title)),
          blocks: [
            ...(text === "" ? [] : [{ type: "section", text: mrkdwn(text) }]),
            { type: "context", elements: [mrkdwn(escape(source))] },
          ],
        },
      ],
    });
  },
};

function titleLinkingTo(url: string) {
  return (blocks: readonly Block[]) =>
    `*<${escapeEntities(url)}|${writeBlocks(blocks, MRKDWN).replaceAll("|", "¦")}>*`;
}
