import { WHOLE_TURN } from "../base/in-slices";
import {
  IMPACT_TONES,
  INCIDENT_STATUSES,
  STATUS_TONES,
  type Tone,
  TONES,
  worstStatus,
} from "../base/status";
import { lazy } from "../base/lazy";
import { DAY_MS, MINUTE_MS, toIso } from "../base/time";
import type { Reader } from "../db/statements";
import type { Incident } from "../features/incidents/wire";
import { isUnderWay } from "../features/maintenance/rules";
import type { Maintenance } from "../features/maintenance/wire";
import type { SparklineData } from "../features/monitors/latency";
import {
  type EntryNames,
  type HistoryEntry,
  PAST_DAYS,
  readEntryNames,
  type ReadEntryNames,
  readPastEntries,
} from "../features/status/entries";
import { readLatency } from "../features/status/histories";
import type { Snapshot } from "../features/status/snapshots";
import { Shape, StatusLabel } from "../ui/blocks";
import { type HtmlDocument, renderDocument } from "../ui/documents";
import { Icon } from "../ui/icons";
import { StatusRing } from "../ui/pictures";
import { minifyCss } from "../ui/style-sheet";
import { useWords } from "../ui/words";
import input from "../ui/css/input.css" with { type: "text" };
import manyCss from "./css/many.css" with { type: "text" };
import {
  Components,
  Counted,
  GroupDays,
  isLarge,
  isNew,
  isTroubled,
  type ListedGroup,
  type RenderRow,
  renderRow as renderRowUncached,
  type RowCache,
  rowSteps,
  shownComponents,
  tallyOf,
} from "./component-list";
import {
  type DaySection,
  DaySections,
  type EntrySpan,
  groupByDay,
  newestOf,
  type ShownUpdate,
  UpdateList,
} from "./entries";
import { contextOf, originOf, type PageContext, type Rendering } from "./page-context";
import { NOTE_HEADING, renderPage } from "./page-document";
import { ClockTime } from "./page-times";
import { hasEnded, MaintenanceState } from "./state";
import { Affects, createTextBudget, moreThan, Text, type TextBudget } from "./text";

/** Budget of user text on the page, in bytes of HTML. Permalinks show whole texts. */
const TEXTS_BYTES = 100_000;

const TOP_HEADING = 4;

/** Style sheet added to that of all pages on large pages and those of groups. */
const largeCss = lazy(() => minifyCss(`${input}\n${manyCss}`));

/** Content of component rows that the status document lacks. */
interface RowExtras {
  latency: ReadonlyMap<string, SparklineData>;
  /** Names of the incidents and maintenances in the charts of components. */
  names: EntryNames;
}

/** Content of the page that the status document lacks. */
export interface PageExtras extends RowExtras {
  past: readonly HistoryEntry[];
}

/** Reads the extras. Rendering reads nothing else from the database. `now` is in unix ms. */
export function readPageExtras(
  reader: Reader,
  snapshot: Snapshot,
  now: number,
  readNames: ReadEntryNames = readEntryNames,
): PageExtras {
  const past = readPastEntries(reader, snapshot.document.page.id, now);
  return { past, ...readRowExtras(reader, snapshot, now, readNames) };
}

/** Reads the extras of the page of a group, which has rows alone. */
export function readRowExtras(
  reader: Reader,
  snapshot: Snapshot,
  now: number,
  readNames: ReadEntryNames,
): RowExtras {
  return {
    latency: readLatency(reader, snapshot.document, latencyUntil(snapshot, now)),
    names: readNames(reader, snapshot, now),
  };
}

/**
 * Returns the time until which results of checks are shown, at `now` (unix ms). In a fleet they are five minutes old: by
 * then they are stored, and those of an hour are rolled up.
 */
function latencyUntil({ sharedAt }: Snapshot, now: number): number {
  return sharedAt === undefined ? now : sharedAt - 5 * MINUTE_MS;
}

