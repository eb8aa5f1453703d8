/* Removes secrets from texts that reach a log, a report or a terminal, wherever they were pasted. */

// Secrets that must not reach a log, wherever they were pasted: values of keys and texts that begin
// like one, tokens of sessions, one-time links, heartbeats, reports about mails, links in mails and links to
// private pages, and the query parameters `access_token` and `code`, with which a provider confirms a sign-in. Also
// addresses that the list of subscribers is searched for.
const SECRETS =
  /allclear_[0-9A-Za-z]{20,}|(?<![0-9A-Za-z])[0-9A-Za-z]{43}(?![0-9A-Za-z])|(\/admin\/(?:setup|join)\/|\/status\/[^/?#\s]*\/with\/|\/heartbeats\/|\/api\/push\/|\/ping\/|\/mail\/(?:bounces|confirm|manage|unsubscribe|decline|alerts)\/)[^/?#\s]+|(\/admin\/subscribers\/?\?)[^#\s]+|((?:^|[?&])(?:access_token|code)=)[^&\s]*/g;

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
