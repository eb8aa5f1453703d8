import { LRUCache } from "lru-cache";
import { beginningOf, plainText, renderingWork, renderMarkdown } from "../base/markdown";
import type { InSomeLanguage } from "../languages/tags";
import type { Words } from "../languages/words";
import { useWords } from "../ui/words";

/** User text in Markdown, with headings from `topHeading` down. */
export function MarkdownText({ source, topHeading }: { source: string; topHeading: number }) {
  if (source.trim() === "") return null;
  return <Html html={renderMarkdown(source, { topHeading })} />;
}

/** User text, whole or as an excerpt with a link to the whole. */
export function Text(props: {
  text: ShownText;
  href: string;
  /** The update or other object that has the text. */
  of?: InSomeLanguage;
}) {
  const { say, langOf } = useWords();
  const { text, href, of = null } = props;
  const lang = langOf(of);
  if ("html" in text) return text.html === "" ? null : <Html html={text.html} lang={lang} />;
  return (
    <p class="text" dir="auto">
      {lang === undefined ? text.words : <span lang={lang}>{text.words}</span>}{" "}
      <a href={href}>{say("updates.read_on")}</a>
    </p>
  );
}

function Html({ html, lang }: { html: string; lang?: string | undefined }) {
  return <div class="text" lang={lang} dangerouslySetInnerHTML={{ __html: html }} />;
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
  const words = useWords();
  const more = moreThan(words, names.length, max, isTruncated);
  return (
    <>
      {names.slice(0, max).map((name, index) => (
        <>
          {index > 0 ? words.t("list.separator") : ""}
          <bdi>{name}</bdi>
        </>
      ))}
      {more === "" ? "" : ` ${more}`}
    </>
  );
}

/** Names of affected components as the end of a line; nothing without components. */
export function Affects(props: {
  components: readonly { name: string }[];
  max: number;
  isTruncated: boolean | undefined;
}) {
  const { say } = useWords();
  const { components, max, isTruncated } = props;
  if (components.length === 0) return null;
  const names = (
    <Names names={components.map(({ name }) => name)} max={max} isTruncated={isTruncated} />
  );
  return (
    <>
      {" · "}
      {say("list.affects", { names })}
    </>
  );
}

/**
 * Returns "and 12 more" for `count` names if `max` are shown; "and more" if the list is truncated, and an empty text if
 * there are no others.
 */
export function moreThan(
  { t }: Pick<Words, "t">,
  count: number,
  max: number,
  isTruncated = false,
): string {
  if (isTruncated) return t("list.more_unknown");
  return count > max ? t("list.more", { count: count - max }) : "";
}

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

/** Maximum length for all pages together, in UTF-16 units: a few thousand updates of usual length. */
const MAX_LENGTH = 2_000_000;

/** Renders Markdown as HTML, with headings from level `topHeading` down. */
export type RenderText = (source: string, topHeading: number) => string;

/** Renders without a cache. */
export const renderText: RenderText = (source, topHeading) =>
  renderMarkdown(source, { topHeading });

/**
 * Caches texts by their source, since most texts of a page stay when it changes. Texts of a status page are
 * rendered into this cache in several turns of the event loop, before the page. Together they may take
 * 65 ms, and no turn may take more than 100 ms.
 *
 * Without this cache, a feed after a change takes 1.31 times the processor time and a status page 1.05
 * times (200 components, 1,000 incidents).
 */
export function createMarkdownCache(render: RenderText = renderText): RenderText {
  const cache = new LRUCache<string, string>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (html, key) => html.length + key.length,
  });
  return (source, topHeading) => {
    const key = `${topHeading} ${source}`;
    let html = cache.get(key);
    if (html === undefined) {
      html = render(source, topHeading);
      cache.set(key, html);
    }
    return html;
  };
}

/** Control characters other than tab and line breaks, non-characters and lone surrogates. */
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]|\p{Surrogate}/gu;

/** Removes the characters that XML 1.0 and RFC 5545 cannot represent. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "");
}
