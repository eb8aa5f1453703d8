import type { HtmlDocument } from "../ui";

/** Where a page of the public surface begins, below which the strip is put. */
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
