import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Secret } from "../../../base/secrets";
import { SECOND_MS } from "../../../base/time";
import { type Format, jsonMessage } from "./format";
import { MARKDOWN, writeBlocks } from "./markup";
import { buildNotification } from "./notification";
import type { Tone } from "../../../base/status";

/**
 * Gotify (gotify.net/docs/pushmsg, gotify.net/docs/msgextras) has no limit of a message's length.
 * Its Markdown is CommonMark, in which a backslash ends a line.
 */
const COMMONMARK = { ...MARKDOWN, newline: "\\\n" };

/** Priorities of its Android client: from 4 with a sound, from 8 as a pop-up. */
const PRIORITIES: Readonly<Partial<Record<Tone, number>>> = { major: 8, partial: 7 };
const PRIORITY = 5;

const Settings = Type.Object(
  {
    token: Secret({
      minLength: 1,
      maxLength: 255,
      pattern: "^[!-~]+$",
      description: "Token of an application.",
      examples: ["AWnhsVvNnMtXp3q"],
    }),
  },
  { additionalProperties: false },
);

export const gotify: Format = {
  name: "gotify",
  label: "Gotify",
  hint: "The address of your Gotify server, and the token of an application that you create under Apps.",
  settings: Settings,
  pace: [{ count: 10, inMs: SECOND_MS }],
  validate(url): FieldError[] {
    // A token in the URL would be shown with the URL.
    if (new URL(url).search === "") return [];
    return [{ pointer: pointer("url"), detail: "must have no query; the token is a setting" }];
  },
  write(event, context) {
    const notification = buildNotification(event, context);
    if (!notification) return undefined;
    const { title, tone, facts, body, components, url, source } = notification;
    const { token } = context.settings as Static<typeof Settings>;
    const { origin, pathname } = new URL(context.url);
    const text = writeBlocks([...facts, ...body, ...components], COMMONMARK);
    return jsonMessage(
      {
        title,
        message: [text, MARKDOWN.text(source)].filter((part) => part !== "").join("\n\n"),
        priority: PRIORITIES[tone] ?? PRIORITY,
        extras: {
          "client::display": { contentType: "text/markdown" },
          "client::notification": { click: { url } },
        },
      },
      {
        url: `${origin}${pathname.replace(/\/(message\/?)?$/, "")}/message`,
        headers: { "x-gotify-key": token },
      },
    );
  },
};
