import { withLineFeeds } from "../../../base/text";
import { placeLine, withoutControl } from "../quoted-printable";
import {
  type Block,
  cutText,
  type Inline,
  type Layout,
  type Letter,
  listedComponents,
} from "./letter";

const RTL =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
/** Control characters that change the direction of text. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;
const SEPARATOR = "---";

/** Returns the text part of a mail. */
export function renderText(letter: Letter, layout: Layout): string {
  const render = (block: Block) => renderTextBlock(block, layout);
  return (
    [
      cleaned(letter.sender),
      ...letter.blocks.map(render),
      SEPARATOR,
      ...letter.footer.map(render),
      "",
    ]
      .join("\n\n")
      .trimEnd() + "\n"
  );
}

/** Returns lines for the place of a letter. */
export function renderTextPlace(blocks: readonly Block[], layout: Layout): string {
  return blocks.map((block) => renderTextBlock(block, layout)).join("\n\n");
}

function renderTextBlock(block: Block, layout: Layout): string {
  switch (block.type) {
    case "markdown": {
      const { text, isCut } = cutText(cleaned(block.source), layout.text);
      return isCut ? `${text} …\n\nRead the full text: ${block.url}` : text;
    }
    case "components": {
      const { listed, rest } = listedComponents(block.entries, layout);
      const lines = listed.map(({ name, status }) => {
        const isolated = isolate(name, layout.isRtl);
        return status === "" ? `- ${isolated}` : `- ${isolated}: ${cleaned(status)}`;
      });
      return [...lines, ...(rest === undefined ? [] : [`- ${rest}`])].join("\n");
    }
    case "button":
    case "link":
      return `${block.label}: ${block.url}`;
    case "plain":
      return cleaned(block.source);
    case "place":
      return placeLine(block.name);
    default:
      return inlineText(block.text, layout.isRtl);
  }
}

function inlineText(parts: readonly Inline[], isRtl: boolean): string {
  return parts
    .map((part) => (typeof part === "string" ? withoutOverrides(part) : isolate(part.name, isRtl)))
    .join("");
}

/** Keeps a name from changing the order of its line, where either is written from right to left. */
function isolate(name: string, isRtl: boolean): string {
  const text = cleaned(name);
  return isRtl || RTL.test(text) ? `\u2068${text}\u2069` : text;
}

function cleaned(text: string): string {
  return withoutOverrides(withLineFeeds(text)).trim();
}

function withoutOverrides(text: string): string {
  return withoutControl(text).replace(OVERRIDES, "");
}
