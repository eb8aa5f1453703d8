import { expect, test } from "bun:test";
import fc from "fast-check";
import { readMessage } from "../../../src/features/mail/read-message";
import { bounceMessage, complaintMessage } from "../../support/mail-reports";

const KINDS = ["hard", "soft", "complaint", "other"];
const bytes = new TextEncoder();

/** Pieces of which messages that are nearly right are made. */
const piece = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "\r\n",
    "\r\n\r\n",
    "--part",
    "--part--",
    "Content-Type: multipart/report; boundary=part",
    "Content-Type: message/delivery-status",
    "Content-Type: message/rfc822",
    "Content-Transfer-Encoding: base64",
    "Action: failed",
    "Status: 5.1.1",
    "Feedback-Type: abuse",
    "Diagnostic-Code: smtp;",
    "To: a+eml_01kah2v9w0e0rs6x0h3ye0a1bc-00000000@example.com",
    "\0",
    " ",
  ),
);

test("reading a message of any bytes never fails", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 2_000 }),
        fc.array(piece, { maxLength: 60 }).map((pieces) => bytes.encode(pieces.join(""))),
      ),
      async (raw) => {
        const finding = await readMessage(raw);
        if (finding !== "ignored") expect(KINDS).toContain(finding.kind);
      },
    ),
  );
});

test("a message that is damaged in any place is read", async () => {
  const id = "eml_01kah2v9w0e0rs6x0h3ye0a1bc";
  const messages = [
    bounceMessage({ envelopeId: id, returned: [`Message-ID: <${id}@example.com>`] }),
    complaintMessage([`Message-ID: <${id}@example.com>`]),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...messages),
      fc.nat(),
      fc.nat({ max: 20 }),
      fc.string(),
      async (message, at, removed, added) => {
        const from = at % message.length;
        const damaged = message.slice(0, from) + added + message.slice(from + removed);
        const finding = await readMessage(bytes.encode(damaged));
        if (finding !== "ignored") expect(KINDS).toContain(finding.kind);
      },
    ),
  );
});
