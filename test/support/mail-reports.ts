/** Parts of a delivery status that a test chooses. */
interface BounceOptions {
  /** Address to which the report is sent: the envelope sender of the mail. */
  to?: string;
  recipient?: string;
  action?: string;
  status?: string;
  diagnostic?: string;
  envelopeId?: string;
  /** Lines of the header of the mail that came back. */
  returned?: readonly string[];
}

/** Writes a delivery status as Postfix does, with the header of the mail alone. */
export function bounceMessage({
  to = "status@example.com",
  recipient = "ada@example.com",
  action = "failed",
  status = "5.1.1",
  diagnostic = `smtp; 550 5.1.1 <${recipient}>: Recipient address rejected: User unknown in local recipient table`,
  envelopeId,
  returned = ["From: Northwind <status@example.com>", "Subject: Checkout is slow"],
}: BounceOptions): string {
  const boundary = "4cXyZ12bKq.1764033600/mx.example.com";
  return [
    "Return-Path: <>",
    "Received: by mx.example.com (Postfix) id 4cXyZ12bKq; Mon, 23 Nov 2026 01:00:00 +0000 (UTC)",
    "Date: Mon, 23 Nov 2026 01:00:00 +0000 (UTC)",
    "From: MAILER-DAEMON@mx.example.com (Mail Delivery System)",
    "Subject: Undelivered Mail Returned to Sender",
    `To: ${to}`,
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    "Content-Type: multipart/report; report-type=delivery-status;",
    `\tboundary="${boundary}"`,
    "",
    "This is a MIME-encapsulated message.",
    "",
    `--${boundary}`,
    "Content-Description: Notification",
    "Content-Type: text/plain; charset=utf-8",
    "",
    "This is the mail system at host mx.example.com.",
    "",
    `<${recipient}>: ${diagnostic}`,
    "",
    `--${boundary}`,
    "Content-Description: Delivery report",
    "Content-Type: message/delivery-status",
    "",
    ...(envelopeId === undefined ? [] : [`Original-Envelope-Id: ${envelopeId}`]),
    "Reporting-MTA: dns; mx.example.com",
    "X-Postfix-Queue-ID: 4cXyZ12bKq",
    "Arrival-Date: Mon, 23 Nov 2026 00:59:59 +0000 (UTC)",
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    `Original-Recipient: rfc822;${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
    "",
    `--${boundary}`,
    "Content-Description: Undelivered Message Headers",
    "Content-Type: text/rfc822-headers",
    "",
    ...returned,
    "",
    `--${boundary}--`,
    "",
  ].join("\r\n");
}

/** Writes a complaint (RFC 5965) about a mail with these lines in its header. */
export function complaintMessage(
  returned: readonly string[],
  { type = "abuse", fields = [] }: { type?: string; fields?: readonly string[] } = {},
): string {
  return [
    "From: <complaints@provider.example>",
    "To: <bounces@example.com>",
    "Subject: FW: Checkout is slow",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="part"',
    "",
    "--part",
    'Content-Type: text/plain; charset="US-ASCII"',
    "",
    "This is an email abuse report.",
    "",
    "--part",
    "Content-Type: message/feedback-report",
    "",
    `Feedback-Type: ${type}`,
    "User-Agent: SomeGenerator/1.0",
    "Version: 1",
    ...fields,
    "",
    "--part",
    "Content-Type: message/rfc822",
    "Content-Disposition: inline",
    "",
    ...returned,
    "",
    "Spam, spam.",
    "--part--",
    "",
  ].join("\r\n");
}
