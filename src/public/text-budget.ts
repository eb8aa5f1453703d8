import { plainText } from "./markdown";
import type { RenderText } from "./kept-texts";

/** What is shown of a text for which there is no room, in code points. */
const FIRST_WORDS = 280;
/** What a component that an update names takes beside its name, in bytes. */
const NAMED_BYTES = 150;

/** What somebody wrote, as a page shows it: whole as HTML, or only its first words in plain text. */
export type ShownText = { html: string } | { words: string };

/** What an update tells. */
interface Written {
  body: string;
  components?: readonly { name: string }[];
}

/** How much of what people wrote one page has room for. What is put on the page is spent. */
export interface TextBudget {
  /** The text whole, or undefined where there is no room for it. */
  fit(update: Written): ShownText | undefined;
  /** The text whole, or its first words where there is no room for it. */
  fitOrBegin(update: Written): ShownText;
  /** The text whole, whether there is room for it or not. */
  force(update: Written): ShownText;
}

/**
 * A budget of `bytes` of HTML. A text that is longer than what is left is not rendered; one that turns out
 * to be so halves what is left, so that few are rendered for nothing.
 */
export function createTextBudget(
  bytes: number,
  render: RenderText,
  topHeading: number,
): TextBudget {
  let left = bytes;

  function measure({ body, components = [] }: Written): { html: string; size: number } {
    const html = render(body, topHeading);
    return { html, size: Buffer.byteLength(html) + components.length * NAMED_BYTES };
  }

  const budget: TextBudget = {
    fit(update) {
      if (update.body.length > left) return undefined;
      const { html, size } = measure(update);
      if (size > left) {
        left = Math.floor(left / 2);
        return undefined;
      }
      left -= size;
      return { html };
    },
    fitOrBegin: (update) => budget.fit(update) ?? { words: plainText(update.body, FIRST_WORDS) },
    force(update) {
      const { html, size } = measure(update);
      left = Math.max(0, left - size);
      return { html };
    },
  };
  return budget;
}
