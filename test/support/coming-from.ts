import type { Block } from "../../src/imports/coming-from";

/** Returns a document as Markdown. */
export function toMarkdown(blocks: readonly Block[]): string {
  return `${blocks.map(markdownOf).join("\n\n")}\n`;
}

function markdownOf(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `${"#".repeat(block.level)} ${block.text}`;
    case "text":
      return block.text;
    case "points":
      return block.points.map((text) => `- ${text}`).join("\n");
    case "steps":
      return block.steps
        .map(({ text, code }, index) =>
          code === undefined
            ? `${index + 1}. ${text}`
            : `${index + 1}. ${text}\n\n${indented(`\`\`\`\n${code}\n\`\`\``)}\n`,
        )
        .join("\n");
    case "table":
      return [block.head, ["---", "---"], ...block.rows]
        .map((row) => `| ${row.map(cellOf).join(" | ")} |`)
        .join("\n");
  }
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "   ");
}

function cellOf(text: string): string {
  return text.replaceAll("|", "\\|");
}
