import { PAST_DAYS, type Snapshot } from "../features/status";
import { DAY_MS, startOfDay, toIso } from "../kernel/time";
import { type HtmlDocument, IndicatorShape, renderDocument } from "../ui";
import { ClockTime } from "./clock-time";
import { Components } from "./component-list";
import { Chapters, chaptersOf, entriesOf } from "./entries";
import { MaintenanceList } from "./maintenance-list";
import { OpenIncidents } from "./open-incidents";
import { contextOf, type PageContext, renderPage } from "./page-document";

/** The public page of one status page, made from the same snapshot as its JSON, at `now` (unix ms). */
export function renderStatusPage(snapshot: Snapshot, now: number): HtmlDocument {
  const { document } = snapshot;
  const context = contextOf(document);
  return renderPage({
    context,
    title: document.status.description,
    children: (
      <>
        {context.page.description ? <p class="muted lead">{context.page.description}</p> : null}
        {context.page.sample ? <SampleNotice /> : null}
        <Banner context={context} now={now} />
        <OpenIncidents incidents={document.incidents} context={context} />
        <MaintenanceList maintenance={document.maintenance} context={context} />
        <Components snapshot={snapshot} times={context.times} />
        <Past snapshot={snapshot} context={context} now={now} />
      </>
    ),
  });
}

/** The page at `/` while there is no public page to show. */
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
          Describe one in a file and run <code>allclear apply status.yaml</code>.
        </p>
      </main>
    ),
  });
}

function SampleNotice() {
  return (
    <div class="card notice">
      <p>
        This is a sample. Describe your own page in a file and run{" "}
        <code>allclear apply status.yaml</code>: it takes this one's place.
      </p>
      <p class="muted">
        Programs read this page at <code>/api/v1/status/&lt;slug&gt;</code>; see{" "}
        <a href="/docs">the API's documentation</a>.
      </p>
    </div>
  );
}

function Banner({ context, now }: { context: PageContext; now: number }) {
  const { status, times } = context;
  return (
    <div class={`banner is-${status.indicator}`} role="status">
      <IndicatorShape indicator={status.indicator} />
      <div>
        <strong>{status.description}</strong>{" "}
        <span class="muted">
          As of <ClockTime at={toIso(now)} times={times} />
        </span>
      </div>
    </div>
  );
}

function Past(props: { snapshot: Snapshot; context: PageContext; now: number }) {
  const { snapshot, context, now } = props;
  const { document, past } = snapshot;
  const from = startOfDay(now) - (PAST_DAYS - 1) * DAY_MS;
  const chapters = chaptersOf(entriesOf(past.incidents, past.maintenance), {
    from: Math.max(from, startOfDay(Date.parse(context.page.created_at))),
    to: now,
    others: entriesOf(document.incidents, document.maintenance.filter(isBegun)),
  });
  return (
    <section aria-labelledby="past">
      <h2 class="section-title" id="past">
        The last {PAST_DAYS} days
      </h2>
      {chapters.length === 0 ? <p class="muted">Nothing else to report.</p> : null}
      <Chapters chapters={chapters} topHeading={3} context={context} />
      <p class="more">
        <a href={context.paths.history}>Earlier history</a>
      </p>
    </section>
  );
}

function isBegun({ started_at: at }: { started_at: string | null }): boolean {
  return at !== null;
}
