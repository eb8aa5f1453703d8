import { beginningOf, plainText, renderingWork } from "./markdown";
import type { RenderText } from "./markdown-cache";

/** Length of the excerpt of a text that does not fit, in code points. */
const FIRST_WORDS = 280;
/** Size of a named component besides its name, in bytes. */
const NAMED_BYTES = 150;
/** Work of rendering all texts of one document, in units of `renderingWork`: about 65 ms. */
const DOCUMENT_WORK_MAX = 16_000;

/** Part of a text that is shown: all of it as HTML, or only its first words in plain text. */
export type ShownText = { html: string } | { words: string };

/** Text and components of an update. */
interface Written {
  body: string;
  components?: readonly { name: string }[];
}

/** Limits of size and rendering work for the texts of one document. Each text that is shown uses some of both. */
export interface TextBudget {
  /** The text whole, or undefined where there is no room for it. */
  fit(update: Written): ShownText | undefined;
  /** The text whole, or its first words where there is no room for it. */
  fitOrBegin(update: Written): ShownText;
  /** The text whole, whether there is room for it or not. */
  force(update: Written): ShownText;
}

/**
 * A budget of `bytes` of HTML, of which each update takes `updateBytes` beside its text. A text that is
 * longer than what is left is not rendered; one that turns out to be so halves what is left, so that few
 * are rendered for nothing.
 *
 * The work of rendering is bounded too, since it does not go by the length of a text. What is kept from
 * before counts as if it was rendered, so that a document is the same whatever is kept.
 */
export function createTextBudget(
  bytes: number,
  render: RenderText,
  topHeading: number,
  updateBytes = 0,
): TextBudget {
  let left = bytes;
  let workLeft = DOCUMENT_WORK_MAX;

  function measure({ body, components = [] }: Written): { html: string; size: number } {
    const html = render(body, topHeading);
    const size = Buffer.byteLength(html) + components.length * NAMED_BYTES + updateBytes;
    return { html, size };
  }

  /** True if there was time for the text, which is spent then. */
  function spendWork(text: string): boolean {
    const work = renderingWork(text);
    if (work > workLeft) return false;
    workLeft -= work;
    return true;
  }

  function begin(body: string): ShownText {
    if (spendWork(beginningOf(body, FIRST_WORDS))) return { words: plainText(body, FIRST_WORDS) };
    const points = Array.from(body.slice(0, 2 * FIRST_WORDS)).slice(0, FIRST_WORDS);
    return { words: `${points.join("").replace(/\s+/g, " ").trim()}…` };
  }

  const budget: TextBudget = {
    fit(update) {
      if (update.body.length + updateBytes > left || !spendWork(update.body)) return undefined;
      const { html, size } = measure(update);
      if (size > left) {
        left = Math.floor(left / 2);
        return undefined;
      }
      left -= size;
      return { html };
    },
    fitOrBegin: (update) => budget.fit(update) ?? begin(update.body),
    force(update) {
      workLeft = Math.max(0, workLeft - renderingWork(update.body));
      const { html, size } = measure(update);
      left = Math.max(0, left - size);
      return { html };
    },
  };
  return budget;
}
