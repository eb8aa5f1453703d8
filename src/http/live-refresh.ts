import { sha256Hex } from "../base/hash";
import { type SentPage, sendHtml } from "./answers";
import { matchesIfNoneMatch } from "./entity-tags";
import { NO_STORE } from "./representation";

/** Header of requests with which the dashboard's script refreshes the open screen. */
const LIVE_HEADER = "allclear-live";
const TAG_LENGTH = 32;

/** Parts that differ in every answer: the bar with the clock, and hidden fields such as form tokens. */
const VOLATILE = /<div class="bar"[^>]*>[\s\S]*?<\/div>|<input type="hidden"[^>]*>/g;

/**
 * Returns true for a request that a script sends without an action of a person. It does not count as a use
 * of the session and does not take pending messages.
 */
export function isLiveRefresh({ method, headers }: Request): boolean {
  return method === "GET" && headers.has(LIVE_HEADER);
}

/** Sends an open screen again, or 304 if only its clock and its hidden fields have changed. */
export function sendLive(request: Request, document: SentPage & { html: string }): Response {
  const etag = `"${sha256Hex(document.html.replace(VOLATILE, "")).slice(0, TAG_LENGTH)}"`;
  const ifNoneMatch = request.headers.get("if-none-match");
  if (ifNoneMatch !== null && matchesIfNoneMatch(ifNoneMatch, etag)) {
    return new Response(null, { status: 304, headers: { "Cache-Control": NO_STORE, ETag: etag } });
  }
  return sendHtml(request, document, { headers: { ETag: etag } });
}
