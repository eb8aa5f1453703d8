import { PUBLIC_CACHE, Representation } from "../http";

/** A whole HTML page, as text or as its bytes, with the policy that belongs to it. */
export interface SentPage {
  html: string | Uint8Array<ArrayBuffer>;
  policy: string;
}

/** An HTML page as it is sent again and again. */
export function htmlRepresentation(document: SentPage): Representation {
  return new Representation(document.html, {
    mediaType: "text/html;charset=utf-8",
    cacheControl: PUBLIC_CACHE,
    headers: { "Content-Security-Policy": document.policy },
  });
}
