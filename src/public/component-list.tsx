import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { percent, sum } from "../base/numbers";
import { COMPONENT_STATUSES, STATUS_TONES, type Tone, worstStatus } from "../base/status";
import { plural } from "../base/text";
import { DAY_MS, MINUTE_MS, toIso } from "../base/time";
import type { DayOf } from "../features/components/rules";
import type { SparklineData, SparklineData as Latency } from "../features/monitors/latency";
import type { EntryNames } from "../features/status/entries";
import { type DayEntries, UPTIME_DAYS } from "../features/status/histories";
import type { Snapshot } from "../features/status/snapshots";
import type { StatusDocument } from "../features/status/wire";
import type { SentPage } from "../http/answers";
import { Shape, STATUS_WORDS } from "../ui/blocks";
import { Sparkline } from "../ui/charts";
import { DayChart, type DayRun, DayTable, runsOf, type StatusDay } from "../ui/day-charts";
import type { HtmlDocument } from "../ui/documents";
import { Icon } from "../ui/icons";
import { latencyText } from "../ui/times";
import type { PageContext, PagePaths } from "./page-context";
import type { PageTimes } from "./page-times";

/** Number of components from which rows out of sight are laid out later. */
const MANY = 60;

type Component = Snapshot["document"]["components"][number];
type Group = Snapshot["document"]["groups"][number];

interface ComponentsProps {
  snapshot: Snapshot;
  /** Response times by component id. */
  latency: ReadonlyMap<string, SparklineData>;
  /** Names of the incidents and maintenances in the charts. */
  names: EntryNames;
  context: Pick<PageContext, "paths" | "times">;
  renderRow: RenderRow;
}

/** Components of a page with their days, those without a group first. */
export function Components({ renderRow, ...props }: ComponentsProps) {
  const { snapshot } = props;
  const { document } = snapshot;
  const shown = shownComponents(snapshot);
  if (shown.length === 0) return <section id="components" />;
  const byGroup = Map.groupBy(shown, (component) => component.group_id);
  const rowsOf = (components: readonly Component[]) =>
    components.map((component) => renderRow(rowPropsOf(component, props)));
  const ungrouped = byGroup.get(null) ?? [];
  const drawn = shown.filter(({ showcase }) => showcase);
  return (
    <section
      id="components"
      class={shown.length > MANY ? "many" : undefined}
      aria-labelledby="components-title"
    >
      <div class="section-head">
        <h2 id="components-title">Components</h2>
        {drawn.length > 0 ? <span>{spanOf(drawn, snapshot)}</span> : null}
      </div>
      {ungrouped.length > 0 ? (
        <div class="card" data-days>
          <Rows components={ungrouped} rows={rowsOf(ungrouped)} snapshot={snapshot} />
        </div>
      ) : null}
      {document.groups.map((group) => {
        const own = byGroup.get(group.id) ?? [];
        return own.length === 0 ? null : (
          <ComponentGroup key={group.id} group={group} components={own} snapshot={snapshot}>
            <Rows components={own} rows={rowsOf(own)} snapshot={snapshot} group={group.name} />
          </ComponentGroup>
        );
      })}
      {drawn.length > 0 ? (
        <>
          <Key />
          <Method />
        </>
      ) : null}
    </section>
  );
}

interface ComponentGroupProps {
  group: Group;
  components: readonly Component[];
  snapshot: Snapshot;
  children: ComponentChildren;
}

function ComponentGroup({ group, components, snapshot, children }: ComponentGroupProps) {
  const worst = worstStatus(components.map(({ status }) => status));
  const isOpen =
    group.collapse === "expanded" ||
    (group.collapse === "collapsed_unless_incident" && worst !== "operational");
  const uptimes = components
    .filter(({ showcase }) => showcase)
    .map((component) => shownUptime(component, snapshot.daysOf(component.id)))
    .filter((uptime) => uptime !== null);
  return (
    <details class="card group" open={isOpen} data-days>
      <summary>
        <Icon name="chevron-right" />
        <h3>
          {group.name} <small>{plural(components.length, "component")}</small>
        </h3>
        <span class="up">
          {uptimes.length > 0 ? <Uptime uptime={sum(uptimes) / uptimes.length} /> : null}
        </span>
        <Shape tone={STATUS_TONES[worst]} />
        <span class="unseen">{STATUS_WORDS[worst]}</span>
      </summary>
      {group.description ? <p class="muted group-text">{group.description}</p> : null}
      {children}
    </details>
  );
}

