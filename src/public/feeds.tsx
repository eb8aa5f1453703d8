import type { Feed } from "feed";
import ical, { ICalEventStatus, ICalEventTransparency } from "ical-generator";
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { notFound } from "../base/errors";
import { makeInSlices, WHOLE_TURN } from "../base/in-slices";
import { lazy } from "../base/lazy";
import type { IncidentStatus, MaintenanceStatus } from "../base/status";
import { capitalised, withLineFeeds } from "../base/text";
import { HOUR_MS, isUtcZone, SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import type { Reader } from "../db/statements";
import { listNewestIncidents, type ReadRecords } from "../features/incidents/records";
import { type Incident, presentIncident } from "../features/incidents/wire";
import { updateKey } from "../features/timeline/updates";
import { listMaintenance, listPendingMaintenance } from "../features/maintenance/records";
import { type Maintenance, presentMaintenance } from "../features/maintenance/wire";
import { withLanguage } from "../features/pages/language-links";
import type { Page } from "../features/pages/wire";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import type { InSomeLanguage } from "../languages/tags";
import { declareRoutes } from "../http/elysia";
import { representOnce } from "../http/representation";
import { exactTime } from "../ui/times";
import { InWords, type PageWords, pageWordsOf, useWords } from "../ui/words";
import { chosenLanguage } from "./chosen-language";
import { createPageTimes } from "./page-times";
import {
  createMarkdownCache,
  createTextBudget,
  moreThan,
  Names,
  printable,
  type RenderText,
  type ShownText,
  type TextBudget,
} from "./text";
import {
  type Call,
  createDocumentSender,
  createFileServer,
  document,
  represent,
  type RepresentationOf,
} from "./site";
import type { Visitors } from "./visitors";

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

/** Part of a snapshot that feeds and calendars show. */
interface Shown {
  document: { page: Page };
}

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
function writeAtom(snapshot: Shown, rendered: readonly RenderedEntry[]): string {
  const feed = createFeed(snapshot, rendered, "feed.atom");
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
function writeRss(snapshot: Shown, rendered: readonly RenderedEntry[]): string {
  const feed = createFeed(snapshot, rendered, "feed.rss");
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
function createFeed(snapshot: Shown, rendered: readonly RenderedEntry[], file: string): Feed {
  const { page } = snapshot.document;
  const words = pageWordsOf(page.locale);
  const changes = rendered.map(({ entry }) => entry.changedAt);
  return new (library().Feed)({
    id: urnOf(page.id),
    title: asText(page.name),
    description: asText(page.description ?? words.t("feed.description", { page: page.name })),
    link: inOwnLanguage(page.url, snapshot),
    feed: inOwnLanguage(`${page.url}/${file}`, snapshot),
    updated: new Date(changes.reduce((a, b) => (a < b ? b : a), page.created_at)),
    author: { name: asText(page.name) },
    language: words.lang,
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

const CALENDAR = "text/calendar";

/** Routes of feeds and calendars of pages. */
export function feedRoutes(
  ctx: Ctx,
  snapshots: Snapshots,
  visitors: Visitors,
  readIncidents: ReadRecords,
) {
  const renderText = createMarkdownCache();
  const feeds = FEEDS.map(({ write, ...feed }) => ({
    ...feed,
    representationOf: makeInSlices(function* (snapshot: Snapshot) {
      // After a change, the first turn builds the snapshot and the second reads records.
      yield WHOLE_TURN;
      // The page may have changed or become private between the turns.
      const current = visitors.readAgain(snapshot);
      const entries = listEntries(ctx.db, current, ctx.baseUrl, readIncidents);
      yield WHOLE_TURN;
      const rendered = yield* renderEntries(entries, renderText);
      // The page may have become private or public meanwhile.
      visitors.readAgain(current);
      return represent(write(current, rendered), feed.mediaType);
    }),
  }));
  const calendarOf = representOnce((snapshot: Snapshot) => {
    const maintenances = listCalendar(ctx.db, snapshot, ctx.baseUrl);
    return represent(writeCalendar(snapshot, maintenances), CALENDAR);
  });
  const serve = createFileServer(ctx, snapshots, visitors);
  const send = createDocumentSender(ctx, snapshots, visitors);

  /** Returns the handler of a feed of the default page, or of the page of a custom domain. */
  function serveDefault(representationOf: RepresentationOf) {
    return (call: Omit<Call, "params">) => {
      const slug = visitors.homeSlug(call.requestContext);
      if (slug === undefined) throw notFound("status page");
      return send(slug, call, representationOf);
    };
  }

  const routes = declareRoutes();
  for (const { name, ending, mediaType, representationOf } of feeds) {
    const summary = `Read the ${name} feed of the default page`;
    routes.get(
      `/history.${ending}`,
      serveDefault(representationOf),
      document(`getDefaultHistory${capitalised(ending)}`, summary, mediaType, AS_STATUSPAGE, {}),
    );
  }
  for (const { idOf, file, suffix, description } of FEED_FILES) {
    for (const { name, ending, mediaType, representationOf } of feeds) {
      const path = `${file}.${ending}` as const;
      const summary = `Read the ${name} feed of a page${suffix}`;
      routes.get(
        `/status/:slug/${path}`,
        serve(path, representationOf),
        document(idOf(capitalised(ending)), summary, mediaType, description),
      );
    }
  }
  return routes.get(
    "/status/:slug/calendar.ics",
    serve("calendar.ics", calendarOf),
    document("getCalendar", "Read the maintenance calendar of a page", CALENDAR, PLANNED),
  );
}

const NEWEST =
  "The 50 most recently updated incidents and maintenances, each with its updates as content.";

const AS_STATUSPAGE = "The same feed at the path of Atlassian Statuspage.";

/** File names of a page's feed, in every format. */
const FEED_FILES = [
  {
    file: FEED_NAMES[0],
    idOf: (format: string) => `getHistory${format}`,
    suffix: " at the path of Statuspage",
    description: AS_STATUSPAGE,
  },
  {
    file: FEED_NAMES[1],
    idOf: (format: string) => `get${format}Feed`,
    suffix: "",
    description: NEWEST,
  },
] as const;

const PLANNED =
  "Upcoming and recently planned maintenance. UIDs are stable, SEQUENCE counts changes, and cancelled maintenance has that status.";

/** Maximum number of entries of a feed. */
const ENTRIES_MAX = 50;

/** Entry of a feed: an incident or a maintenance with its updates. Times are ISO 8601. */
interface Entry {
  id: string;
  url: string;
  name: string;
  /** Categories such as `incident`, `major` and `resolved`. */
  categories: readonly string[];
  publishedAt: string;
  /** Time of its last update or of its post-mortem. */
  lastUpdateAt: string;
  /** Time of its last change, including corrections. */
  changedAt: string;
  /** Renders its HTML within the budget of the feed. */
  content(budget: TextBudget): string;
}

/**
 * Returns the most recently updated incidents and maintenance of a page, latest first, with their times in the
 * page's time zone too. Candidates are the
 * ones on the status page, which shows the next occurrence of each schedule, and the newest others of both. Their
 * addresses begin with that of the page in the snapshot.
 */
export function listEntries(
  reader: Reader,
  snapshot: Snapshot,
  baseUrl: string,
  readIncidents?: ReadRecords,
): Entry[] {
  const { page, incidents, maintenance } = snapshot.document;
  const words = pageWordsOf(page.locale);
  const isPlain = isUtcZone(page.time_zone) && words.isEnglish;
  const written = { words, timeOf: isPlain ? exactTime : createPageTimes(page).moment };
  const newest = { pageId: page.id, limit: ENTRIES_MAX };
  const newestIncidents = listNewestIncidents(reader, newest, readIncidents).map((record) =>
    presentIncident(record, baseUrl),
  );
  const newestMaintenance = listMaintenance(reader, { ...newest, isOccurrence: 0 }).map((record) =>
    presentMaintenance(record, baseUrl),
  );
  const entries = [
    ...[...incidents, ...newestIncidents].map((one) =>
      ofIncident(
        { ...one, url: inOwnLanguage(`${page.url}/incidents/${one.id}`, snapshot) },
        written,
      ),
    ),
    ...[...maintenance, ...newestMaintenance].map((one) =>
      ofMaintenance({ ...one, url: maintenanceUrl(snapshot, one) }, written),
    ),
  ];
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()]
    .sort((a, b) => compare(b.lastUpdateAt, a.lastUpdateAt) || compare(b.id, a.id))
    .slice(0, ENTRIES_MAX);
}

function maintenanceUrl(snapshot: Shown, { id }: Pick<Maintenance, "id">): string {
  return inOwnLanguage(`${snapshot.document.page.url}/maintenance/${id}`, snapshot);
}

/** Returns an address of a page in the language of a snapshot. */
function inOwnLanguage(url: string, snapshot: Shown): string {
  return withLanguage(url, chosenLanguage(snapshot));
}

/** Words and times in the language of the page. */
interface Written {
  words: PageWords;
  /** Writes an ISO 8601 instant. */
  timeOf(iso: string): string;
}

function ofIncident(incident: Incident, written: Written): Entry {
  const { id, url, name, status, impact, updates, postmortem } = incident;
  const { started_at, updated_at } = incident;
  const times = [started_at, ...updates.map((update) => update.display_at)];
  if (postmortem?.published_at) times.push(postmortem.published_at);
  return {
    id,
    url,
    name,
    categories: ["incident", ...(impact === "none" ? [] : [impact]), status],
    publishedAt: started_at,
    lastUpdateAt: latest(times),
    changedAt: updated_at,
    content: (budget) => incidentContent(incident, budget, written),
  };
}

function ofMaintenance(maintenance: Maintenance, written: Written): Entry {
  const { id, url, name, status, created_at, updated_at, updates } = maintenance;
  return {
    id,
    url,
    name,
    categories: ["maintenance", status],
    publishedAt: created_at,
    lastUpdateAt: latest([created_at, ...updates.map((update) => update.display_at)]),
    changedAt: updated_at,
    content: (budget) => maintenanceContent(maintenance, budget, written),
  };
}

function latest(instants: readonly string[]): string {
  return instants.reduce((a, b) => (a < b ? b : a));
}

/** Compares times or ids, both of which sort chronologically as text. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Maximum length of the updates of an entry in Markdown, in UTF-16 units. The newest may exceed it. */
const UPDATES_MAX_LENGTH = 20_000;

/** Maximum number of components named by an entry and by each update; the others are counted. */
const NAMES_SHOWN = 24;

type TimeOf = Written["timeOf"];

interface Update extends InSomeLanguage {
  id: string;
  status: IncidentStatus | MaintenanceStatus;
  body: string;
  display_at: string;
}

/** Renders an incident for a feed: its post-mortem, if any, and its updates, newest first. */
function incidentContent(
  incident: Incident,
  budget: TextBudget,
  { words, timeOf }: Written,
): string {
  const { components, postmortem, updates, url, truncated } = incident;
  return renderToString(
    <InWords value={words}>
      <Affected components={components} isTruncated={truncated} />
      {postmortem?.published_at ? (
        <FeedText
          title={words.say("entry.postmortem")}
          at={postmortem.published_at}
          text={budget.fitOrBegin(postmortem)}
          url={url}
          timeOf={timeOf}
        />
      ) : null}
      <Updates url={url} updates={updates} budget={budget} timeOf={timeOf}>
        {(update) => <NamedComponents components={update.components} isTruncated={truncated} />}
      </Updates>
    </InWords>,
  );
}

/** Renders a maintenance for a feed: its planned times and its updates, newest first. */
function maintenanceContent(
  maintenance: Maintenance,
  budget: TextBudget,
  { words, timeOf }: Written,
): string {
  const { components, truncated, updates, url } = maintenance;
  const { scheduled_for: from, scheduled_until: until } = maintenance;
  return renderToString(
    <InWords value={words}>
      <p>
        {words.say("planned.from_until", {
          from: <time dateTime={from}>{timeOf(from)}</time>,
          until: <time dateTime={until}>{timeOf(until)}</time>,
        })}
      </p>
      <Affected components={components} isTruncated={truncated} />
      <Updates url={url} updates={updates} budget={budget} timeOf={timeOf} />
    </InWords>,
  );
}

function Affected(props: {
  components: readonly { name: string }[];
  isTruncated?: boolean | undefined;
}) {
  const { say } = useWords();
  const { components, isTruncated } = props;
  if (components.length === 0) return null;
  const names = components.map(({ name }) => name);
  return (
    <p>
      {say("list.affected", {
        names: <Names names={names} max={NAMES_SHOWN} isTruncated={isTruncated} />,
      })}
    </p>
  );
}

function Updates<T extends Update>(props: {
  url: string;
  updates: readonly T[];
  budget: TextBudget;
  timeOf: TimeOf;
  children?: (update: T) => ComponentChildren;
}) {
  const { say } = useWords();
  const { url, updates } = props;
  const shown = newest(updates, props.budget);
  return (
    <>
      {shown.map(({ update, text }) => (
        <FeedText
          key={update.id}
          title={say(updateKey(update.status))}
          at={update.display_at}
          of={update}
          text={text}
          url={url}
          timeOf={props.timeOf}
        >
          {props.children?.(update)}
        </FeedText>
      ))}
      {shown.length < updates.length ? (
        <p>
          <a href={url}>{say("updates.earlier")}</a>
        </p>
      ) : null}
    </>
  );
}

/** Text with its title and time. */
function FeedText(props: {
  title: ComponentChildren;
  at: string;
  /** The update that has the text. */
  of?: InSomeLanguage;
  text: ShownText;
  url: string;
  timeOf: TimeOf;
  children?: ComponentChildren;
}) {
  const { say, langOf } = useWords();
  const { text, of = null } = props;
  const lang = langOf(of);
  return (
    <>
      <p>
        <small>
          <time dateTime={props.at}>{props.timeOf(props.at)}</time>
        </small>
        <br />
        <strong>{props.title}</strong>
      </p>
      {"html" in text ? (
        <div lang={lang} dangerouslySetInnerHTML={{ __html: text.html }} />
      ) : (
        <p dir="auto">
          {lang === undefined ? text.words : <span lang={lang}>{text.words}</span>}{" "}
          <a href={props.url}>{say("updates.read_on")}</a>
        </p>
      )}
      {props.children}
    </>
  );
}

/** Components of an update with their statuses. */
function NamedComponents(props: {
  components: Incident["updates"][number]["components"];
  isTruncated: boolean | undefined;
}) {
  const words = useWords();
  const { components, isTruncated } = props;
  if (components.length === 0) return null;
  const more = moreThan(words, components.length, NAMES_SHOWN, isTruncated);
  return (
    <ul>
      {components.slice(0, NAMES_SHOWN).map(({ id, name, new_status: status }) => (
        <li key={id}>
          <bdi>{name}</bdi>: {words.say(`status.${status}`)}
        </li>
      ))}
      {more === "" ? null : <li>{more}</li>}
    </ul>
  );
}

/** Returns the newest updates that fit the entry and the feed, but at least the first words of one. */
function newest<T extends Update>(
  updates: readonly T[],
  budget: TextBudget,
): { update: T; text: ShownText }[] {
  const shown: { update: T; text: ShownText }[] = [];
  let length = 0;
  for (const update of updates) {
    length += update.body.length;
    const isFirst = shown.length === 0;
    if (!isFirst && length > UPDATES_MAX_LENGTH) break;
    const text = isFirst ? budget.fitOrBegin(update) : budget.fit(update);
    if (!text) break;
    shown.push({ update, text });
  }
  return shown;
}

/** Maximum number of maintenances that have not ended, and of the most recently planned others. */
const UPCOMING_MAX = 500;
const NEWEST_MAX = 100;
/** Maximum length of a description, in code points, and bytes of all descriptions without their links. */
const DESCRIPTION_MAX_LENGTH = 4_000;
const DESCRIPTIONS_MAX_BYTES = 1_048_576;
/** Last time that the format can write: its years have four digits. */
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Returns the maintenance in a page's calendar, ordered by start. Each occurrence of a schedule is an event of
 * its own: a rule of the format (RRULE) cannot express most cron expressions, and each can be changed.
 */
export function listCalendar(reader: Reader, snapshot: Snapshot, baseUrl: string): Maintenance[] {
  const { page, maintenance } = snapshot.document;
  const records = [
    ...listPendingMaintenance(reader, { pageId: page.id, limit: UPCOMING_MAX }),
    ...listMaintenance(reader, { pageId: page.id, isUpcoming: 0, limit: NEWEST_MAX }),
  ];
  const all = [...maintenance, ...records.map((record) => presentMaintenance(record, baseUrl))].map(
    (one) => ({ ...one, url: maintenanceUrl(snapshot, one) }),
  );
  return [...new Map(all.map((one) => [one.id, one])).values()].sort((a, b) =>
    a.scheduled_for + a.id < b.scheduled_for + b.id ? -1 : 1,
  );
}

/**
 * Writes maintenance as a calendar (RFC 5545). The UID of an event is the id and its SEQUENCE the version
 * of the maintenance, so that calendars follow every change. Cancelled maintenance keeps its event. If all
 * descriptions are too long, those of the earliest maintenance are left out but for their links.
 */
export function writeCalendar(snapshot: Shown, maintenances: readonly Maintenance[]): string {
  const { page } = snapshot.document;
  const words = pageWordsOf(page.locale);
  const timeOf = words.isEnglish
    ? exactTime
    : createPageTimes({ locale: page.locale, time_zone: "UTC" }).moment;
  const calendar = ical({
    prodId: { company: "Allclear", product: "Maintenance", language: words.lang.toUpperCase() },
    // The library does not escape the texts of the calendar itself.
    name: escapeText(lineOf(page.name)),
    source: inOwnLanguage(`${page.url}/calendar.ics`, snapshot),
    ttl: HOUR_MS / SECOND_MS,
  });
  let left = DESCRIPTIONS_MAX_BYTES;
  const descriptions = maintenances.toReversed().map((maintenance) => {
    const text = describe(maintenance, { words, timeOf });
    left -= Buffer.byteLength(text);
    return left < 0 ? maintenance.url : `${text}\n\n${maintenance.url}`;
  });
  for (const maintenance of maintenances) {
    const description = descriptions.pop() ?? maintenance.url;
    calendar.createEvent({
      id: maintenance.id,
      sequence: maintenance.version,
      stamp: maintenance.updated_at,
      created: maintenance.created_at,
      lastModified: maintenance.updated_at,
      start: maintenance.scheduled_for,
      end: wholeSecondAfter(maintenance.scheduled_until),
      summary: lineOf(maintenance.name),
      description: printable(withLineFeeds(description)),
      url: maintenance.url,
      status:
        maintenance.status === "cancelled" ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
      // The event does not mark subscribers as busy.
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  // The library omits the line break at the end.
  return `${calendar.toString()}\r\n`;
}

/** Rounds up to whole seconds, as the format needs them, so that an event never ends at its start. */
function wholeSecondAfter(iso: string): Date {
  const ms = Math.ceil(Date.parse(iso) / SECOND_MS) * SECOND_MS;
  return new Date(Math.min(ms, LAST_SECOND));
}

function describe(
  { components, truncated, updates }: Maintenance,
  { words: { t }, timeOf }: Written,
): string {
  const texts = updates.map(
    ({ status, display_at: at, body }) => `${t(`maintenance.${status}`)} · ${timeOf(at)}\n${body}`,
  );
  if (components.length > 0) {
    const names = components.map(({ name }) => name).join(t("list.separator"));
    const more = truncated ? ` ${t("list.more_unknown")}` : "";
    texts.unshift(t("list.affected", { names: names + more }));
  }
  // Enough UTF-16 units to see if there is one code point too many.
  const beginning = texts.join("\n\n").slice(0, 2 * DESCRIPTION_MAX_LENGTH + 2);
  const points = Array.from(beginning);
  const isTruncated = points.length > DESCRIPTION_MAX_LENGTH;
  return points.slice(0, DESCRIPTION_MAX_LENGTH).join("") + (isTruncated ? "…" : "");
}

/** Returns a name on one line: earlier versions accepted other separators of lines in names. */
function lineOf(name: string): string {
  return printable(withLineFeeds(name)).replaceAll("\n", " ");
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&");
}
