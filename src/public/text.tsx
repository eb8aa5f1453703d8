import { renderMarkdown } from "../base/markdown";
import type { ShownText } from "./text-budget";

/** User text in Markdown, with headings from `topHeading` down. */
export function MarkdownText({ source, topHeading }: { source: string; topHeading: number }) {
  if (source.trim() === "") return null;
  return <Html html={renderMarkdown(source, { topHeading })} />;
}

/** User text, whole or as an excerpt with a link to the whole. */
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

interface NamesProps {
  names: readonly string[];
  /** Maximum number of names shown. */
  max: number;
  /** True if there are more names than these. */
  isTruncated?: boolean | undefined;
}

/** Names separated by commas, each in its own writing direction. Names beyond `max` are counted. */
export function Names({ names, max, isTruncated }: NamesProps) {
  return (
    <>
      {names.slice(0, max).map((name, index) => (
        <>
          {index > 0 ? ", " : ""}
          <bdi>{name}</bdi>
        </>
      ))}
      {moreThan(names.length, max, isTruncated)}
    </>
  );
}

/** Names of affected components as the end of a line; nothing without components. */
export function Affects(props: {
  components: readonly { name: string }[];
  max: number;
  isTruncated: boolean | undefined;
}) {
  const { components, max, isTruncated } = props;
  if (components.length === 0) return null;
  return (
    <>
      {" · affects "}
      <Names names={components.map(({ name }) => name)} max={max} isTruncated={isTruncated} />
    </>
  );
}

/** Returns " and 12 more" for `count` names if `max` are shown; " and more" if the list is truncated. */
export function moreThan(count: number, max: number, isTruncated = false): string {
  if (isTruncated) return " and more";
  return count > max ? ` and ${count - max} more` : "";
}
