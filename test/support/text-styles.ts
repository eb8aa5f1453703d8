/** Scope of a page after `listTextStyles`. */
export interface TextStyles {
  /** The first elements with text of each style. */
  textStyles: Map<string, Element[]>;
}

/**
 * Returns the styles of all text on a page, each with everything that its contrast depends on. It runs in
 * the page, where it keeps the first elements of each style.
 */
export function listTextStyles(): string[] {
  const FIELDS = "input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea";
  const OPAQUE = /^rgb\([^)]*\) none 1 none normal;$/;
  // More than one, as axe-core skips some texts, such as those of disabled fields.
  const ENOUGH = 20;
  const backgrounds = new Map<Element | null, string>([[null, ""]]);

  /** Describes what an element paints behind its content; empty if nothing. */
  function paintOf(element: Element): string {
    const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode } =
      getComputedStyle(element);
    const paint = `${backgroundColor} ${backgroundImage} ${opacity} ${filter} ${mixBlendMode};`;
    return paint === "rgba(0, 0, 0, 0) none 1 none normal;" ? "" : paint;
  }

  /** Describes what an element and those around it paint, up to an opaque colour. */
  function backgroundOf(element: Element | null): string {
    let background = backgrounds.get(element);
    if (background === undefined && element) {
      const paint = paintOf(element);
      const around = backgroundOf(element.parentElement);
      const isCovering = OPAQUE.test(paint) && (around === "" || OPAQUE.test(around));
      background = isCovering ? paint : paint + around;
      backgrounds.set(element, background);
    }
    return background ?? "";
  }

  /** Elements that paint a background, by the rows of this height, in pixels, that they touch. */
  const ROW = 100;
  const painted = new Map<number, { element: Element; box: DOMRect }[]>();
  for (const element of document.body.querySelectorAll("*")) {
    if (paintOf(element) === "") continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) continue;
    for (let row = Math.floor(box.top / ROW); row <= box.bottom / ROW; row++) {
      const others = painted.get(row) ?? [];
      if (others.push({ element, box }) === 1) painted.set(row, others);
    }
  }

  /** Describes the paint of other elements at the place of an element's text, also outside the window. */
  function overlapOf(element: Element): string {
    const [text] = element.getClientRects();
    if (!text) return "";
    const [x, y] = [text.x + text.width / 2, text.y + text.height / 2];
    return (painted.get(Math.floor(y / ROW)) ?? [])
      .filter(({ box }) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)
      .filter(({ element: other }) => !other.contains(element) && !element.contains(other))
      .map(({ element: other }) => paintOf(other))
      .join("");
  }

  function letteringOf(element: Element): string {
    const { color, fontSize, fontWeight, textDecorationLine, textShadow } =
      getComputedStyle(element);
    // Less contrast suffices for large text. Bold text counts as large from 18.66 pixels.
    const size = parseFloat(fontSize) < 18 ? "small" : `${fontSize} ${fontWeight}`;
    return `${color} ${size} ${textDecorationLine} ${textShadow};`;
  }

  /** Describes the text around a link, from which it has to differ. */
  function textAround(link: Element): string {
    let block: Element | null = link.parentElement;
    while (block && getComputedStyle(block).display === "inline") block = block.parentElement;
    const isAlone = block?.textContent?.trim() === link.textContent?.trim();
    return isAlone || !block ? "alone" : letteringOf(block);
  }

  /** Returns true for elements that axe-core skips too. Their styles would stay untested. */
  function isLeftOut(element: Element): boolean {
    const box = element.getBoundingClientRect();
    return (
      element.closest("[aria-hidden=true], :disabled") !== null ||
      !element.checkVisibility({ visibilityProperty: true }) ||
      // The usual ways to leave a text to screen readers.
      getComputedStyle(element).clipPath === "inset(50%)" ||
      box.bottom + scrollY <= 0
    );
  }

  const styles = new Map<string, Element[]>();
  for (const element of document.body.querySelectorAll("*")) {
    const isField = element.matches(FIELDS);
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const hasText = texts.some((text) => text.nodeValue?.trim() !== "");
    if (!(isField || hasText) || isLeftOut(element)) continue;
    const around = element.matches("a[href]") ? textAround(element) : "";
    const style = letteringOf(element) + backgroundOf(element) + overlapOf(element) + around;
    const known = styles.get(style);
    if (!known) styles.set(style, [element]);
    else if (known.length < ENOUGH) known.push(element);
  }
  Object.assign(globalThis, { textStyles: styles } satisfies TextStyles);
  return [...styles.keys()];
}
