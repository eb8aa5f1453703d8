import { beginningOf, plainText, renderingWork } from "../base/markdown";
import type { RenderText } from "./markdown-cache";

/** Length of the excerpt of a text that does not fit, in code points. */
const FIRST_WORDS = 280;
/** Size of a named component without its name, in bytes. */
const NAMED_BYTES = 150;
/** Work of rendering all texts of one document, in units of `renderingWork`: about 65 ms. */
const DOCUMENT_WORK_MAX = 16_000;

/** Part of a text that is shown: all of it as HTML, or only its first words in plain text. */
export type ShownText = { html: string } | { words: string };

/** Update, or another text written by users. */
interface UserText {
  body: string;
  components?: readonly { name: string }[];
}

/** Limits the size and the rendering work of the texts of one document. Each shown text uses both. */
export interface TextBudget {
  /** Returns the whole text, or undefined if it exceeds the budget. */
  fit(update: UserText): ShownText | undefined;
  /** Returns the whole text, or its first words if it exceeds the budget. */
  fitOrBegin(update: UserText): ShownText;
  /** Returns the whole text, even if it exceeds the budget. */
  force(update: UserText): ShownText;
}

/**
 * Creates a budget of `bytes` of HTML. Each update uses `updateBytes` in addition to its text. A source
 * longer than the rest of the budget is not rendered. HTML that turns out longer halves the rest, so that
 * few texts are rendered in vain.
 *
 * The work of rendering is limited too, since it is not proportional to the length of a text. Cached texts
 * count as if they were rendered, so that the document does not depend on the cache.
 */
export function createTextBudget(
  bytes: number,
  render: RenderText,
  topHeading: number,
  updateBytes = 0,
): TextBudget {
  let left = bytes;
  let workLeft = DOCUMENT_WORK_MAX;

  function measure({ body, components = [] }: UserText): { html: string; size: number } {
    const html = render(body, topHeading);
    const size = Buffer.byteLength(html) + components.length * NAMED_BYTES + updateBytes;
    return { html, size };
  }

  /** Uses the work of a text. Returns false, without using any, if the rest is too small. */
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