/** Renders a status page from the same snapshot as its JSON, at `now` (unix ms). */
export function renderStatusPage(
  snapshot: Snapshot,
  { past, latency, names }: PageExtras,
  now: number,
  { renderRow = renderRowUncached, ...rendering }: Rendering & { renderRow?: RenderRow } = {},
): HtmlDocument {
  const { document } = snapshot;
  const context = contextOf(document, rendering);
  const { dayOf } = context.times;
  const today = dayOf(now);
  const first = today - (PAST_DAYS - 1) * DAY_MS;
  const since = Math.max(first, dayOf(Date.parse(document.page.created_at)));
  const shown = past.filter(({ to }) => to === null || dayOf(to) >= first);
  const sections = groupByDay(shown, context.times, {
    from: since,
    to: today,
    others: ongoingSpans(snapshot),
  });
  const isNew = since === today && shown.every(({ from }) => dayOf(from) >= today);
  // Incidents come before maintenance and use the budget first.
  const budget = createTextBudget(TEXTS_BYTES, context.renderText, TOP_HEADING);
  return renderPage({
    context,
    title: context.headline,
    current: "status",
    css: isLarge(snapshot) ? largeCss() : "",
    children: (
      <>
        {context.page.sample ? <SampleNotice context={context} /> : null}
        <Banner snapshot={snapshot} context={context} now={now} />
        {context.page.description ? (
          <p class="muted lead" dir="auto">
            {context.page.description}
          </p>
        ) : null}
        <OpenIncidents snapshot={snapshot} context={context} budget={budget} />
        <MaintenanceList maintenance={document.maintenance} context={context} budget={budget} />
        <Components
          snapshot={snapshot}
          latency={latency}
          names={names}
          context={context}
          renderRow={renderRow}
        />
        {context.page.look.hide_history ? null : (
          <Past sections={sections} today={today} isNew={isNew} context={context} />
        )}
      </>
    ),
  });
}

/** Renders the page of a group with the days of its components, which a large status page lacks. */
export function renderGroupPage(
  snapshot: Snapshot,
  group: ListedGroup,
  extras: RowExtras,
  { renderRow = renderRowUncached, ...rendering }: Rendering & { renderRow?: RenderRow } = {},
): HtmlDocument {
  const context = contextOf(snapshot.document, rendering);
  const { id, name, description, components } = group;
  return renderPage({
    context,
    title: name,
    path: context.paths.group(id),
    css: largeCss(),
    description: description ?? "",
    children: (
      <>
        <header class="title">
          <h1 dir="auto">{name}</h1>
          <StatusLabel status={worstStatus(components.map(({ status }) => status))} />
        </header>
        {description ? (
          <p class="muted lead" dir="auto">
            {description}
          </p>
        ) : null}
        <GroupDays
          group={group}
          snapshot={snapshot}
          {...extras}
          context={context}
          renderRow={renderRow}
        />
      </>
    ),
  });
}

interface StepsRendering extends Rendering {
  prepareRow: RowCache["prepare"];
  readNames: ReadEntryNames;
}

/**
 * Fills the caches with the rows and texts of a status page step by step, before it is rendered. Yields
 * the work of each step for `runInSlices`. Rows whose extras change meanwhile are rendered again.
 */
export function* statusPageSteps(
  reader: Reader,
  snapshot: Snapshot,
  now: number,
  { prepareRow, readNames, ...rendering }: StepsRendering,
): Generator<number, void> {
  const { document } = snapshot;
  const context = contextOf(document, rendering);
  // The turn before has built the snapshot.
  yield WHOLE_TURN;
  const { header, footer, notice } = document.page.look;
  for (const note of [header, footer, notice]) if (note) context.renderText(note, NOTE_HEADING);
  yield WHOLE_TURN;
  const extras = readRowExtras(reader, snapshot, now, readNames);
  yield* rowSteps({ snapshot, ...extras, context }, prepareRow);
  const budget = createTextBudget(TEXTS_BYTES, context.renderText, TOP_HEADING);
  for (const incident of listedInFull(snapshot)) {
    newestOf(incident.updates, budget);
    yield WHOLE_TURN;
  }
  for (const maintenance of document.maintenance) {
    textsOf(maintenance, budget);
    yield WHOLE_TURN;
  }
}

