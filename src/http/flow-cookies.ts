/* Cookies with the sealed secrets of a sign-in at the provider. */
import { SECOND_MS } from "../base/time";
import { FLOW_MS } from "../features/auth/flows";
import { isHttps } from "../features/auth/rules";
import { type Address, cookieValues, setCookie } from "./cookies";

/** Age of the cookie. The server decides when the sign-in ends. */
const MAX_AGE_SECONDS = FLOW_MS / SECOND_MS;

function flowCookieName({ baseUrl }: Address): string {
  return isHttps(baseUrl) ? "__Host-allclear_flow" : "allclear_flow";
}

/** Returns the `Set-Cookie` header with the sealed secrets of a sign-in. */
export function flowCookie(address: Address, sealed: string): string {
  return setCookie(flowCookieName(address), sealed, MAX_AGE_SECONDS, isHttps(address.baseUrl));
}

/** Returns the `Set-Cookie` header that removes the secrets of a sign-in. */
export function endedFlowCookie(address: Address): string {
  return setCookie(flowCookieName(address), "", 0, isHttps(address.baseUrl));
}

/** Returns the sealed secrets that a browser sends back. Anyone can have written them. */
export function readFlowCookies(address: Address, request: Request): string[] {
  return cookieValues(request, flowCookieName(address));
}
