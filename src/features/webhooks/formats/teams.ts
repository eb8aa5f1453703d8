import { Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { SECOND_MS } from "../../../base/time";
import { type Format, jsonMessage } from "./format";
import { type Block, bold, fittedMessage, paragraph, type Span } from "./markup";
import { buildNotification } from "./notification";
import type { Tone } from "../../../base/status";

/**
 * Microsoft Teams' Workflows ("Send webhook alerts to a channel") accept Adaptive Cards:
 * learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using. Text
 * is written as runs of RichTextBlocks, which have no markup, so nothing must be escaped:
 * adaptivecards.io/explorer/TextRun.html.
 */

/**
 * Maximum size of a post. The connector's limit is "about 28 KB": learn.microsoft.com/connectors/teams. The rest is for
 * what the workflow adds.
 */
const POST_MAX_BYTES = 27_000;

/** Returns the size of a body as it is counted: workflows pass the card on as a text inside of JSON. */
function postBytes(body: string): number {
  return Buffer.byteLength(JSON.stringify(body));
}

/** Container styles, since cards have no colours of their own. */
const STYLES: Readonly<Record<Tone, string>> = {
  ok: "good",
  maint: "accent",
  degraded: "warning",
  partial: "warning",
  major: "attention",
  none: "emphasis",
};

export const teams: Format = {
  name: "teams",
  label: "Microsoft Teams",
  hint: "In the channel's menu choose Workflows → Send webhook alerts to a channel, and copy the URL at the end.",
  settings: Type.Object({}, { additionalProperties: false }),
  openPath: /^\//,
  pace: [{ count: 4, inMs: SECOND_MS }],
  validate(url): FieldError[] {
    // Retired: learn.microsoft.com/microsoftteams/m365-custom-connectors.
    const isRetired = new URL(url).hostname.endsWith(".webhook.office.com");
    const detail =
      "is the URL of a connector, which Microsoft has retired; create a workflow instead";
    return isRetired ? [{ pointer: pointer("url"), detail }] : [];
  },
  write(event, context) {
    const notification = buildNotification(event, context);
    if (!notification) return undefined;
    const { title, tone, url, target, source } = notification;
    const head = {
      type: "Container",
      style: STYLES[tone],
      bleed: true,
      items: richText(paragraph(bold(title)), { size: "Large" }),
    };
    const write = (blocks: readonly Block[]) =>
      jsonMessage({
        type: "message",
        attachments: [
          {
            contentType: "application/vnd.microsoft.card.adaptive",
            contentUrl: null,
            content: {
              $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
              type: "AdaptiveCard",
              version: "1.4",
              msteams: { width: "Full" },
              fallbackText: title,
              body: [
                head,
                ...blocks.flatMap((block) => richText(block)),
                ...richText(paragraph(source), { isSubtle: true, size: "Small" }),
              ],
              actions: [{ type: "Action.OpenUrl", title: `Open the ${target}`, url }],
            },
          },
        ],
      });
    return fittedMessage(notification, write, ({ body }) => postBytes(body) <= POST_MAX_BYTES);
  },
};

/**
 * Returns a block as one RichTextBlock per line, since not every client keeps line breaks in a run.
 */
function richText(block: Block, look: Readonly<Record<string, unknown>> = {}): object[] {
  if (block.kind === "rule") return [line([{ text: "———", styles: [] }], block, look)];
  const lines: Span[][] = [[{ text: prefixOf(block), styles: [] }]];
  for (const span of block.spans) {
    for (const [index, text] of span.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      lines.at(-1)?.push({ ...span, text });
    }
  }
  return lines.map((spans, index) => ({
    ...line(spans, block, look),
    ...(index > 0 || block.depth > 0 ? { spacing: "Small" } : {}),
  }));
}

function prefixOf({ marker, depth, isQuoted }: Block): string {
  // No-break spaces, which clients do not merge.
  const indent = "\u00a0".repeat(4 * Math.max(0, depth - 1));
  return `${isQuoted ? "❯ " : ""}${indent}${marker ? `${marker} ` : ""}`;
}

function line(spans: readonly Span[], { kind }: Block, look: object): object {
  const inlines = spans
    .filter(({ text }) => text !== "")
    .map(({ text, styles, href }) => ({
      type: "TextRun",
      // Keeps "{{DATE(…)}}" from being read as a date: adaptivecards.io/explorer/TextBlock.html.
      text: text.replaceAll("{{", "{\u200b{"),
      ...(styles.includes("bold") || kind === "heading" ? { weight: "Bolder" } : {}),
      ...(styles.includes("italic") ? { italic: true } : {}),
      ...(styles.includes("strike") ? { strikethrough: true } : {}),
      ...(styles.includes("code") || kind === "code" ? { fontType: "Monospace" } : {}),
      ...(href === undefined ? {} : { selectAction: { type: "Action.OpenUrl", url: href } }),
      ...look,
    }));
  return { type: "RichTextBlock", inlines: inlines.length > 0 ? inlines : [blank()] };
}

function blank() {
  return { type: "TextRun", text: "\u00a0" };
}
