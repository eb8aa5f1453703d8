/** Mail of a written update in an application without a relay. */
export const MAIL_OFF = {
  state: "off",
  reason: "Mail cannot be sent: it needs an SMTP relay and a sender.",
};

/** Returns an answer to a write as later reads show it: without the mail. */
export function withoutMail<Answer>(answer: Answer): Answer {
  return JSON.parse(
    JSON.stringify(answer, (field, value: unknown) => (field === "mail" ? undefined : value)),
  ) as Answer;
}
