import { renderMarkdown } from "./markdown";
import type { ShownText } from "./text-budget";

/** What somebody wrote in Markdown, its headings below `topHeading`'s. */
export function MarkdownText({ source, topHeading }: { source: string; topHeading: number }) {
  if (source.trim() === "") return null;
  return <Html html={renderMarkdown(source, { topHeading })} />;
}

/** What somebody wrote, whole, or its first words with a link to all of it. */
export function Text({ text, href }: { text: ShownText; href: string }) {
  if ("html" in text) return text.html === "" ? null : <Html html={text.html} />;
  return (
    <p class="text" dir="auto">
      {text.words} <a href={href}>Read on</a>
    </p>
  );
}

function Html({ html }: { html: string }) {
  return <div class="text" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
}

/** Names in a row, each in its own direction; those beyond `most` are counted. */
export function Names({ names, most }: { names: readonly string[]; most: number }) {
  const rest = names.length - most;
  return (
    <>
      {names.slice(0, most).map((name, index) => (
        <>
          {index > 0 ? ", " : ""}
          <bdi>{name}</bdi>
        </>
      ))}
      {rest > 0 ? ` and ${rest} more` : ""}
    </>
  );
}
