import { expect, test } from "bun:test";
import { EVENTS, type EventType, type RecordedEvent } from "../../../../src/events/outbox";
import { renderLetter } from "../../../../src/features/mail/letter";
import { toMessage } from "../../../../src/features/mail/compose";
import { alertLetter, alertSubject } from "../../../../src/features/webhooks/formats/email";
import { buildNotification } from "../../../../src/features/webhooks/formats/notification";
import { parseMails } from "../../../support/parsed-mail";
import { collectEvents } from "../../../support/webhook-events";
import { contextFor, incidentEvent } from "../../../support/webhook-formats";

/** Returns the message of an event as the relay gets it. */
function messageOf(event: RecordedEvent, pageName = "Acme"): Uint8Array {
  const context = { ...contextFor("email"), pageName };
  const notification = buildNotification(event, context);
  if (!notification) throw new Error(`${event.type} has no notification`);
  return toMessage({
    from: { name: "Allclear", address: "status@example.com" },
    replyTo: null,
    to: "oncall@example.com",
    subject: alertSubject(notification, context),
    ...renderLetter(alertLetter(event, notification, context)),
    headers: {},
    messageId: "<eml_1@example.com>",
    date: event.at,
  });
}

test("the mails of all events are without defects, with the same facts in both parts", async () => {
  const events = await collectEvents();
  const types = Object.keys(EVENTS) as EventType[];
  const parsed = await parseMails(types.map((type) => messageOf(events[type])));
  for (const [index, mail] of parsed.entries()) {
    expect(mail.defects).toEqual([]);
    expect(mail.parts.map(({ type }) => type)).toEqual(["text/plain", "text/html"]);
    expect(mail.headers["Subject"]?.[0]).toStartWith("[Acme] ");
    const [text, html] = mail.parts.map((part) => part.text);
    const links = [...(text ?? "").matchAll(/View the [^:]*: (\S+)/g)].map(([, url]) => url);
    expect(links, types[index]).toHaveLength(1);
    expect(html).toContain(`href="${links[0]}"`);
  }
});

test("hostile names and texts add no header, and mails stay within their limits", async () => {
  const names = [
    "x\r\nBcc: eve@example.com\r\n\r\nhello",
    "a\u202eb\u0000c",
    "دفع",
    "🧨".repeat(300),
    "=?UTF-8?Q?x?=",
    `<script>alert(1)</script>${"w".repeat(2_000)}`,
  ];
  const messages = names.map((name) =>
    messageOf(incidentEvent(name, `${name}\n.\n`.repeat(3_000)), name),
  );
  const parsed = await parseMails(messages);
  for (const [index, mail] of parsed.entries()) {
    expect(mail.defects).toEqual([]);
    expect(Object.keys(mail.headers)).not.toContain("Bcc");
    expect(mail.headers["To"]).toEqual(["oncall@example.com"]);
    expect(Array.from(mail.headers["Subject"]?.[0] ?? "").length).toBeLessThanOrEqual(150);
    expect(mail.longestLine).toBeLessThanOrEqual(998);
    expect(messages[index]?.byteLength).toBeLessThanOrEqual(80 * 1024);
    expect(mail.parts[1]?.text).not.toContain("<script");
  }
});
