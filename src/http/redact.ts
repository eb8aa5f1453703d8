const SECRETS = /allclear_[0-9A-Za-z]{20,}|((?:^|[?&])access_token=)[^&\s]*/g;

/** A path with its query as a log may keep it: what could be a key is gone. */
export function redactUrl(pathAndQuery: string): string {
  let readable = pathAndQuery;
  try {
    readable = decodeURIComponent(pathAndQuery);
  } catch {
    // Left as it came: what does not decode is searched as it stands.
  }
  const redacted = readable.replace(SECRETS, (_match, name: string | undefined) =>
    name === undefined ? "[redacted]" : `${name}[redacted]`,
  );
  return redacted === readable ? pathAndQuery : redacted;
}
