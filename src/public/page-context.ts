import { withLanguage } from "../features/pages/language-links";
import type { Tone } from "../base/status";
import { DAY_MS, toIso } from "../base/time";
import type { Days } from "../base/zones";
import type { StatusDocument } from "../features/status/wire";
import { headlineKey, toneOf } from "../features/status/rules";
import type { SummaryCursor } from "../features/timeline/store";
import { type PageWords, pageWordsOf } from "../ui/words";
import type { OfferedLanguage } from "./chosen-language";
import { createPageTimes, type PageTimes, type TimesOf } from "./page-times";
import { type RenderText, renderText as renderTextUncached } from "./text";

/** Context of every document of a status page: the page, its headline and its paths. */
export interface PageContext {
  page: StatusDocument["page"];
  /** Headline of the page in sentence case, with its tone. */
  headline: string;
  tone: Tone;
  paths: PagePaths;
  times: PageTimes;
  /** Words in the language of the document. */
  words: PageWords;
  /** Version of the content, from `versionOf`; undefined for a preview, which is not refreshed. */
  version: string | undefined;
  /** Set for a copy, which is not refreshed, has no forms and shows its age. */
  copy: StaticCopy | undefined;
  /** Set if the data is old. */
  delay: Delay | undefined;
  /** Language that the visitor has chosen; undefined for that of the page. */
  language: string | undefined;
  /** Languages among which visitors choose; none if the page has a single one. */
  languages: readonly OfferedLanguage[];
  /** Renders Markdown as HTML. */
  renderText: RenderText;
}

/** Functions that render parts of a page, which may use a cache. */
export interface Rendering {
  renderText?: RenderText;
  timesOf?: TimesOf;
  /** Version of the content, with which the script refreshes the page. */
  version?: string;
  copy?: StaticCopy;
  delay?: Delay;
  /** Language that the visitor has chosen, which the paths keep. */
  language?: string | undefined;
  languages?: readonly OfferedLanguage[];
}

/** Time of old data, and the present, in unix ms. */
export interface Delay {
  asOf: number;
  now: number;
}

/** Returns the context of a page. By default it renders without caches. */
export function contextOf(
  document: StatusDocument,
  {
    renderText = renderTextUncached,
    timesOf = createPageTimes,
    version,
    copy,
    delay,
    language,
    languages = [],
  }: Rendering = {},
): PageContext {
  const { page } = document;
  const words = pageWordsOf(page.locale);
  const paths = pathsOf(page.slug, language);
  return {
    page,
    headline: words.t(headlineKey(document)),
    tone: toneOf(document),
    paths: copy ? pathsOfCopy(paths, originOf(page), copy) : paths,
    times: timesOf(page),
    words,
    version,
    copy,
    delay,
    language,
    languages,
    renderText,
  };
}

/** Returns the address of a page's host, without a slash at its end. */
export function originOf({ url, slug }: Pick<StatusDocument["page"], "url" | "slug">): string {
  return url.slice(0, -pathsOf(slug).home.length);
}

/** Returns the address of a live document; without a path, that of the status page. */
export function liveUrl(
  { page, paths }: Pick<PageContext, "page" | "paths">,
  path: string | undefined = paths.page,
): string {
  return originOf(page) + path;
}

/** A copy of a status page that is sent without a server. */
export interface StaticCopy {
  /** Time at which the copy was made, in unix ms. */
  madeAt: number;
  /** Month of the history that is copied: `YYYY-MM`. */
  month: string;
  /** Ids of the incidents and maintenances that are copied. */
  entries: ReadonlySet<string>;
}

/**
 * Paths of the documents of a status page, without a host. In a copy, documents that are not copied have their
 * whole address.
 */
export interface PagePaths {
  home: string;
  /** Path of the status page in the language of these paths. All others but `home` and `json` are in it, too. */
  page: string;
  history: string;
  /** Path of a month of the history: its newest entries, or those after the cursor `before`. */
  month(month: string, before?: string): string;
  /** Path of the report of a month. */
  report(month: string): string;
  /** Path of the list of open incidents: the newest, or those after the cursor `before`. */
  open(before?: string): string;
  /** Path of an incident: its newest updates, or those before the update with this id. */
  incident(id: string, before?: string): string;
  maintenance(id: string, before?: string): string;
  /** Path of a group of components. */
  group(id: string): string;
  /** Path of the page that lists all ways to subscribe; only of public pages. */
  subscribe: string;
  /** Path of the page after a sign-up. */
  subscribed: string;
  atom: string;
  rss: string;
  calendar: string;
  /** Path of the web manifest, with which browsers put the page on a home screen. */
  manifest: string;
  badge: string;
  json: string;
}

