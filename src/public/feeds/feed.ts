import type { Feed } from "feed";
import { WHOLE_TURN } from "../../base/in-slices";
import { lazy } from "../../base/lazy";
import type { Page } from "../../features/pages/model";
import type { Entry } from "./entries";
import type { RenderText } from "../markdown-cache";
import { printable } from "../printable";
import { createTextBudget } from "../text-budget";

/** Library, loaded with the first feed and not at the start of the server. */
const library = lazy(() => require("feed") as typeof import("feed"));

/** Bytes of HTML for all texts of a feed. The most recently updated entries come first. */
const TEXTS_BYTES = 300_000;
/** Bytes of HTML of an update without its text. */
const UPDATE_BYTES = 200;
const TOP_HEADING = 3;

/** Formats of feeds. */
export const FEEDS = [
  { name: "Atom", ending: "atom", mediaType: "application/atom+xml", write: writeAtom },
  { name: "RSS", ending: "rss", mediaType: "application/rss+xml", write: writeRss },
] as const;

/** Names of a page's feed without its ending: that of Statuspage, and ours. */
export const FEED_NAMES = ["history", "feed"] as const;

/** An entry of a feed with its content as HTML. */
interface RenderedEntry {
  entry: Entry;
  html: string;
}

/** Renders the entries of a feed in order, each in its own turn of the event loop. */
export function* renderEntries(
  entries: readonly Entry[],
  renderText: RenderText,
): Generator<number, RenderedEntry[]> {
  const budget = createTextBudget(TEXTS_BYTES, renderText, TOP_HEADING, UPDATE_BYTES);
  const rendered: RenderedEntry[] = [];
  for (const entry of entries) {
    rendered.push({ entry, html: inCdata(entry.content(budget)) });
    yield WHOLE_TURN;
  }
  return rendered;
}

/** Writes the entries of a page as Atom (RFC 4287). Ids are `urn:uuid:` and never change. */
export function writeAtom(page: Page, rendered: readonly RenderedEntry[]): string {
  const feed = createFeed(page, rendered, "feed.atom");
  for (const { entry, html } of rendered) {
    feed.addItem({
      ...common(entry),
      title: Bun.escapeHTML(entry.name),
      published: new Date(entry.publishedAt),
      date: new Date(entry.changedAt),
      content: html,
    });
  }
  return printable(withTextTitles(feed.atom1()));
}

/**
 * Writes the entries of a page as RSS 2.0. Readers find news by the single date of an entry, which is
 * therefore the time of its last update.
 */
export function writeRss(page: Page, rendered: readonly RenderedEntry[]): string {
  const feed = createFeed(page, rendered, "feed.rss");
  for (const { entry, html } of rendered) {
    feed.addItem({
      ...common(entry),
      title: entry.name,
      // The extension replaces the title, which the library would write as CDATA.
      extensions: [{ name: "title", objects: { _text: asText(entry.name) } }],
      date: new Date(entry.lastUpdateAt),
      description: html,
    });
  }
  return printable(feed.rss2());
}

/** Title of an entry as the library writes it. Escaped texts cannot contain this form. */
const HTML_TITLE = /<title type="html"><!\[CDATA\[(.*?)\]\]><\/title>/g;

/** Declares titles as text instead of HTML, since some readers show the escapes of HTML. */
function withTextTitles(atom: string): string {
  return atom.replace(HTML_TITLE, '<title type="text">$1</title>');
}

function common(entry: Entry) {
  return {
    id: urnOf(entry.id),
    link: entry.url,
    category: entry.categories.map((name) => ({ name, term: name })),
  };
}

/** Creates a feed. `updated` depends only on the entries, so that the bytes stay without a change. */
function createFeed(page: Page, rendered: readonly RenderedEntry[], file: string): Feed {
  const changes = rendered.map(({ entry }) => entry.changedAt);
  return new (library().Feed)({
    id: urnOf(page.id),
    title: asText(page.name),
    description: asText(page.description ?? `Incidents and maintenance of ${page.name}`),
    link: page.url,
    feed: `${page.url}/${file}`,
    updated: new Date(changes.reduce((a, b) => (a < b ? b : a), page.created_at)),
    author: { name: asText(page.name) },
    language: page.locale,
    generator: "Allclear",
  });
}

/** Escapes ampersands, since the library regards `&amp;` in a text as already escaped. */
function asText(text: string): string {
  return text.replaceAll("&", "&amp;");
}

/** Escapes every end of a CDATA section in HTML; the library escapes only the first. */
function inCdata(html: string): string {
  return html.replaceAll("]]>", "]]&gt;");
}

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * Returns the id of a resource as the `urn:uuid:` (RFC 9562) that it encodes. It does not change with the
 * slug of the page or the address of the server.
 */
function urnOf(id: string): string {
  let value = 0n;
  for (const digit of id.slice(id.indexOf("_") + 1)) {
    value = (value << 5n) | BigInt(CROCKFORD.indexOf(digit));
  }
  const hex = value.toString(16).padStart(32, "0");
  const groups = [0, 8, 12, 16, 20].map((from, index, all) => hex.slice(from, all[index + 1]));
  return `urn:uuid:${groups.join("-")}`;
}
