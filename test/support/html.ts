/** A control of a form as a browser would send it. */
interface Control {
  name: string;
  value: string;
  type: string;
  isChecked: boolean;
}

/** Parts of an HTML page that tests read. */
export interface HtmlPage {
  /** Returns the texts of elements that a CSS selector finds, in order, including descendants. */
  texts(selector: string): string[];
  /** Returns an attribute of elements that a selector finds, without those that lack it. */
  attributes(selector: string, name: string): string[];
  controls: Control[];
}

/** Reads a page like a browser, including entities. */
export function readHtml(html: string): HtmlPage {
  const page: HtmlPage = {
    texts(selector) {
      const found: string[] = [];
      rewrite(html, selector, {
        element: () => void found.push(""),
        text: (chunk) => void found.push((found.pop() ?? "") + chunk.text),
      });
      return found.map((text) => decode(text).replace(/\s+/g, " ").trim());
    },
    attributes(selector, name) {
      const found: (string | null)[] = [];
      rewrite(html, selector, {
        element: (element) => void found.push(element.getAttribute(name)),
      });
      return found.filter((value) => value !== null).map(decode);
    },
    controls: [],
  };
  rewrite(html, "input", {
    element(input) {
      const attribute = (name: string) => decode(input.getAttribute(name) ?? "");
      const type = attribute("type");
      const isChecked = input.hasAttribute("checked");
      page.controls.push({ name: attribute("name"), value: attribute("value"), type, isChecked });
    },
  });
  return page;
}

/** Returns the values that a browser would send of a field, with checked boxes and buttons only. */
export function typedIn(html: string, name: string): string[] {
  return readHtml(html)
    .controls.filter((control) => control.name === name)
    .filter(({ type, isChecked }) => isChecked || !["checkbox", "radio"].includes(type))
    .map(({ value }) => value);
}

/**
 * Returns the error of each field of a form by name. Throws unless the summary has the same errors,
 * each linked to an element of the page.
 */
export function fieldErrorsOn(html: string): Record<string, string> {
  const page = readHtml(html);
  const ids = new Set(page.attributes("[id]", "id"));
  const fieldErrors = Object.fromEntries(
    page.attributes(".field-error", "id").map((id) => {
      const name = /^field-(.+)-error$/.exec(id)?.[1] ?? id;
      return [name, page.texts(`#${id}`)[0] ?? ""];
    }),
  );
  const linked = page.attributes('[role="alert"] li a', "href");
  const summary = Object.fromEntries(
    page.texts('[role="alert"] li').map((text, index) => [linked[index] ?? "", text]),
  );
  const desired = Object.fromEntries(
    Object.entries(fieldErrors).map(([name, text]) => [`#field-${name}`, text]),
  );
  // An error that is a sentence is repeated unchanged in the summary, after the field's name.
  const saysSame = (href: string, text: string) =>
    summary[href] === text || summary[href]?.endsWith(`: ${text}`);
  const isComplete = Object.entries(desired).every(([href, text]) => saysSame(href, text));
  if (!isComplete || linked.length !== Object.keys(desired).length) {
    throw new Error(`The summary says ${JSON.stringify(summary)}, not ${JSON.stringify(desired)}.`);
  }
  for (const href of linked) {
    if (!ids.has(href.slice(1))) throw new Error(`${href} leads nowhere.`);
  }
  return fieldErrors;
}

type Handlers = HTMLRewriterTypes.HTMLRewriterElementContentHandlers;

function rewrite(html: string, selector: string, handlers: Handlers): void {
  new HTMLRewriter().on(selector, handlers).transform(html);
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}
