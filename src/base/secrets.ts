import { DAY_MS } from "./time";

/*
 * Descriptions of secrets in the plan of a configuration file, which must not show their values. A
 * secret that is null or missing in the file stays as it is; an empty text removes it.
 */

/** Describes any secret. */
export const SECRET = "a secret";
/** Describes a secret that replaces another. */
export const ANOTHER_SECRET = "another secret";
/** Error of a secret that should stay as it is, but is not stored. */
export const MISSING_SECRET =
  "is a secret that is not known here yet: give it, such as ${NAME} of a variable";

/** Describes a stored secret, which may be undefined, and the secret of a file. */
export function describeSecretChange(
  stored: unknown,
  declared: unknown,
): { current: string | null; desired: string | null } {
  const current = stored === undefined ? null : SECRET;
  if (declared === undefined || declared === null || declared === stored)
    return { current, desired: current };
  if (declared === "") return { current, desired: null };
  return { current, desired: current === null ? SECRET : ANOTHER_SECRET };
}

// Secrets that must not reach a log, wherever they were pasted: values of keys and texts that begin
// like one, tokens of sessions, one-time links, heartbeats, reports about mails and links in mails, and the
// query parameter `access_token`. Also addresses that the list of subscribers is searched for.
const SECRETS =
  /allclear_[0-9A-Za-z]{20,}|(?<![0-9A-Za-z])[0-9A-Za-z]{43}(?![0-9A-Za-z])|(\/admin\/(?:setup|join)\/|\/heartbeats\/|\/api\/push\/|\/ping\/|\/mail\/(?:bounces|confirm|manage|unsubscribe|decline|alerts)\/)[^/?#\s]+|(\/admin\/subscribers\/?\?)[^#\s]+|((?:^|[?&])access_token=)[^&\s]*/g;

/** Removes everything from a path with its query that may be a secret, also if it is percent-encoded. */
export function redactUrl(pathAndQuery: string): string {
  const readable = decodeLeniently(pathAndQuery);
  const redacted = redactText(readable);
  return redacted === readable ? pathAndQuery : redacted;
}

/** Removes everything from a text that may be a secret. */
export function redactText(text: string): string {
  return text.replace(
    SECRETS,
    (_match, ...[link, list, name]: (string | undefined)[]) =>
      `${link ?? list ?? name ?? ""}[redacted]`,
  );
}

/** Decodes percent-encoded printable ASCII until nothing changes. Invalid escapes stay. */
function decodeLeniently(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return decoded === text ? text : decodeLeniently(decoded);
}

/** Remaining time below which the dashboard warns about the expiry of a certificate or an API key. */
export const EXPIRES_SOON_MS = 14 * DAY_MS;
