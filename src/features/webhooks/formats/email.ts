import { Type } from "@sinclair/typebox";
import type { Letter } from "../../mail/letter/letter";
import { renderLetter } from "../../mail/letter/render";
import type { Format } from "./format";
import { alertLetter, alertSubject } from "./email-letter";
import { buildNotification } from "./notification";

/**
 * E-mail to people. The message here is its text part. It is sent through the mail relay by `alerts/`, with an
 * HTML part and more headers.
 */
export const email: Format = {
  name: "email",
  label: "E-mail",
  hint: "One address, in the API as mailto:oncall@example.com. If it is not the address of a user, its owner must confirm by a link in a mail.",
  settings: Type.Object({}, { additionalProperties: false }),
  secretSettings: [],
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