interface RowsProps {
  components: readonly Component[];
  /** Rows of these components. They are text, since cached rows need no elements. */
  rows: readonly RowHtml[];
  snapshot: Snapshot;
  /** Name of the group, if the components are in one. */
  group?: string;
}

/**
 * Rows of components above a common axis, which opens the tables of their days. The text of a day lies on
 * the axis and not in it, since it may have links.
 */
function Rows({ components, rows, snapshot, group }: RowsProps) {
  const drawn = components.filter(({ showcase }) => showcase);
  const tables = rows.map(({ table }) => table).join("");
  return (
    <>
      <ul dangerouslySetInnerHTML={{ __html: rows.map(({ row }) => row).join("") }} />
      {drawn.length === 0 ? null : (
        <div class="axis">
          <details class="day-table">
            <summary>
              <span class="open-days">
                Days as a table
                {group === undefined ? null : <span class="unseen">: {group}</span>}
              </span>
              <span class="ends">
                <span>{isNew(drawn, snapshot) ? "" : `${daysOf(drawn, snapshot)} days ago`}</span>
                <span>{isNew(drawn, snapshot) ? "Since today" : "Today"}</span>
              </span>
              <span>Uptime</span>
            </summary>
            <div dangerouslySetInnerHTML={{ __html: tables }} />
          </details>
          <p data-day-note />
        </div>
      )}
    </>
  );
}

/** Returns the number of days in the charts of components. */
function daysOf([first]: readonly Component[], snapshot: Snapshot): number {
  return first ? snapshot.daysOf(first.id).length : 0;
}

/** Returns true if these components have no data from before today. */
export function isNew(components: readonly Component[], snapshot: Snapshot): boolean {
  return components.every(({ id }) =>
    snapshot
      .daysOf(id)
      .slice(0, -1)
      .every(({ known, noData }) => known + noData === 0),
  );
}

/** Returns "Last 90 days", or "Since today" if the components are new. */
function spanOf(components: readonly Component[], snapshot: Snapshot): string {
  return isNew(components, snapshot) ? "Since today" : `Last ${daysOf(components, snapshot)} days`;
}

const KEY: readonly { tone: Tone; word: string }[] = [
  { tone: "ok", word: "Operational" },
  { tone: "maint", word: "Maintenance" },
  { tone: "degraded", word: "Degraded" },
  { tone: "partial", word: "Partial outage" },
  { tone: "major", word: "Major outage" },
];

function Key() {
  return (
    <ul class="key" aria-label="Key">
      {KEY.map(({ tone, word }) => (
        <li>
          <Shape tone={tone} />
          {word}
        </li>
      ))}
    </ul>
  );
}

function Method() {
  return (
    <details class="fold method">
      <summary>
        <Icon name="chevron-right" />
        How uptime is calculated
      </summary>
      <p>
        Over the last {UPTIME_DAYS} days, today included, in time: 1 − (major outage + 0.3 × partial
        outage) ÷ (known time − maintenance). Degraded performance counts as up; time without data
        is excluded. The uptime of a group is the mean of its components. Days begin at midnight
        UTC. The cap of a bar is the part of the day that was not operational, in the colour of the
        worst status.
      </p>
    </details>
  );
}

/** Returns the components that a page shows, in order. */
export function shownComponents({ document }: Snapshot): Component[] {
  return document.components.filter(
    (component) => !component.only_show_if_degraded || component.status !== "operational",
  );
}

/** Returns the properties of a component's row. */
export function rowPropsOf(
  component: Component,
  { snapshot, latency, names, context }: Omit<ComponentsProps, "renderRow">,
): ComponentRowProps {
  const { id, name, description, status, showcase, uptime_90d } = component;
  return {
    component: { name, description, status, showcase, uptime_90d },
    days: snapshot.daysOf(id),
    entries: snapshot.entriesOf(id),
    names,
    latency: latency.get(id),
    paths: context.paths,
    times: context.times,
  };
}

/** Properties of a component that a row shows. */
type RowComponent = Pick<
  StatusDocument["components"][number],
  "name" | "description" | "status" | "showcase" | "uptime_90d"
>;

export interface ComponentRowProps {
  component: RowComponent;
  /** Days of the chart, oldest first. */
  days: readonly DayOf[];
  /** Incidents and maintenances of affected days, by start of the day, which belong to `days`. */
  entries: ReadonlyMap<number, DayEntries>;
  /** Names of the incidents and maintenances that are shown. */
  names: EntryNames;
  latency: Latency | undefined;
  paths: PagePaths;
  times: PageTimes;
}

/** HTML of a component. */
interface RowHtml {
  /** Its row, as a list item. */
  row: string;
  /** Table of its days; empty if the page does not show them. */
  table: string;
}

