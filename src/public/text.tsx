import { renderMarkdown } from "./markdown";

/** What somebody wrote in Markdown, its headings below `topHeading`'s. */
export function MarkdownText({ source, topHeading }: { source: string; topHeading: number }) {
  if (source.trim() === "") return null;
  const html = renderMarkdown(source, { topHeading });
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
