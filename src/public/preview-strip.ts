import type { HtmlDocument } from "../ui";

/** Start of the body of a public page, after which the strip is inserted. */
const BEGINNING = '<body><div class="column">';
const STRIP = '<p class="strip t-maint" role="status">Preview. Nothing was published.</p>';

/** Marks a public page as a preview, at its top and in its title. */
export function asPreview({ html, policy }: HtmlDocument): HtmlDocument {
  if (!html.includes(BEGINNING)) throw new Error("the page has an unknown start");
  return {
    html: html.replace("<title>", "<title>Preview: ").replace(BEGINNING, () => BEGINNING + STRIP),
    policy,
  };
}
