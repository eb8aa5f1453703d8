import { WHOLE_TURN } from "../base/in-slices";
import type { Reader } from "../db/statements";
import type { SparklineData } from "../features/monitors/sparklines";
import {
  type EntryNames,
  readEntryNames,
  type ReadEntryNames,
} from "../features/status/entry-names";
import {
  type HistoryEntry,
  PAST_DAYS,
  readLatency,
  readPastEntries,
} from "../features/status/history";
import type { Snapshot } from "../features/status/snapshot";
import { DAY_MS, MINUTE_MS } from "../base/time";
import { type HtmlDocument, renderDocument } from "../ui/documents";
import { Banner } from "./banner";
import { Components, rowPropsOf, shownComponents } from "./component-list";
import {
  type ComponentRowProps,
  type RenderRow,
  renderRow as renderRowUncached,
} from "./component-row";
import { type DaySection, DaySections, type EntrySpan, groupByDay } from "./entries";
import { MaintenanceList, textsOf } from "./maintenance-list";
import { listedInFull, OpenIncidents } from "./open-incidents";
import { contextOf, originOf, type PageContext, type Rendering } from "./page-context";
import { renderPage } from "./page-document";
import { createTextBudget } from "./text-budget";
import { newestOf } from "./update-list";

/** Budget of user text on the page, in bytes of HTML. Permalinks show whole texts. */
const TEXTS_BYTES = 100_000;

const TOP_HEADING = 4;

/** Content of the page that the status document lacks. */
export interface PageExtras {
  past: readonly HistoryEntry[];
  latency: ReadonlyMap<string, SparklineData>;
  /** Names of the incidents and maintenances in the charts of components. */
  names: EntryNames;
}

/** Reads the extras. Rendering reads nothing else from the database. `now` is in unix ms. */
export function readPageExtras(
  reader: Reader,
  snapshot: Snapshot,
  now: number,
  readNames: ReadEntryNames = readEntryNames,
): PageExtras {
  const { document } = snapshot;
  return {
    past: readPastEntries(reader, document.page.id, now),
    latency: readLatency(reader, document, latencyUntil(snapshot, now)),
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
    children: (
      <>
        {context.page.sample ? <SampleNotice context={context} /> : null}
        <Banner snapshot={snapshot} context={context} now={now} />
        {context.page.description ? <p class="muted lead">{context.page.description}</p> : null}
        <OpenIncidents snapshot={snapshot} context={context} budget={budget} />
        <MaintenanceList maintenance={document.maintenance} context={context} budget={budget} />
        <Components
          snapshot={snapshot}
          latency={latency}
          names={names}
          context={context}
          renderRow={renderRow}
        />
        <Past sections={sections} today={today} isNew={isNew} context={context} />
      </>
    ),
  });
}

interface StepsRendering extends Rendering {
  prepareRow(row: ComponentRowProps): void;
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
  const latency = readLatency(reader, document, latencyUntil(snapshot, now));
  const names = readNames(reader, snapshot, now);
  for (const component of shownComponents(snapshot)) {
    prepareRow(rowPropsOf(component, { snapshot, latency, names, context }));
    yield 1;
  }
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

function SampleNotice({ context: { copy, page } }: { context: PageContext }) {
  const origin = copy ? originOf(page) : "";
  return (
    <div class="card notice">
      <p>
        This is a sample. Describe your own page in a file and run{" "}
        <code>allclear apply status.yaml</code>: it takes this one's place.
      </p>
      <p class="muted">
        Programs read this page at <code>/api/v1/status/&lt;slug&gt;</code>; see{" "}
        <a href={`${origin}/docs`}>the API's documentation</a>.
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
  const html = context.renderPart("past", [sections, today, isNew], () => (
    <>
      <div class="section-head">
        <h2 id="past-title">{isNew ? "Since today" : `Last ${PAST_DAYS} days`}</h2>
        <a href={context.paths.history}>Earlier history</a>
      </div>
      {sections.length === 0 ? <p class="muted">No other incidents or maintenance.</p> : null}
      {sections.length > 0 ? (
        <DaySections sections={sections} today={today} context={context} />
      ) : null}
    </>
  ));
  return (
    <section id="past" aria-labelledby="past-title" dangerouslySetInnerHTML={{ __html: html }} />
  );
}

/** Returns the spans of open incidents and started maintenance. */
function ongoingSpans({ document }: Snapshot): EntrySpan[] {
  return [...document.incidents, ...document.maintenance].flatMap(({ started_at: at }) =>
    at === null ? [] : [{ from: Date.parse(at), to: null }],
  );
}