/** Renders a component. */
export type RenderRow = (row: ComponentRowProps) => RowHtml;

/** Renders without a cache. */
export const renderRow: RenderRow = (props) => {
  const { component, days, times } = props;
  const runs = component.showcase
    ? runsOf(
        drawDays(days, (start) => entriesOf(start, props)),
        times,
      )
    : undefined;
  return {
    row: renderToString(<ComponentRow {...props} runs={runs} />),
    table: runs ? renderToString(<DayTable caption={component.name} runs={runs} />) : "",
  };
};

/** Row of a component. It must not have icons: cached rows are added after the page's sprite is made. */
function ComponentRow(props: ComponentRowProps & { runs: readonly DayRun[] | undefined }) {
  const { component, days, latency, runs } = props;
  const { name, description, status } = component;
  const isOk = status === "operational";
  const tone = STATUS_TONES[status];
  return (
    <li class="component">
      <div class="name">
        <strong>{name}</strong>
        {isOk ? null : <small class={`t-${tone}`}>{STATUS_WORDS[status]}</small>}
        {description ? <small class="desc">{description}</small> : null}
      </div>
      {runs ? <DayChart label={`${name}, day by day`} runs={runs} /> : null}
      <span class="up">{runs ? <Uptime uptime={shownUptime(component, days)} /> : null}</span>
      <Shape tone={tone} />
      {isOk ? <span class="unseen">{STATUS_WORDS[status]}</span> : null}
      {latency ? <LatencyLine line={latency} /> : null}
    </li>
  );
}

/** Uptime as a figure, or a dash if there is none yet. */
function Uptime({ uptime }: { uptime: number | null }) {
  return uptime === null ? (
    <>
      –<span class="unseen"> no uptime yet</span>
    </>
  ) : (
    <>
      {percent(uptime, 2)}
      <span class="unseen"> uptime</span>
    </>
  );
}

/** Returns the uptime of a component that is known for a whole day or longer; null before. */
function shownUptime(
  { uptime_90d: uptime }: Pick<RowComponent, "uptime_90d">,
  days: readonly DayOf[],
): number | null {
  let known = 0;
  // Most components are known on their first day.
  for (const day of days) if ((known += day.known) >= DAY_MS) return uptime;
  return null;
}

/** Returns the incidents and maintenances of a day as charts show them; undefined without any. */
function entriesOf(
  start: number,
  { entries, names, paths }: ComponentRowProps,
): StatusDay["entries"] {
  const day = entries.get(start);
  if (!day) return undefined;
  const named = day.ids.flatMap((id) => {
    const entry = names.find(id);
    return entry ? [{ name: entry.name, href: paths[entry.kind](id) }] : [];
  });
  return named.length === 0 ? undefined : { named, others: day.others };
}

/** Returns the days as charts show them. `entriesOn` returns the entries of the day that starts at a time. */
export function drawDays(
  days: readonly DayOf[],
  entriesOn: (start: number) => StatusDay["entries"] = () => undefined,
): StatusDay[] {
  return days.map(({ start, known, noData, time }) => {
    const quiet: StatusDay = {
      day: toIso(start).slice(0, 10),
      status: "operational",
      goodShare: 1,
      minutes: {},
    };
    if (known + noData === 0) return { ...quiet, status: null, goodShare: 0 };
    const entries = entriesOn(start);
    if (known === 0) return { ...quiet, status: null, goodShare: 0, entries };
    if (time.operational === known && noData === 0) return quiet;
    return {
      day: quiet.day,
      status: COMPONENT_STATUSES.findLast((status) => time[status] > 0) ?? "operational",
      goodShare: time.operational / (known + noData),
      minutes: minutesOf(time),
      entries,
      ...(noData > 0 ? { noDataMinutes: Math.ceil(noData / MINUTE_MS) } : {}),
    };
  });
}

/** Returns the minutes in each status, rounded up so that seconds do not read as zero. */
function minutesOf(time: DayOf["time"]): StatusDay["minutes"] {
  const minutes: StatusDay["minutes"] = {};
  for (const status of COMPONENT_STATUSES) {
    if (time[status] > 0) Object.assign(minutes, { [status]: Math.ceil(time[status] / MINUTE_MS) });
  }
  return minutes;
}

