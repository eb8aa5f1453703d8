/* Grants of visitors of private pages. */
import type { MadePageLink } from "../../src/features/pages/access";
import type { Answer, CallOptions } from "./app";

export const PAGE_PASSWORD = "open sesame 1";

/** Sends one request to an application, as `TestApp.call`. */
type Call = (path: string, options?: CallOptions) => Promise<Answer>;

/** Returns the cookie of an answer that lets a visitor in, as a request sends it. Throws without one. */
export function grantOf({ status, headers, text }: Answer): string {
  const [cookie] = headers.getSetCookie();
  if (cookie === undefined) throw new Error(`the answer ${status} has no cookie: ${text}`);
  return cookie.split(";", 1)[0] ?? "";
}

/** Enters a page by its password and returns the grant. */
export async function enterByPassword(
  call: Call,
  slug: string,
  password: string = PAGE_PASSWORD,
): Promise<string> {
  return grantOf(await call(`/status/${slug}/access`, { form: { password } }));
}

/** Enters a page by a link and returns the grant. */
export async function enterByLink(
  call: Call,
  slug: string,
  { token }: MadePageLink,
): Promise<string> {
  return grantOf(await call(`/status/${slug}/with/${token}`));
}
