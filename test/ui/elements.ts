/** An element of some HTML, as a browser's parser finds it. */
interface HtmlElement {
  tag: string;
  attributes: Record<string, string>;
}

/** Every element of a piece of HTML, in order. */
export function elementsOf(html: string): HtmlElement[] {
  const elements: HtmlElement[] = [];
  new HTMLRewriter()
    .on("*", {
      element(element) {
        elements.push({ tag: element.tagName, attributes: Object.fromEntries(element.attributes) });
      },
    })
    .transform(html);
  return elements;
}

/** Returns all values of an attribute. */
export function valuesOf(elements: readonly HtmlElement[], attribute: string): string[] {
  return elements.flatMap(({ attributes }) => attributes[attribute] ?? []);
}