/** Returns the paths of the page with this slug, in a language that a visitor has chosen. */
export function pathsOf(slug: string, language?: string): PagePaths {
  const home = `/status/${slug}`;
  const below = (rest: string) => withLanguage(home + rest, language);
  return {
    home,
    page: below(""),
    history: below("/history"),
    month: (month, before) => below(`/history?month=${month}${before ? `&before=${before}` : ""}`),
    report: (month) => below(`/report/${month}`),
    open: (before) => below(`/incidents${beforeQuery(before)}`),
    incident: (id, before) => below(`/incidents/${id}${beforeQuery(before)}`),
    maintenance: (id, before) => below(`/maintenance/${id}${beforeQuery(before)}`),
    group: (id) => below(`/groups/${id}`),
    subscribe: below("/subscribe"),
    subscribed: below("/subscribe/sent"),
    atom: below("/feed.atom"),
    rss: below("/feed.rss"),
    calendar: below("/calendar.ics"),
    manifest: below("/manifest.webmanifest"),
    badge: below("/badge.svg"),
    json: `${home}/summary.json`,
  };
}

/**
 * Returns the paths of a copy. What it lacks has the address of the live document, which begins with `origin`:
 * all parts of a list but the first, other months, older entries, and groups.
 */
function pathsOfCopy(paths: PagePaths, origin: string, copy: StaticCopy): PagePaths {
  const isCopied = (id: string, before?: string) => before === undefined && copy.entries.has(id);
  return {
    ...paths,
    month(month, before) {
      const isFirstPart = month === copy.month && before === undefined;
      return isFirstPart ? paths.history : origin + paths.month(month, before);
    },
    report: (month) => origin + paths.report(month),
    open: (before) => (before === undefined ? paths.open() : origin + paths.open(before)),
    incident: (id, before) => (isCopied(id, before) ? "" : origin) + paths.incident(id, before),
    maintenance: (id, before) =>
      (isCopied(id, before) ? "" : origin) + paths.maintenance(id, before),
    group: (id) => origin + paths.group(id),
  };
}

function beforeQuery(before: string | undefined): string {
  return before === undefined ? "" : `?before=${before}`;
}

/** A calendar month in a time zone. */
export interface Month {
  /** `YYYY-MM`. */
  name: string;
  /** Start of the month and of the next one, in unix ms. */
  from: number;
  to: number;
  /** Names of the adjacent months; undefined before 1970 and in the future. */
  previous: string | undefined;
  next: string | undefined;
}

export const MONTH_PATTERN = "^[0-9]{4}-(0[1-9]|1[0-2])$";

/**
 * Returns the month of a name, by default the present one; undefined if it is before 1970 or starts after `now` (unix
 * ms).
 */
export function monthOf(name: string | undefined, now: number, days: Days): Month | undefined {
  const present = monthNameOf(days.dayOf(now));
  const shown = name ?? present;
  const [year = 0, number = 0] = shown.split("-").map(Number);
  if (year < 1970 || shown > present) return undefined;
  const [first, next] = [Date.UTC(year, number - 1), Date.UTC(year, number)];
  return {
    name: shown,
    from: days.startOf(first),
    to: days.startOf(next),
    previous: first > 0 ? monthNameOf(first - DAY_MS) : undefined,
    next: shown < present ? monthNameOf(next) : undefined,
  };
}

/** Returns the name of the month of a UTC day or a day of a page, in unix ms. */
export function monthNameOf(day: number): string {
  return toIso(day).slice(0, 7);
}

/** Cursor in the history of a month: start in unix ms and id of an entry. */
export const CURSOR_PATTERN = "^[0-9]{1,15}-(?:inc|mnt)_[0-9a-z]+$";

/** Returns a cursor as the text used in links. */
export function formatCursor({ at, id }: SummaryCursor): string {
  return `${at}-${id}`;
}

/** Reads a cursor that matches the pattern. */
export function parseCursor(text: string | undefined): SummaryCursor | undefined {
  if (text === undefined) return undefined;
  const hyphen = text.indexOf("-");
  return { at: Number(text.slice(0, hyphen)), id: text.slice(hyphen + 1) };
}
