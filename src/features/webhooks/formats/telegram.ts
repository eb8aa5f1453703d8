import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import type { Tone } from "../../../base/status";
import { Text } from "../../../base/schema";
import { Secret } from "../../../base/secrets";
import { MINUTE_MS } from "../../../base/time";
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

/** Telegram's Bot API: core.telegram.org/bots/api#sendmessage. */

/** Maximum number of characters after the markup was read, here in UTF-16 units, the strictest reading. */
const TEXT_MAX = 4_096;
const TITLE_MAX = 1_000;

/** Emoji of each tone, since messages have no colours. */
const EMOJI: Readonly<Record<Tone, string>> = {
  ok: "🟢",
  maint: "🔵",
  degraded: "🟡",
  partial: "🟠",
  major: "🔴",
  none: "⚪",
};

/** core.telegram.org/bots/api#html-style. */
const HTML: Dialect = {
  text: (text) => escape(withoutMentions(text)),
  styled: {
    bold: (inner) => `<b>${inner}</b>`,
    italic: (inner) => `<i>${inner}</i>`,
    strike: (inner) => `<s>${inner}</s>`,
  },
  code: (text) => `<code>${escape(text)}</code>`,
  codeBlock: (text) => `<pre>${escape(text)}</pre>`,
  link: (href) => `<a href="${escape(href)}">${escape(href)}</a>`,
  quote: (lines) => `<blockquote>${lines}</blockquote>`,
  newline: "\n",
  marker: (marker) => `${marker} `,
  indent: "    ",
  rule: "———",
};

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

const Settings = Type.Object(
  {
    bot_token: Secret({
      minLength: 1,
      maxLength: 255,
      pattern: "^\\d+:[A-Za-z0-9_-]+$",
      description: "Token of the bot, from @BotFather.",
      examples: ["123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"],
    }),
    chat_id: Text({
      minLength: 1,
      maxLength: 64,
      pattern: "^(-?\\d+|@[A-Za-z0-9_]+)$",
      description: "Id of a chat, or name of a channel with @.",
      examples: ["-1001234567890"],
    }),
    message_thread_id: Type.Optional(
      Type.Integer({ minimum: 1, description: "Topic of a forum. Default: the chat itself." }),
    ),
  },
  { additionalProperties: false },
);

export const telegram: Format = {
  name: "telegram",
  label: "Telegram",
  hint: "The URL is https://api.telegram.org, or your own Bot API server. Create a bot with @BotFather and add it to the chat.",
  settings: Settings,
  pace: [{ count: 20, inMs: MINUTE_MS }],
  pauseField: ["parameters", "retry_after"],
  destination: (url, { bot_token, chat_id }) =>
    JSON.stringify([serverOf(url), bot_token, String(chat_id).toLowerCase()]),
  validate(url): FieldError[] {
    const { pathname, search } = new URL(url);
    // A token in the URL would be shown with the URL.
    if (search === "" && !/\/bot\d+(:|%3a)/i.test(pathname)) return [];
    const detail = "must end before /bot… and have no query; the token is a setting";
    return [{ pointer: pointer("url"), detail }];
  },
  write(event, context) {
    const notification = buildNotification(event, context);
    if (!notification) return undefined;
    const { title, tone, url, source } = notification;
    const settings = context.settings as Static<typeof Settings>;
    const { bot_token, ...where } = settings;
    const head = fitted(
      [paragraph(title)],
      (part) => `${EMOJI[tone]} <b><a href="${escape(url)}">${inline(part)}</a></b>`,
      (text) => shownLength(text) <= TITLE_MAX,
    );
    return jsonMessage(
      {
        ...where,
        text: fittedMessage(
          notification,
          (blocks) =>
            [head, writeBlocks(blocks, HTML), HTML.text(source)]
              .filter((paragraphs) => paragraphs !== "")
              .join("\n\n"),
          (text) => shownLength(text) <= TEXT_MAX,
        ),
        parse_mode: "HTML",
        link_preview_options: { is_disabled: true },
      },
      { url: `${serverOf(new URL(context.url))}/bot${bot_token}/sendMessage` },
    );
  },
};

/** Returns the address of a Bot API server without a slash at its end. */
function serverOf({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/$/, "");
}

/** Returns the length of a text without its tags, in which an entity is one character. */
function shownLength(html: string): number {
  return html.replace(/<[^>]*>/g, "").replace(/&(?:amp|lt|gt|quot);/g, "x").length;
}

function inline(blocks: readonly Block[]): string {
  return writeBlocks(blocks, HTML);
}