/** Fills the cache with the rows of a group, before its page is rendered, as for a status page. */
export function* groupPageSteps(
  reader: Reader,
  snapshot: Snapshot,
  group: ListedGroup,
  now: number,
  { prepareRow, readNames, ...rendering }: StepsRendering,
): Generator<number, void> {
  const context = contextOf(snapshot.document, rendering);
  yield WHOLE_TURN;
  const extras = readRowExtras(reader, snapshot, now, readNames);
  yield* rowSteps({ snapshot, ...extras, context }, prepareRow, group);
}

/** Renders the page at `/` while there is no public status page. */
export function renderEmptyHome(): HtmlDocument {
  return renderDocument({
    title: "Allclear",
    children: (
      <main class="column">
        <header class="page-head">
          <h1>Allclear</h1>
        </header>
        <p>There is no public status page here yet.</p>
        <p class="muted">
          To create one, describe it in a file and run <code>allclear apply status.yaml</code>.
        </p>
      </main>
    ),
  });
}

/** Says how to create an own page: by the set-up link, whose secret part is left out, or by a file. */
function SampleNotice({ context: { copy, page } }: { context: PageContext }) {
  const { say } = useWords();
  const origin = originOf(page);
  const before = copy ? origin : "";
  return (
    <div class="card notice">
      <p>
        {say("sample.own", {
          link: <code>{origin}/admin/setup/…</code>,
          dashboard: (text) => <a href={`${before}/admin`}>{text}</a>,
        })}
      </p>
      <p class="muted">
        {say("sample.file", {
          command: <code>allclear apply status.yaml</code>,
          path: <code>/api/v1/status/&lt;slug&gt;</code>,
          docs: (text) => <a href={`${before}/docs`}>{text}</a>,
        })}
      </p>
    </div>
  );
}

interface PastProps {
  sections: readonly DaySection[];
  today: number;
  /** True if nothing is known from before the present day. */
  isNew: boolean;
  context: PageContext;
}

/** Past entries at the end of a status page. */
function Past({ sections, today, isNew, context }: PastProps) {
  const { say } = useWords();
  return (
    <section id="past" aria-labelledby="past-title">
      <div class="section-head">
        <h2 id="past-title">
          {isNew ? say("past.since_today") : say("past.days", { count: PAST_DAYS })}
        </h2>
        <a href={context.paths.history}>{say("past.earlier")}</a>
      </div>
      {sections.length === 0 ? <p class="muted">{say("past.none")}</p> : null}
      {sections.length > 0 ? (
        <DaySections sections={sections} today={today} context={context} />
      ) : null}
    </section>
  );
}

/** Returns the spans of open incidents and started maintenance. */
function ongoingSpans({ document }: Snapshot): EntrySpan[] {
  return [...document.incidents, ...document.maintenance].flatMap(({ started_at: at }) =>
    at === null ? [] : [{ from: Date.parse(at), to: null }],
  );
}

/** Maximum number of components that the sentence names. */
const NAMED_IN_BANNER = 2;

interface BannerProps {
  snapshot: Snapshot;
  context: PageContext;
  /** Time of the data, in unix ms. */
  now: number;
}

/** Headline of a page with its mark, a sentence about its components, and their number by status. */
function Banner({ snapshot, context, now }: BannerProps) {
  const { t, say } = useWords();
  const { headline, tone, times, copy } = context;
  const isBrief = isLarge(snapshot) && snapshot.document.components.some(isTroubled);
  // The sentence of a large page counts the operational ones.
  const tally = tallyOf(shownComponents(snapshot).filter((one) => !isBrief || isTroubled(one)));
  return (
    <section class={`banner t-${tone}`} id="banner" aria-label={t("now.label")}>
      <div class="banner-now">
        <Mark tone={tone} />
        <div>
          <h1>{headline}</h1>
          <p>
            <Sentence snapshot={snapshot} />
          </p>
        </div>
      </div>
      <div class="banner-foot">
        {tally.length === 0 ? null : (
          <ul class="tally">
            {tally.map((counted) => (
              <li>
                <Counted {...counted} />
              </li>
            ))}
          </ul>
        )}
        <span>
          {say("now.as_of", {
            time: <ClockTime at={toIso(copy?.madeAt ?? now)} times={times} />,
          })}{" "}
          <span data-live-note={`· ${t("live.refreshes")}`} />
        </span>
      </div>
    </section>
  );
}

