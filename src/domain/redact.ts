// What must never stand in a log: the value of a key (or what was meant to be one), the token of a
// session, of a link that works once or of a heartbeat, wherever it was pasted, and what a query calls a token.
const SECRETS =
  /allclear_[0-9A-Za-z]{20,}|(?<![0-9A-Za-z])[0-9A-Za-z]{43}(?![0-9A-Za-z])|(\/admin\/(?:setup|join)\/|\/heartbeats\/)[^/?#\s]+|((?:^|[?&])access_token=)[^&\s]*/g;

/** A path with its query as a log may keep it: what could be a secret is gone, however it is encoded. */
export function redactUrl(pathAndQuery: string): string {
  const readable = decodeLeniently(pathAndQuery);
  const redacted = redactText(readable);
  return redacted === readable ? pathAndQuery : redacted;
}

/** A text as a log may keep it. */
export function redactText(text: string): string {
  return text.replace(
    SECRETS,
    (_match, link: string | undefined, name: string | undefined) =>
      `${link ?? name ?? ""}[redacted]`,
  );
}

/** Decodes printable ASCII until nothing changes. What does not decode stays: this is for searching. */
function decodeLeniently(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return decoded === text ? text : decodeLeniently(decoded);
}
