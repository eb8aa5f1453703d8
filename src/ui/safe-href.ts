const HERE = "https://here.invalid";

/**
 * A link's target if it may be one, else undefined, which renders a link that leads nowhere: http and
 * https without a name or password in it, and paths of this site. `javascript:`, `data:`, `//host` and
 * whatever a browser would read as one of them are refused.
 */
export function safeHref(url: string): string | undefined {
  // Browsers leave out tabs and line breaks, and take a backslash for a slash.
  // oxlint-disable-next-line no-control-regex -- exactly these are what it looks for
  if (/[\u0000-\u0020\\]/.test(url)) return undefined;
  const isOfThisSite = /^[/?#]/.test(url);
  if (!isOfThisSite && !/^https?:\/\//i.test(url)) return undefined;
  const parsed = URL.parse(url, HERE);
  if (!parsed || parsed.username !== "" || parsed.password !== "") return undefined;
  return isOfThisSite === (parsed.origin === HERE) ? url : undefined;
}