/** Ring with the shape of the tone in it, or with a tick if all is well. */
function Mark({ tone }: { tone: Tone }) {
  return (
    <span class={`mark t-${tone}`}>
      <StatusRing tone={tone} />
      {tone === "ok" ? <Icon name="check" /> : <Shape tone={tone} />}
    </span>
  );
}

/** Sentence that names the components with the worst status and counts other affected ones. Includes hidden ones. */
function Sentence({ snapshot }: { snapshot: Snapshot }) {
  const { say, list, gap } = useWords();
  const { components } = snapshot.document;
  const [worst] = tallyOf(components);
  const count = snapshot.openIncidentCount;
  if (!worst) {
    return <>{count > 0 ? say("now.incidents", { count }) : say("now.no_components")}</>;
  }
  const { status } = worst;
  if (status === "operational") {
    if (count > 0) return <>{say("now.incidents_only", { count })}</>;
    return <>{say(isNew(components, snapshot) ? "now.new" : "now.fine")}</>;
  }
  const named = components.filter((one) => one.status === status);
  const affected = components.filter(isTroubled).length;
  const others = affected - named.length;
  const working = components.length - affected;
  const names = list(named.slice(0, NAMED_IN_BANNER).map(({ name }) => <bdi>{name}</bdi>));
  const rest =
    isLarge(snapshot) && working > 0
      ? say("now.working", { count: working, total: components.length })
      : others > 0
        ? say("now.others", { count: others })
        : working > 0
          ? say("now.others_fine")
          : undefined;
  return (
    <>
      {named.length > NAMED_IN_BANNER
        ? say(`now.many.${status}`, { count: named.length })
        : say(`now.${status}`, { count: named.length, names })}
      {rest === undefined ? "" : gap}
      {rest}
    </>
  );
}

/** Maximum number of open incidents shown in full. */
const FULL_SHOWN = 3;
/** Maximum number of further open incidents shown as one line. */
const LINES_SHOWN = 10;
/** Maximum number of components named at an incident or a maintenance. */
const COMPONENTS_NAMED = 8;

interface OpenIncidentsProps {
  snapshot: Snapshot;
  context: PageContext;
  budget: TextBudget;
}

/** Open incidents, worst first: some in full, some as one line, and the number of the others. */
function OpenIncidents({ snapshot, context, budget }: OpenIncidentsProps) {
  const { say } = useWords();
  const count = snapshot.openIncidentCount;
  const incidents = worstFirst(snapshot.document.incidents);
  if (incidents.length === 0) return <section id="open" />;
  const lines = incidents.slice(FULL_SHOWN, FULL_SHOWN + LINES_SHOWN);
  const others = count - Math.min(incidents.length, FULL_SHOWN + LINES_SHOWN);
  return (
    <section id="open" aria-labelledby="open-title">
      <div class="section-head">
        <h2 id="open-title">{say("open.title")}</h2>
        {count > 1 ? <span>{say("open.count", { count })}</span> : null}
      </div>
      {listedInFull(snapshot).map((incident) => (
        <OpenIncident key={incident.id} incident={incident} context={context} budget={budget} />
      ))}
      {lines.length === 0 ? null : (
        <ul class="card">
          {lines.map((incident) => (
            <IncidentLine key={incident.id} incident={incident} context={context} />
          ))}
        </ul>
      )}
      {others > 0 ? (
        <p class="more">
          <a href={context.paths.open()}>{say("open.others", { count: others })}</a>
        </p>
      ) : null}
    </section>
  );
}