/** Recent response times of a component, as small bars and in words. */
function LatencyLine({ line }: { line: Latency }) {
  const measured = line.values.filter((value) => value !== null);
  if (measured.length === 0) return null;
  const [least, most] = [Math.min(...measured), Math.max(...measured)].map(latencyText);
  const average = latencyText(sum(measured) / measured.length);
  const each = line.of === "hours" ? "hour" : "check";
  return (
    <p class="latency muted">
      <span>
        Response time, {plural(line.values.length, each)}: {average}
      </span>
      <Sparkline
        // Less than a millisecond is drawn as one. Zero, which is a dot, means no answer.
        values={line.values.map((value) => (value === null ? 0 : Math.max(1, value)))}
        label={`${average} on average, from ${least} to ${most}, a bar each ${each}`}
      />
    </p>
  );
}

/** Cache of component rows as bytes. */
interface RowCache {
  /** Renders a row into the cache, before the page is rendered. */
  prepare(row: ComponentRowProps): void;
  /** Returns the bytes of a page. `render` renders it with placeholders instead of rows. */
  render(render: (renderRow: RenderRow) => HtmlDocument): SentPage;
}

/** A rendered row and its table. */
interface RowBytes {
  row: Uint8Array;
  table: Uint8Array;
}

interface CachedRow {
  facts: RowFacts;
  /** Names in the row, and the names of the page that they were last compared with. */
  names: string;
  namesOfPage: EntryNames;
  bytes: RowBytes;
}

/** Placeholder of a row or a table. Pages have no other comments, since "<" in texts is escaped. */
const PLACEHOLDER = /<!--(\d+)-->/g;

/**
 * Caches rows by the identity of their days and by all other facts that they show. Most components stay
 * when a page changes, and the rows of a large page are nine tenths of its bytes. Rows of a large page are
 * rendered into this cache in several turns of the event loop.
 *
 * Without this cache, the status page after a change takes 2.7 times the processor time (200 components,
 * 1,000 incidents). With rows as text instead of bytes it takes 1.27 times.
 */
export function createRowCache(): RowCache {
  const encoder = new TextEncoder();
  const cache = new WeakMap<readonly DayOf[], CachedRow>();

  function bytesOf(row: ComponentRowProps): RowBytes {
    const cached = cache.get(row.days);
    const facts = factsOf(row);
    const isValid =
      cached !== undefined &&
      isSame(cached.facts, facts) &&
      (cached.namesOfPage === row.names || cached.names === namesOf(row));
    if (isValid) {
      cached.namesOfPage = row.names;
      return cached.bytes;
    }
    const html = renderRow(row);
    const bytes = { row: encoder.encode(html.row), table: encoder.encode(html.table) };
    cache.set(row.days, { facts, names: namesOf(row), namesOfPage: row.names, bytes });
    return bytes;
  }

  return {
    prepare: (row) => void bytesOf(row),
    render(render) {
      const rows: Uint8Array[] = [];
      const placeholderOf = (bytes: Uint8Array) =>
        bytes.length === 0 ? "" : `<!--${rows.push(bytes) - 1}-->`;
      const { html, policy } = render((props) => {
        const { row, table } = bytesOf(props);
        return { row: placeholderOf(row), table: placeholderOf(table) };
      });
      const pieces: Uint8Array[] = [];
      let from = 0;
      for (const match of html.matchAll(PLACEHOLDER)) {
        const row = rows[Number(match[1])];
        if (!row) throw new Error("a placeholder has no row");
        pieces.push(encoder.encode(html.slice(from, match.index)), row);
        from = match.index + match[0].length;
      }
      pieces.push(encoder.encode(html.slice(from)));
      return { html: Buffer.concat(pieces), policy };
    },
  };
}

/** Facts of a row except its days and the names in them. Days are in UTC, so the page's time zone is not a fact. */
interface RowFacts {
  component: RowComponent;
  latency: Latency | undefined;
  home: string;
  locale: string;
}

function factsOf({ component, latency, paths, times }: ComponentRowProps): RowFacts {
  return { component, latency, home: paths.home, locale: times.locale };
}

function isSame(one: RowFacts, other: RowFacts): boolean {
  return (
    one.home === other.home &&
    one.locale === other.locale &&
    hasSameValues(one.component, other.component) &&
    one.latency?.of === other.latency?.of &&
    hasSameValues(one.latency?.values ?? [], other.latency?.values ?? [])
  );
}

/** Returns true if two objects of the same type have the same primitive values. */
function hasSameValues<Values extends object>(one: Values, other: Values): boolean {
  const names = Object.keys(one) as (keyof Values)[];
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  );
}

/** Returns the names of the incidents and maintenances of a row's days. Their ids belong to the days. */
function namesOf({ entries, names }: ComponentRowProps): string {
  const found: (string | undefined)[] = [];
  for (const { ids } of entries.values()) for (const id of ids) found.push(names.find(id)?.name);
  return JSON.stringify(found);
}
