/**
 * The origin that a browser has in its address bar, as far as its request tells: a proxy in front may
 * speak HTTPS where this server does not. Anybody can say so; nothing is decided by it. Undefined where
 * a Host was sent that makes no URL.
 */
export function browserOrigin(request: Request): URL | undefined {
  if (!URL.canParse(request.url)) return undefined;
  const { host, protocol } = new URL(request.url);
  const isBehindHttps = request.headers.get("x-forwarded-proto") === "https";
  return new URL(`${isBehindHttps ? "https:" : protocol}//${host}`);
}
