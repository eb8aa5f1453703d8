import { STATUS_CODES } from "node:http";
import type { Failure } from "../../features/webhooks/health";

type TryAnswer = Omit<Failure, "at">;

/** Returns the response of an attempt as text: "503 Service Unavailable", or the reason for a missing response. */
export function describeFailure({ statusCode, error }: TryAnswer): string {
  return error ?? (statusCode === null ? "No response" : nameOf(statusCode));
}

/** Returns the reason of a failed attempt as a sentence. */
export function reasonOf({ statusCode, error }: TryAnswer): string {
  // A mail relay's reply has a code and words.
  if (statusCode !== null && error !== null)
    return `The mail relay answered: ${error}`.replace(/(?<!\.)$/, ".");
  if (statusCode !== null) return `The endpoint answered ${nameOf(statusCode)}.`;
  return error === null ? "The endpoint did not answer." : error.replace(/(?<!\.)$/, ".");
}

/** Returns the next step after a failed attempt as a sentence; undefined if the reason itself names one. */
export function adviceFor({ statusCode, error }: TryAnswer): string | undefined {
  if (statusCode !== null && error !== null) return CHECK_ADDRESS;
  if (statusCode !== null) return adviceForStatus(statusCode);
  if (error === null) return CHECK_RECEIVER;
  return ADVICE_BY_REASON.find(([reason]) => reason.test(error))?.[1];
}

function nameOf(statusCode: number): string {
  if (statusCode === ACCEPTED_BY_RELAY) return `${statusCode} Accepted by the relay`;
  const phrase = STATUS_CODES[statusCode];
  return phrase === undefined ? `status ${statusCode}` : `${statusCode} ${phrase}`;
}

const CHECK_RECEIVER =
  "Check that the receiver runs, and that this server can reach the host and port of the URL.";
/** Reply of a mail relay that took a mail. */
const ACCEPTED_BY_RELAY = 250;

const CHECK_ADDRESS = "Check the address, and the log of the mail relay.";
const CHECK_HOST = "Check the host in the URL.";
const READ_RESPONSE = "Open a delivery to read the response, which may give the reason.";

function adviceForStatus(statusCode: number): string {
  if (statusCode >= 300 && statusCode < 400) {
    return "Redirects are not followed, so enter the final URL.";
  }
  switch (statusCode) {
    case 401:
    case 403:
      return "Check the URL, and the token or password if the webhook has one.";
    case 404:
    case 405:
      return "Check the path in the URL.";
    case 410:
      return "The receiver accepts no more events: enter another URL, or delete the webhook.";
    case 413:
      return "Allow requests of 20 KB on the receiver.";
    case 429:
      return "The receiver limits requests: raise its limit, or select fewer events.";
    default:
      return statusCode >= 500 ? "Check the log of the receiver." : READ_RESPONSE;
  }
}

/** Advice by the messages of outgoing requests. A message with its own advice has no entry. */
const ADVICE_BY_REASON: readonly [RegExp, string][] = [
  [
    /certificate|TLS/,
    "Renew or correct the certificate of the receiver, or check the host in the URL.",
  ],
  [/^The (name|host has no|host is neither)/, CHECK_HOST],
  [/^Timed out/, "The receiver must answer within 15 seconds. Check that the receiver runs."],
  [/^The (connection|host did not answer)|no route|does not allow/, CHECK_RECEIVER],
  [
    /^The message could not be written/,
    "Check the settings of the webhook, and the log of this server.",
  ],
];
