// A key's value, the token of a link that works once, and what was meant to be a token.
const SECRETS =
  /allclear_[0-9A-Za-z]{20,}|(\/admin\/(?:setup|join)\/)[^/?#\s]+|((?:^|[?&])access_token=)[^&\s]*/g;

/** A path with its query as a log may keep it: what could be a key is gone, however it is encoded. */
export function redactUrl(pathAndQuery: string): string {
  const readable = decodeLeniently(pathAndQuery);
  const redacted = readable.replace(
    SECRETS,
    (_match, link: string | undefined, name: string | undefined) =>
      `${link ?? name ?? ""}[redacted]`,
  );
  return redacted === readable ? pathAndQuery : redacted;
}

/** Decodes printable ASCII until nothing changes. What does not decode stays: this is for searching. */
function decodeLeniently(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return decoded === text ? text : decodeLeniently(decoded);
}
