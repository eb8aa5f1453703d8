import { PUBLIC_CACHE, Representation, type SentPage } from "../http";

/** An HTML page as it is sent again and again. */
export function htmlRepresentation(document: SentPage): Representation {
  return new Representation(document.html, {
    mediaType: "text/html;charset=utf-8",
    cacheControl: PUBLIC_CACHE,
    headers: { "Content-Security-Policy": document.policy },
  });
}
