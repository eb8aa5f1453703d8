import { renderMarkdown } from "../../../base/markdown";
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
import {
  barStyle,
  BODY_STYLE,
  COLUMN_STYLE,
  DARK_RULES,
  styled,
  styleMarkdown,
  toned,
} from "./look";

/** Control characters that change the direction of text. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;
const HIDDEN =
  "display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px";

/** Returns the HTML part of a mail: inline styles, nothing from other hosts, one column up to 600 px. */
export function renderHtml(letter: Letter, layout: Layout): string {
  const { locale, sender, preheader, tone, blocks, footer } = letter;
  const render = (block: Block) => renderBlock(block, layout);
  // Written twice, since webmail shows the body's content without `html` and `body`.
  const language = `lang="${escape(locale)}" dir="${layout.isRtl ? "rtl" : "ltr"}"`;
  // Lines align to the side of the page's language, in which not all texts are written.
  const side = layout.isRtl ? "right" : "left";
  return `<!doctype html>
<html ${language}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escape(sender)}</title>
<style>${DARK_RULES}</style>
</head>
<body${styled("ground", BODY_STYLE)}>
<div style="${HIDDEN}">${escape(preheader)}</div>
<div role="main" ${language}>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center"${styled("ground")}>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px"><tr><td align="${side}"${styled("ground", `${COLUMN_STYLE};text-align:${side}`)}>
<p dir="auto"${styled("ink", "margin:0 0 12px;font-weight:600")}><bdi>${escape(sender)}</bdi></p>
<div style="${barStyle(tone)}">&nbsp;</div>
<div${styled("line", "border-style:solid;border-width:0 1px 1px;padding:20px 20px 8px;margin:0 0 20px")}>
${blocks.map(render).join("\n")}
</div>
${footer.map(render).join("\n")}
</td></tr></table>
</td></tr></table>
</div>
</body>
</html>
`;
}

/** Returns lines for the place of a letter. */
export function renderHtmlPlace(blocks: readonly Block[], layout: Layout): string {
  return blocks.map((block) => renderBlock(block, layout)).join("\n");
}

function renderBlock(block: Block, layout: Layout): string {
  switch (block.type) {
    case "status":
      return `<p dir="auto"${toned(block.tone, "margin:0 0 4px;font-size:14px;font-weight:600")}>${inlineHtml(block.text)}</p>`;
    case "title":
      return `<h1 dir="auto"${styled("ink", "margin:0 0 4px;font-size:22px;line-height:1.3;font-weight:650")}>${inlineHtml(block.text)}</h1>`;
    case "heading":
      return `<h2 dir="auto"${styled("ink", "margin:20px 0 8px;font-size:16px;line-height:1.3")}>${inlineHtml(block.text)}</h2>`;
    case "paragraph":
      return `<p dir="auto"${block.isMuted ? styled("muted", "margin:0 0 12px;font-size:14px") : styled("ink", "margin:0 0 12px")}>${inlineHtml(block.text)}</p>`;
    case "markdown":
      return markdownHtml(block.source, block.url, layout);
    case "components":
      return componentsHtml(block, layout);
    case "button":
      return `<p style="margin:16px 0"><a href="${escape(block.url)}"${styled("button", "display:inline-block;padding:10px 18px;border-radius:8px;text-decoration:none;font-weight:600")}>${escape(block.label)}</a></p>`;
    case "link":
      return `<p dir="auto" style="margin:0 0 12px;font-size:14px">${linkHtml(block.label, block.url)}</p>`;
    case "plain":
      return `<p dir="auto"${styled("muted", "margin:0 0 12px;font-size:13px")}>${escape(withLineFeeds(block.source)).replaceAll("\n", "<br>\n")}</p>`;
    case "place":
      return placeLine(block.name);
  }
}

function markdownHtml(source: string, url: string, layout: Layout): string {
  const { text, isCut } = cutText(withoutControl(source), layout.text);
  const html = styleMarkdown(
    renderMarkdown(isCut ? `${text} …` : text, { topHeading: 2 }),
  ).trimEnd();
  const rest = isCut
    ? `\n<p dir="auto" style="margin:0 0 12px">${linkHtml("Read the full text", url)}</p>`
    : "";
  return `<div dir="auto"${styled("ink", "margin:16px 0 4px;text-align:start")}>\n${html}${rest}\n</div>`;
}

function componentsHtml(
  { entries }: Extract<Block, { type: "components" }>,
  layout: Layout,
): string {
  const { listed, rest } = listedComponents(entries, layout);
  const rows = listed.map(({ name, status, tone }) => {
    const cell = "padding:6px 0;border-style:solid;border-width:1px 0 0;font-size:15px";
    const state =
      status === ""
        ? ""
        : `<td align="${layout.isRtl ? "left" : "right"}"${styled("line", `${cell};padding-inline-start:12px;white-space:nowrap`)}><span${toned(tone, "font-weight:600")}>${escape(status)}</span></td>`;
    return `<tr><td${styled("line", cell)}><span${styled("ink")}><bdi>${escape(name)}</bdi></span></td>${state}</tr>`;
  });
  const more =
    rest === undefined
      ? ""
      : `<p${styled("muted", "margin:4px 0 12px;font-size:14px")}>${escape(rest)}</p>\n`;
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 12px;border-collapse:collapse">\n${rows.join("\n")}\n</table>\n${more}`.trimEnd();
}

function linkHtml(label: string, url: string): string {
  return `<a href="${escape(url)}"${styled("accent", "text-decoration:underline")}>${escape(label)}</a>`;
}

function inlineHtml(parts: readonly Inline[]): string {
  return parts
    .map((part) => (typeof part === "string" ? escape(part) : `<bdi>${escape(part.name)}</bdi>`))
    .join("");
}

function escape(text: string): string {
  return Bun.escapeHTML(withoutControl(text).replace(OVERRIDES, ""));
}
