import type { HtmlDocument } from "../ui";

/** Start of a public page's body, after which the strip is inserted. */
const BEGINNING = '<body><div class="column">';
const STRIP =
  '<p class="banner notice is-maintenance" role="status">Preview. Nothing was published.</p>';

/** A page of the public surface as it would be, saying so at its top and in its title. */
export function asPreview({ html, policy }: HtmlDocument): HtmlDocument {
  if (!html.includes(BEGINNING)) throw new Error("the page begins in another way");
  return {
    html: html.replace("<title>", "<title>Preview: ").replace(BEGINNING, () => BEGINNING + STRIP),
    policy,
  };
}