/** Returns the incidents that the page shows in full, worst first. */
function listedInFull({ document }: Snapshot): Incident[] {
  return worstFirst(document.incidents).slice(0, FULL_SHOWN);
}

/** Sorts incidents by impact; those of one impact stay in their order, newest first. */
function worstFirst(incidents: readonly Incident[]): Incident[] {
  const severityOf = ({ impact }: Incident) => TONES.indexOf(IMPACT_TONES[impact]);
  return incidents.toSorted((a, b) => severityOf(b) - severityOf(a));
}

function OpenIncident(props: { incident: Incident; context: PageContext; budget: TextBudget }) {
  const words = useWords();
  const { say, langOf } = words;
  const { incident, context, budget } = props;
  const { paths, times } = context;
  const href = paths.incident(incident.id);
  const { id, name, status, impact, started_at, components, updates, truncated } = incident;
  const named = components.slice(0, COMPONENTS_NAMED);
  const shown = newestOf(updates, budget);
  const [newest, ...earlier] = shown;
  const isMore = updates.length > shown.length;
  const tone = IMPACT_TONES[impact];
  return (
    // The refresh of an open page identifies the incident by this id, since names can be equal.
    <article class={`card story t-${tone}`} id={id}>
      <div class="story-head">
        <h3 dir="auto" lang={langOf(incident)}>
          <a href={href}>{name}</a>
        </h3>
        <span class={`chip t-${tone}`}>
          <Shape tone={tone} />
          {say(`impact.${impact}`)}
        </span>
      </div>
      <p class="meta">
        {say("open.began", { time: <ClockTime at={started_at} hasAge times={times} /> })}
      </p>
      <Phases status={status} />
      {newest ? (
        <div class="newest" id={newest.update.id}>
          <Text text={newest.text} of={newest.update} href={`${href}#${newest.update.id}`} />
          <p class="meta">
            <ClockTime at={newest.update.display_at} hasAge times={times} />
          </p>
        </div>
      ) : null}
      <AffectedChips
        components={named}
        more={moreThan(words, components.length, COMPONENTS_NAMED, truncated)}
        isOpen
      />
      {earlier.length > 0 ? (
        <details class="fold">
          <summary>
            <Icon name="chevron-right" />
            {say("updates.earlier_count", { count: earlier.length })}
          </summary>
          <UpdateList
            shown={earlier}
            impact={impact}
            times={times}
            named={COMPONENTS_NAMED}
            isTruncated={truncated}
            href={href}
          />
        </details>
      ) : null}
      {isMore ? (
        <p class="more">
          <a href={href}>{say("updates.all")}</a>
        </p>
      ) : null}
    </article>
  );
}

/** The four phases of an incident, with the current one marked. */
function Phases({ status }: { status: Incident["status"] }) {
  const { t, say } = useWords();
  const current = INCIDENT_STATUSES.indexOf(status);
  return (
    <ol class="phases" aria-label={t("open.phases")}>
      {INCIDENT_STATUSES.map((phase, index) => (
        <li
          class={index < current ? "done" : index === current ? "now" : undefined}
          aria-current={index === current ? "step" : undefined}
        >
          {say(`incident.${phase}`)}
        </li>
      ))}
    </ol>
  );
}

interface AffectedChipsProps {
  components: Incident["components"];
  /** Words after the last component, such as "and 3 more". */
  more: string;
  /** True while the incident is open. */
  isOpen: boolean;
}

/** Components of an incident with the status that it gives them, or “ended” if it no longer gives one. */
function AffectedChips({ components, more, isOpen }: AffectedChipsProps) {
  const { t, say } = useWords();
  if (components.length === 0) return null;
  return (
    <ul class="chips" aria-label={t("affected.title")}>
      {components.map(({ id, name, status }) => {
        const ended = hasEnded(status, isOpen);
        const tone = ended ? "ok" : STATUS_TONES[status];
        return (
          <li key={id} class={`chip t-${tone}`}>
            <Shape tone={tone} />
            <bdi>{name}</bdi>
            {ended ? (
              <> · {say("affected.ended_short")}</>
            ) : (
              <span class="unseen">: {say(`status.${status}`)}</span>
            )}
          </li>
        );
      })}
      {more === "" ? null : <li class="muted">{more}</li>}
    </ul>
  );
}

