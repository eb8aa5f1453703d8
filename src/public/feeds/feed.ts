import type { Feed } from "feed";
import { WHOLE_TURN } from "../../kernel/in-slices";
import { lazy } from "../../kernel/lazy";
import type { Page } from "../../features/pages";
import type { Entry } from "./entries";
import type { RenderText } from "../markdown-cache";
import { printable } from "../printable";
import { createTextBudget } from "../text-budget";

/** Loaded with the first feed, not while the server starts. */
const library = lazy(() => require("feed") as typeof import("feed"));

/** Bytes of HTML for all texts of a feed. The most recently updated entries come first. */
const TEXTS_BYTES = 300_000;
/** Bytes of HTML of an update without its text. */
const UPDATE_BYTES = 200;
const TOP_HEADING = 3;

/** An entry of a feed with its content as HTML. */
interface RenderedEntry {
  entry: Entry;
  html: string;
}

/** Renders the entries of a feed, newest first, each in a turn of its own. */
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

/** A page's entries as Atom (RFC 4287). Ids are `urn:uuid:` and never change. */
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
 * A page's entries as RSS 2.0. It has one date for each, where readers look whether there is something
 * new: when something was told last.
 */
export function writeRss(page: Page, rendered: readonly RenderedEntry[]): string {
  const feed = createFeed(page, rendered, "feed.rss");
  for (const { entry, html } of rendered) {
    feed.addItem({
      ...common(entry),
      title: entry.name,
      // Text in the place of the title, which the library would write as CDATA.
      extensions: [{ name: "title", objects: { _text: asText(entry.name) } }],
      date: new Date(entry.toldAt),
      description: html,
    });
  }
  return printable(feed.rss2());
}

/** The only form in which the library writes the title of an entry. No escaped text contains it. */
const HTML_TITLE = /<title type="html"><!\[CDATA\[(.*?)\]\]><\/title>/g;

/** Declares titles to be text, for readers that show the escapes of HTML: escaped once, they are. */
function withTextTitles(atom: string): string {
  return atom.replace(HTML_TITLE, '<title type="text">$1</title>');
}

function common(entry: Entry) {
  return {
    id: urnOf(entry.id),
    link: entry.url,
    category: entry.words.map((word) => ({ name: word, term: word })),
  };
}

/** `updated` tells of the entries alone, so that the bytes stay while nothing is told. */
function createFeed(page: Page, rendered: readonly RenderedEntry[], file: string): Feed {
  const changes = rendered.map(({ entry }) => entry.changedAt);
  return new (library().Feed)({
    id: urnOf(page.id),
    title: asText(page.name),
    description: asText(page.description ?? `What happens at ${page.name}`),
    link: page.url,
    feed: `${page.url}/${file}`,
    updated: new Date(changes.reduce((a, b) => (a < b ? b : a), page.created_at)),
    author: { name: asText(page.name) },
    language: page.locale,
    generator: "Allclear",
  });
}

/** The library takes `&amp;` in a text for what has been escaped already. */
function asText(text: string): string {
  return text.replaceAll("&", "&amp;");
}

/** HTML for a CDATA section, whose end it must not hold: of several the library mends the first alone. */
function inCdata(html: string): string {
  return html.replaceAll("]]>", "]]&gt;");
}

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * The id of a resource as the `urn:uuid:` (RFC 9562) that it is made of: an IRI that stays the same
 * whatever the page's slug and the server's address become. Takes ids that this server has made.
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
