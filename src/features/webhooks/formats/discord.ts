import { Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../base/time";
import { type Format, jsonMessage } from "./format";
import { clipTo, fitted, fittedMessage, MARKDOWN, paragraph, writeBlocks } from "./markup";
import { buildNotification } from "./notification";
import { TONE_COLOURS } from "../../../base/status";

/**
 * Limits of Discord (docs.discord.com/developers/resources/webhook#execute-webhook and
 * …/resources/message#embed-object-embed-limits). All texts of an embed together are below the
 * limit of 6,000.
 */
const TITLE_MAX = 256;
const DESCRIPTION_MAX = 4_096;
const FOOTER_MAX = 512;

const HOSTS: ReadonlySet<string> = new Set(["discord.com", "discordapp.com"]);
const PATH = /^\/api\/(v\d+\/)?webhooks\/\d+\/[\w-]+\/?$/;

/**
 * Returns the address in a version of the API whose 429 names seconds. Discord's own URLs name no version, and the
 * default one names milliseconds: docs.discord.com/developers/reference#api-versioning.
 */
function versioned(url: string): string {
  const { hostname, pathname } = new URL(url);
  return HOSTS.has(hostname) && PATH.test(pathname)
    ? url.replace(/\/api\/(v\d+\/)?webhooks\//, "/api/v10/webhooks/")
    : url;
}

export const discord: Format = {
  name: "discord",
  label: "Discord",
  hint: "In the channel's settings, under Integrations → Webhooks, create a webhook and copy its URL.",
  settings: Type.Object({}, { additionalProperties: false }),
  openPath: /^\/api\/(v\d+\/)?webhooks\//,
  pace: [
    { count: 5, inMs: 2 * SECOND_MS },
    { count: 30, inMs: MINUTE_MS },
  ],
  pauseField: ["retry_after"],
  destination: ({ href }) => versioned(href),
  validate(url): FieldError[] {
    const { hostname, pathname } = new URL(url);
    if (!HOSTS.has(hostname) || PATH.test(pathname)) return [];
    // URLs that end in /slack or /github accept the formats of other services.
    const detail =
      "must be the URL of a webhook, such as https://discord.com/api/webhooks/…/…, with nothing after it";
    return [{ pointer: pointer("url"), detail }];
  },
  write(event, context) {
    const notification = buildNotification(event, context);
    if (!notification) return undefined;
    const { title, tone, url, source } = notification;
    const description = fittedMessage(
      notification,
      (blocks) => writeBlocks(blocks, MARKDOWN),
      ({ length }) => length <= DESCRIPTION_MAX,
    );
    const message = {
      // No text of the message can mention anyone.
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: fitted(
            [paragraph(title)],
            (part) => writeBlocks(part, MARKDOWN),
            ({ length }) => length <= TITLE_MAX,
          ),
          url,
          ...(description === "" ? {} : { description }),
          color: Number.parseInt(TONE_COLOURS[tone].slice(1), 16),
          footer: { text: clipTo(source, FOOTER_MAX) },
          timestamp: toIso(event.at),
        },
      ],
    };
    return jsonMessage(message, { url: versioned(context.url) });
  },
};