function IncidentLine({ incident, context }: { incident: Incident; context: PageContext }) {
  const { t, say, langOf } = useWords();
  const { id, name, status, impact, started_at, components, truncated } = incident;
  return (
    <li class="line">
      <Shape tone={IMPACT_TONES[impact]} />
      <div>
        <h3 dir="auto" lang={langOf(incident)}>
          <a href={context.paths.incident(id)}>{name}</a>
        </h3>
        <p class="meta">
          <span class="unseen">
            {say(`impact.${impact}`)}
            {t("list.separator")}
          </span>
          {say(`incident.${status}`)} ·{" "}
          {say("open.since", { time: <ClockTime at={started_at} times={context.times} /> })}
          <Affects components={components} max={2} isTruncated={truncated} />
        </p>
      </div>
    </li>
  );
}

/** Number of maintenances that are shown without unfolding. */
const SHOWN = 5;

interface MaintenanceListProps {
  maintenance: readonly Maintenance[];
  context: PageContext;
  budget: TextBudget;
}

/** Maintenance in progress and upcoming, as far as the text budget allows. */
function MaintenanceList({ maintenance, context, budget }: MaintenanceListProps) {
  const { say } = useWords();
  if (maintenance.length === 0) return <section id="maintenance" />;
  const rows = maintenance.map((one) => (
    <MaintenanceRow key={one.id} maintenance={one} context={context} budget={budget} />
  ));
  const others = rows.slice(SHOWN);
  return (
    <section id="maintenance" aria-labelledby="maintenance-title">
      <div class="section-head">
        <h2 id="maintenance-title">{say("planned.title")}</h2>
        {context.page.visibility === "public" ? (
          <a href={context.paths.calendar}>{say("planned.to_calendar")}</a>
        ) : null}
      </div>
      <ul class="card">{rows.slice(0, SHOWN)}</ul>
      {others.length > 0 ? (
        <details class="fold">
          <summary>
            <Icon name="chevron-right" />
            {say("list.others", { count: others.length })}
          </summary>
          <ul class="card">{others}</ul>
        </details>
      ) : null}
    </section>
  );
}

function MaintenanceRow(props: {
  maintenance: Maintenance;
  context: PageContext;
  budget: TextBudget;
}) {
  const { maintenance, context, budget } = props;
  const { id, name, components, truncated } = maintenance;
  const { scheduled_for: at, scheduled_until: until } = maintenance;
  const { paths, times } = context;
  const href = paths.maintenance(id);
  const shown = textsOf(maintenance, budget);
  const { month, day } = times.tile(at);
  return (
    <li class="plan">
      <span class="date" aria-hidden="true">
        {month}
        <b>{day}</b>
      </span>
      <div>
        <h3 dir="auto">
          <a href={href}>{name}</a>
        </h3>
        <p class="meta">
          <ClockTime at={at} until={until} times={times} />
          <Affects components={components} max={COMPONENTS_NAMED} isTruncated={truncated} />
        </p>
      </div>
      <MaintenanceState maintenance={maintenance} />
      {isUnderWay(maintenance.status) ? (
        <UpdateList shown={shown} times={times} named={0} href={href} />
      ) : (
        shown.map(({ update, text }) => <Text text={text} of={update} href={href} />)
      )}
    </li>
  );
}

/** Returns the shown updates of a maintenance: only the newest if it has not started. */
function textsOf({ status, updates }: Maintenance, budget: TextBudget): ShownUpdate[] {
  if (isUnderWay(status)) return newestOf(updates, budget);
  return updates.slice(0, 1).map((update) => ({ update, text: budget.fitOrBegin(update) }));
}
