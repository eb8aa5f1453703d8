import { PUBLIC_CACHE, Representation } from "../http";
import type { HtmlDocument } from "../ui";

/** An HTML page as it is sent, with the policy that belongs to it. */
export function htmlRepresentation(document: HtmlDocument): Representation {
  return new Representation(document.html, {
    mediaType: "text/html;charset=utf-8",
    cacheControl: PUBLIC_CACHE,
    headers: { "Content-Security-Policy": document.policy },
  });
}
