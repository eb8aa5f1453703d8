import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Secret } from "../../../base/secrets";
import { SECOND_MS } from "../../../base/time";
import { type Format, jsonMessage } from "./format";
import { clipTo, fittedMessage, PLAIN, writeBlocks } from "./markup";
import { buildNotification } from "./notification";
import type { Tone } from "../../../base/status";

/**
 * ntfy (docs.ntfy.sh/publish/#publish-as-json). Only its web app shows Markdown, so messages are
 * plain text. JSON is sent to the root of the server with the topic as a field.
 */

/** Bytes (docs.ntfy.sh/publish/#limitations). Longer messages arrive as an attached file. */
const MESSAGE_MAX = 4_096;
/** Bytes that the server reads of a JSON body: twice a message (`transformBodyJSON`). */
const BODY_MAX = 2 * MESSAGE_MAX;
const TITLE_MAX = 250;

/** Emoji (docs.ntfy.sh/emojis) that replace colours. */
const TAGS: Readonly<Record<Tone, string>> = {
  ok: "green_circle",
  maint: "large_blue_circle",
  degraded: "yellow_circle",
  partial: "orange_circle",
  major: "red_circle",
  none: "white_circle",
};

/** docs.ntfy.sh/publish/#message-priority: 3 is the default, 5 the most urgent. */
const PRIORITIES: Readonly<Partial<Record<Tone, number>>> = { major: 5, partial: 4 };

const Settings = Type.Object(
  {
    token: Type.Optional(
      Secret({
        minLength: 1,
        maxLength: 255,
        pattern: "^[!-~]+$",
        description: "Access token, if the topic needs one.",
        examples: ["tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"],
      }),
    ),
    authorization: Type.Optional(
      Secret({
        minLength: 1,
        maxLength: 1_000,
        pattern: "^[!-~](?:[ -~]*[!-~])?$",
        description:
          "Value of the header Authorization in the place of an access token, such as Basic and the Base64 of a user name and a password.",
        examples: ["Basic dXNlcjpwYXNzd29yZA=="],
      }),
    ),
  },
  { additionalProperties: false },
);

/** Matches the path before the topic, and the topic by the pattern of ntfy's server. */
const TOPIC_PATH = /^(.*\/)([-_A-Za-z0-9]{1,64})$/;

export const ntfy: Format = {
  name: "ntfy",
  label: "ntfy",
  hint: "The URL of a topic, such as https://ntfy.sh/my-secret-topic. Everyone who knows the topic can read it.",
  settings: Settings,
  pace: [{ burst: 60, everyMs: 5 * SECOND_MS }],
  validate(url, { token, authorization }): FieldError[] {
    const { pathname, search } = new URL(url);
    const errors: FieldError[] = [];
    if (!TOPIC_PATH.test(pathname) || search !== "") {
      const detail = "must be a topic's URL, such as https://ntfy.sh/my-topic, without a query";
      errors.push({ pointer: pointer("url"), detail });
    }
    if (token !== undefined && authorization !== undefined) {
      const detail = "takes the place of the token: remove one of them";
      errors.push({ pointer: pointer("settings", "authorization"), detail });
    }
    return errors;
  },
  write(event, context) {
    const notification = buildNotification(event, context);
    if (!notification) return undefined;
    const { title, tone, url, source } = notification;
    const { token, authorization = token && `Bearer ${token}` } = context.settings as Static<
      typeof Settings
    >;
    const { origin, pathname } = new URL(context.url);
    const [, root = "/", topic = ""] = TOPIC_PATH.exec(pathname) ?? [];
    const write = (message: string) =>
      jsonMessage(
        {
          topic,
          title: clipTo(title, TITLE_MAX),
          message,
          priority: PRIORITIES[tone] ?? 3,
          tags: [TAGS[tone]],
          click: url,
        },
        {
          url: origin + root,
          headers: authorization === undefined ? {} : { authorization },
        },
      );
    const message = fittedMessage(
      notification,
      (blocks) => `${writeBlocks(blocks, PLAIN)}\n\n${source}`.trim(),
      (text) =>
        Buffer.byteLength(text) <= MESSAGE_MAX && Buffer.byteLength(write(text).body) <= BODY_MAX,
    );
    return write(message);
  },
};
