const HERE = "https://here.invalid";

/**
 * Returns a link's target if it is safe, else undefined, which renders a link without a target. Safe are
 * paths of this site, and http and https without user name and password. Rejects `javascript:`, `data:`,
 * `//host` and everything that browsers read as one of these.
 */
export function safeHref(url: string): string | undefined {
  // Browsers remove tabs and line breaks, and read a backslash as a slash.
  // oxlint-disable-next-line no-control-regex -- the pattern is for control characters
  if (/[\u0000-\u0020\\]/.test(url)) return undefined;
  const isOfThisSite = /^[/?#]/.test(url);
  if (!isOfThisSite && !/^https?:\/\//i.test(url)) return undefined;
  const parsed = URL.parse(url, HERE);
  if (!parsed || parsed.username !== "" || parsed.password !== "") return undefined;
  return isOfThisSite === (parsed.origin === HERE) ? url : undefined;
}
