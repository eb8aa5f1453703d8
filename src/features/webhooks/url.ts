import { hostError, type Policy } from "../../egress";
import { CUT } from "./formats";

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);

/**
 * Returns the error of an endpoint's URL without repeating it; undefined for a valid one.
 * Recognises every spelling of an address. The addresses of a name are checked at every attempt.
 */
export function urlError(text: string, policy: Policy): string | undefined {
  if (text.includes(CUT)) return "is as it is shown, without its end; give the whole URL";
  // What a parser would drop in silence, so that another URL is called than the one that was read.
  if (/[\s\\]|\p{Cc}/u.test(text)) return "must hold no blanks, backslashes or control characters";
  const url = URL.parse(text);
  if (!url || !SCHEMES.has(url.protocol))
    return "must be a URL that begins with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must hold no user name and no password";
  const complaint = hostError(url.hostname, policy);
  return complaint && `has a host that ${complaint}`;
}
