/**
 * Returns the origin in the browser's address bar as the request headers give it, since a proxy may
 * add HTTPS. Clients can forge those headers, so no access check may use it. Undefined if the Host
 * header is invalid.
 */
export function browserOrigin(request: Request): URL | undefined {
  if (!URL.canParse(request.url)) return undefined;
  const { host, protocol } = new URL(request.url);
  const isBehindHttps = request.headers.get("x-forwarded-proto") === "https";
  return new URL(`${isBehindHttps ? "https:" : protocol}//${host}`);
}
