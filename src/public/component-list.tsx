import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { sum } from "../base/numbers";
import {
  badnessOf,
  COMPONENT_STATUSES,
  type ComponentStatus,
  STATUS_TONES,
  type Tone,
  worstStatus,
} from "../base/status";
import { DAY_MS, MINUTE_MS, toIso } from "../base/time";
import { type DayOf, PARTIAL_FACTOR } from "../features/components/rules";
import type { SparklineData, SparklineData as Latency } from "../features/monitors/latency";
import type { EntryNames } from "../features/status/entries";
import { type DayEntries, UPTIME_DAYS } from "../features/status/histories";
import type { Snapshot } from "../features/status/snapshots";
import type { SentPage } from "../http/answers";
import { LANGUAGES_MAX } from "../languages/tags";
import type { MessageKey } from "../languages/words";
import { Shape, State } from "../ui/blocks";
import { Sparkline } from "../ui/charts";
import { DayChart, type DayRun, DayTable, runsOf, type StatusDay } from "../ui/day-charts";
import type { HtmlDocument } from "../ui/documents";
import { Icon } from "../ui/icons";
import { InWords, type PageWords, useWords } from "../ui/words";
import type { PageContext, PagePaths } from "./page-context";
import type { PageTimes } from "./page-times";

/**
 * Number of components from which a page lists first what is not operational, and folds its groups without the bars of
 * their days. The bars of 200 components are nine tenths of a page.
 */
const MANY = 30;
/** Maximum number of components in the list of those that are not operational. The others are in their groups. */
const TROUBLED_MAX = 30;

/** Id of the components without a group in the address of their page. */
const UNGROUPED_ID = "other";

type Component = Snapshot["document"]["components"][number];
type Group = Snapshot["document"]["groups"][number];

/** Components that are shown together. */
export interface ListedGroup extends Pick<Group, "id" | "name" | "description" | "collapse"> {
  components: readonly Component[];
}

interface ComponentsProps {
  snapshot: Snapshot;
  /** Response times by component id. */
  latency: ReadonlyMap<string, SparklineData>;
  /** Names of the incidents and maintenances in the charts. */
  names: EntryNames;
  context: Pick<PageContext, "paths" | "times" | "copy" | "words">;
  renderRow: RenderRow;
}

/** Components of a page with their days. Those without a group come first on a small page. */
export function Components(props: ComponentsProps) {
  const { snapshot } = props;
  if (shownComponents(snapshot).length === 0) return <section id="components" />;
  return isLarge(snapshot) ? <ManyComponents {...props} /> : <FewComponents {...props} />;
}

/** Returns true for a page that folds its groups. */
export function isLarge({ document }: Snapshot): boolean {
  return document.components.length >= MANY;
}

function FewComponents({ renderRow, ...props }: ComponentsProps) {
  const { say } = useWords();
  const { snapshot } = props;
  const shown = shownComponents(snapshot);
  const rowsOf = (components: readonly Component[]) =>
    components.map((component) => renderRow(rowPropsOf(component, props)));
  const ungrouped = shown.filter(({ group_id: id }) => id === null);
  const drawn = shown.filter(({ showcase }) => showcase);
  return (
    <section id="components" aria-labelledby="components-title">
      <div class="section-head">
        <h2 id="components-title">{say("components.title")}</h2>
        {drawn.length === 0 ? null : isNew(drawn, snapshot) ? (
          <span>{say("past.since_today")}</span>
        ) : (
          <span>{say("past.days", { count: daysOf(drawn, snapshot) })}</span>
        )}
      </div>
      {ungrouped.length > 0 ? (
        <div class="card" data-days>
          <Rows components={ungrouped} rows={rowsOf(ungrouped)} snapshot={snapshot} />
        </div>
      ) : null}
      {groupsOf(snapshot).map(({ name, components, ...group }) => (
        <details key={group.id} class="card group" open={isOpen(group, components)} data-days>
          <GroupSummary name={name} components={components} snapshot={snapshot} />
          {group.description ? (
            <p class="muted group-text" dir="auto">
              {group.description}
            </p>
          ) : null}
          <Rows
            components={components}
            rows={rowsOf(components)}
            snapshot={snapshot}
            group={name}
          />
        </details>
      ))}
      {drawn.length > 0 ? <Explanation /> : null}
    </section>
  );
}

/**
 * Components of a large page: first those that are not operational, then a field that filters by name, and all groups,
 * folded. A folded group has no bars; a script adds them when it opens, from the page of the group. A copy has all bars,
 * since no server makes the pages of its groups.
 */
function ManyComponents({ renderRow, ...props }: ComponentsProps) {
  const { snapshot, context } = props;
  const shown = shownComponents(snapshot);
  const isWhole = context.copy !== undefined;
  const { say } = useWords();
  const groups = allGroupsOf(snapshot, context.words);
  const groupCount = groups.filter(({ id }) => id !== UNGROUPED_ID).length;
  return (
    <>
      <NotOperational renderRow={renderRow} {...props} />
      <section id="components" aria-labelledby="components-title">
        <div class="section-head">
          <h2 id="components-title">{say("components.all")}</h2>
          <span>
            {groupCount > 0
              ? say("components.in_groups", { count: shown.length, groups: groupCount })
              : shown.length}
          </span>
        </div>
        <Filter />
        <div class="card groups">
          {groups.map(({ id, name, description, components }) => (
            <details key={id} id={id} class="group" data-days>
              <GroupSummary name={name} components={components} snapshot={snapshot} hasTally />
              {description ? (
                <p class="muted group-text" dir="auto">
                  {description}
                </p>
              ) : null}
              <Rows
                components={components}
                rows={components.map((component) =>
                  renderRow(rowPropsOf(component, props, { isFolded: !isWhole })),
                )}
                snapshot={snapshot}
                group={name}
                href={isWhole ? undefined : context.paths.group(id)}
              />
            </details>
          ))}
        </div>
        {shown.some(({ showcase }) => showcase) ? <Explanation /> : null}
      </section>
    </>
  );
}

/** Components that are not operational, worst first, with the names of their groups. */
function NotOperational({ renderRow, ...props }: ComponentsProps) {
  const { t, say } = useWords();
  const { snapshot } = props;
  const shown = shownComponents(snapshot);
  const count = shown.filter(isTroubled).length;
  if (count === 0) return <section id="troubled" />;
  const listed = troubledComponents(snapshot);
  const others = count - listed.length;
  const drawn = listed.filter(({ showcase }) => showcase);
  const counts = { count, total: shown.length };
  return (
    <section id="troubled" aria-labelledby="troubled-title">
      <div class="section-head">
        <h2 id="troubled-title">{say("components.troubled")}</h2>
        <span>
          {drawn.length === 0
            ? say("components.troubled_count", counts)
            : isNew(drawn, snapshot)
              ? say("components.troubled_new", counts)
              : say("components.troubled_days", { ...counts, days: daysOf(drawn, snapshot) })}
        </span>
      </div>
      <div class="card" data-days>
        <Rows
          components={listed}
          rows={listed.map((component) =>
            renderRow(rowPropsOf(component, props, { group: groupNameOf(component, snapshot) })),
          )}
          snapshot={snapshot}
          group={t("components.troubled_group")}
        />
      </div>
      {others > 0 ? (
        <p class="muted more">{say("components.troubled_others", { count: others })}</p>
      ) : null}
    </section>
  );
}

/** Field with which a script filters the components. Without a script there is none. */
function Filter() {
  const { t, say } = useWords();
  return (
    <div class="filter" role="search" aria-label={t("components.title")}>
      <label>
        <Icon name="search" />
        <span class="unseen">{say("filter.field")}</span>
        <input
          class="input"
          type="search"
          placeholder={t("filter.placeholder")}
          autocomplete="off"
        />
      </label>
      <p class="muted" role="status" />
    </div>
  );
}

/** Returns true for a group that the server sends open. An outage opens each group. */
function isOpen({ collapse }: Pick<Group, "collapse">, components: readonly Component[]): boolean {
  const worst = worstStatus(components.map(({ status }) => status));
  if (collapse === "expanded" || worst === "major_outage" || worst === "partial_outage")
    return true;
  return collapse === "collapsed_unless_incident" && worst !== "operational";
}

/** Returns the groups of a page that have components to show, in order. */
function groupsOf(snapshot: Snapshot): ListedGroup[] {
  const byGroup = Map.groupBy(shownComponents(snapshot), (component) => component.group_id);
  return snapshot.document.groups.flatMap((group) => {
    const components = byGroup.get(group.id);
    return components ? [{ ...group, components }] : [];
  });
}

/** Returns the groups of a page, and after them all components without a group as another one. */
function allGroupsOf(snapshot: Snapshot, { t }: Pick<PageWords, "t">): ListedGroup[] {
  const groups = groupsOf(snapshot);
  const components = shownComponents(snapshot).filter(({ group_id: id }) => id === null);
  if (components.length === 0) return groups;
  const name = t(groups.length === 0 ? "components.title" : "components.others");
  return [
    ...groups,
    { id: UNGROUPED_ID, name, description: null, collapse: "collapsed", components },
  ];
}

/** Finds a group with a page of its own; undefined if it has no components to show. */
export function findListedGroup(
  snapshot: Snapshot,
  id: string,
  words: Pick<PageWords, "t">,
): ListedGroup | undefined {
  return allGroupsOf(snapshot, words).find((group) => group.id === id);
}

/** Returns true for a component that is not operational. */
export function isTroubled({ status }: Component): boolean {
  return status !== "operational";
}

/** Returns the components in the list of those that are not operational, worst first. */
function troubledComponents(snapshot: Snapshot): Component[] {
  return shownComponents(snapshot)
    .filter(isTroubled)
    .toSorted((a, b) => badnessOf(b.status) - badnessOf(a.status))
    .slice(0, TROUBLED_MAX);
}

function groupNameOf({ group_id: id }: Component, { document }: Snapshot): string | undefined {
  return document.groups.find((group) => group.id === id)?.name;
}

interface GroupSummaryProps {
  name: string;
  components: readonly Component[];
  snapshot: Snapshot;
  /** True to count the components that are not operational. */
  hasTally?: boolean;
}

function GroupSummary({ name, components, snapshot, hasTally }: GroupSummaryProps) {
  const { say } = useWords();
  const worst = worstStatus(components.map(({ status }) => status));
  const tally = hasTally ? tallyOf(components.filter(isTroubled)) : [];
  return (
    <summary>
      <Icon name="chevron-right" />
      <div>
        <h3>
          <bdi>{name}</bdi>{" "}
          <small>
            {components.length}
            <span> {say("components.word", { count: components.length })}</span>
          </small>
        </h3>
        {tally.length > 0 ? (
          <span class="tally">
            {tally.map((counted) => (
              <Counted {...counted} />
            ))}
          </span>
        ) : null}
      </div>
      <span class="up">
        <GroupUptime components={components} snapshot={snapshot} />
      </span>
      <Shape tone={STATUS_TONES[worst]} />
      {tally.length > 0 ? null : <span class="unseen">{say(`status.${worst}`)}</span>}
    </summary>
  );
}

/** Mean uptime of the components of a group that show theirs; nothing without any. */
function GroupUptime({ components, snapshot }: Omit<GroupSummaryProps, "name" | "hasTally">) {
  const uptimes = components
    .filter(({ showcase }) => showcase)
    .map((component) => shownUptime(component, snapshot.daysOf(component.id)))
    .filter((uptime) => uptime !== null);
  return uptimes.length > 0 ? <Uptime uptime={sum(uptimes) / uptimes.length} /> : null;
}

/** Number of components with a status. */
interface StatusCount {
  status: ComponentStatus;
  count: number;
}

/** Returns the number of components by status, worst first. */
export function tallyOf(components: readonly Component[]): StatusCount[] {
  return COMPONENT_STATUSES.toReversed()
    .map((status) => ({
      status,
      count: components.filter((component) => component.status === status).length,
    }))
    .filter(({ count }) => count > 0);
}

/** Number of components with a status, in words. */
export function Counted({ status, count }: StatusCount) {
  const { say } = useWords();
  return <State tone={STATUS_TONES[status]}>{say(`tally.${status}`, { count })}</State>;
}

/** Content of the page of a group: its components with their days. */
export function GroupDays({
  group: { components, name },
  renderRow,
  ...props
}: ComponentsProps & { group: ListedGroup }) {
  const { snapshot } = props;
  return (
    <>
      <div class="card groups" data-days>
        <Rows
          components={components}
          rows={components.map((component) => renderRow(rowPropsOf(component, props)))}
          snapshot={snapshot}
          group={name}
        />
      </div>
      {components.some(({ showcase }) => showcase) ? <Explanation /> : null}
    </>
  );
}

interface RowsProps {
  components: readonly Component[];
  /** Rows of these components. They are text, since cached rows need no elements. */
  rows: readonly RowHtml[];
  snapshot: Snapshot;
  /** Name of the group, if the components are in one. */
  group?: string;
  /** Path of the page with the days, if these rows have none. */
  href?: string | undefined;
}

/**
 * Rows of components above a common axis, which opens the tables of their days. The text of a day lies on
 * the axis and not in it, since it may have links.
 */
function Rows({ components, rows, snapshot, group, href }: RowsProps) {
  const { say } = useWords();
  const drawn = components.filter(({ showcase }) => showcase);
  const list = <ul dangerouslySetInnerHTML={{ __html: rows.map(({ row }) => row).join("") }} />;
  if (drawn.length === 0) return list;
  if (href !== undefined) {
    return (
      <>
        {list}
        <p class="axis">
          <a href={href}>
            {say("days.by_day", {
              group,
              unseen: (text) => <span class="unseen">{text}</span>,
            })}
          </a>
        </p>
      </>
    );
  }
  const tables = rows.map(({ table }) => table).join("");
  return (
    <>
      {list}
      <div class="axis">
        <details class="day-table">
          <summary>
            <span class="open-days">
              {say("days.table")}
              {group === undefined ? null : <span class="unseen">: {group}</span>}
            </span>
            <span class="ends">
              <span>
                {isNew(drawn, snapshot) ? "" : say("days.ago", { count: daysOf(drawn, snapshot) })}
              </span>
              <span>{say(isNew(drawn, snapshot) ? "past.since_today" : "past.today")}</span>
            </span>
            <span>{say("days.uptime")}</span>
          </summary>
          <div dangerouslySetInnerHTML={{ __html: tables }} />
        </details>
        <p data-day-note />
      </div>
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

const KEY: readonly { tone: Tone; word: MessageKey }[] = [
  { tone: "ok", word: "status.operational" },
  { tone: "maint", word: "key.maintenance" },
  { tone: "degraded", word: "key.degraded" },
  { tone: "partial", word: "status.partial_outage" },
  { tone: "major", word: "status.major_outage" },
];

/** Key of the charts, and the method of the figures. */
function Explanation() {
  const { t, say } = useWords();
  return (
    <>
      <ul class="key" aria-label={t("key.label")}>
        {KEY.map(({ tone, word }) => (
          <li>
            <Shape tone={tone} />
            {say(word)}
          </li>
        ))}
      </ul>
      <Method />
    </>
  );
}

function Method() {
  const { say } = useWords();
  return (
    <details class="fold method">
      <summary>
        <Icon name="chevron-right" />
        {say("method.title")}
      </summary>
      <p>{say("method.text", { days: UPTIME_DAYS, factor: PARTIAL_FACTOR })}</p>
    </details>
  );
}

/** Returns the components that a page shows, in order. On a page that hides uptime, none shows its own. */
export function shownComponents({ document }: Snapshot): Component[] {
  const shown = document.components.filter(
    (component) => !component.only_show_if_degraded || component.status !== "operational",
  );
  if (!document.page.look.hide_uptime) return shown;
  return shown.map((component) => ({ ...component, showcase: false }));
}

/** Form of a row, if it is not that of a component among those of its group. */
interface RowForm {
  /** Name of the group, which the row shows; undefined for none. */
  group?: string | undefined;
  /** True for a row without days and response times. */
  isFolded?: boolean;
}

/** Returns the properties of a component's row. */
function rowPropsOf(
  component: Component,
  { snapshot, latency, names, context }: Omit<ComponentsProps, "renderRow">,
  { group, isFolded = false }: RowForm = {},
): ComponentRowProps {
  const { id } = component;
  return {
    component,
    days: snapshot.daysOf(id),
    entries: snapshot.entriesOf(id),
    names,
    latency: isFolded ? undefined : latency.get(id),
    paths: context.paths,
    times: context.times,
    words: context.words,
    group,
    isFolded,
  };
}

/** Cost of a row without days as a step for `runInSlices`. */
const FOLDED_STEP = 0.25;

/** Renders the rows of a status page into a cache, or those of one group with their days, step by step. */
export function* rowSteps(
  props: Omit<ComponentsProps, "renderRow">,
  prepareRow: RowCache["prepare"],
  group?: ListedGroup,
): Generator<number, void> {
  const { snapshot, context } = props;
  if (isLarge(snapshot) && !group) {
    for (const component of troubledComponents(snapshot)) {
      prepareRow(rowPropsOf(component, props, { group: groupNameOf(component, snapshot) }));
      yield 1;
    }
  }
  const isFolded = isLarge(snapshot) && !group && context.copy === undefined;
  for (const component of group?.components ?? shownComponents(snapshot)) {
    prepareRow(rowPropsOf(component, props, { isFolded }));
    yield isFolded ? FOLDED_STEP : 1;
  }
}

/** Properties of a component that a row shows. */
const SHOWN = ["name", "description", "status", "showcase", "uptime_90d", "because"] as const;

type RowComponent = Pick<Component, (typeof SHOWN)[number]>;

interface ComponentRowProps extends RowForm {
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
  words: PageWords;
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
  const { component, days, times, words, isFolded } = props;
  const runs =
    component.showcase && !isFolded
      ? runsOf(
          drawDays(days, (start) => entriesOf(start, props)),
          times,
          words,
        )
      : undefined;
  const render = (content: VNode) => renderToString(<InWords value={words}>{content}</InWords>);
  return {
    row: render(<ComponentRow {...props} runs={runs} />),
    table: runs ? render(<DayTable caption={component.name} runs={runs} />) : "",
  };
};

/** Row of a component. It must not have icons: cached rows are added after the page's sprite is made. */
function ComponentRow(props: ComponentRowProps & { runs: readonly DayRun[] | undefined }) {
  const { component, days, latency, runs, group, words } = props;
  const { t, say } = words;
  const { name, description, status, showcase, because } = component;
  const isOk = status === "operational";
  const tone = STATUS_TONES[status];
  return (
    <li class="component">
      <div class="name">
        <strong dir="auto">{name}</strong>
        {group === undefined ? null : (
          <span class="muted">
            {" "}
            <bdi>{group}</bdi>
          </span>
        )}
        {isOk ? null : <small class={`t-${tone}`}>{say(`status.${status}`)}</small>}
        {because ? (
          <small class="desc">
            {say("components.because", {
              name: (
                <a href={because.url} rel="noopener">
                  <bdi>{because.name}</bdi>
                </a>
              ),
            })}
          </small>
        ) : null}
        {description ? (
          <small class="desc" dir="auto">
            {description}
          </small>
        ) : null}
      </div>
      {runs ? <DayChart label={t("days.chart", { name })} runs={runs} /> : null}
      <span class="up">{showcase ? <Uptime uptime={shownUptime(component, days)} /> : null}</span>
      <Shape tone={tone} />
      {isOk ? <span class="unseen">{say(`status.${status}`)}</span> : null}
      {latency ? <LatencyLine line={latency} /> : null}
    </li>
  );
}

/** Uptime as a figure, or a dash if there is none yet. */
function Uptime({ uptime }: { uptime: number | null }) {
  const { say, percent } = useWords();
  return uptime === null ? (
    <>
      –<span class="unseen"> {say("uptime.none")}</span>
    </>
  ) : (
    <>
      {percent(uptime)}
      <span class="unseen"> {say("uptime.word")}</span>
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
  const words = useWords();
  const measured = line.values.filter((value) => value !== null);
  if (measured.length === 0) return null;
  const [least, most] = [Math.min(...measured), Math.max(...measured)].map(words.latency);
  const average = words.latency(sum(measured) / measured.length);
  const [counted, described] =
    line.of === "hours"
      ? (["latency.hours", "latency.by_hour"] as const)
      : (["latency.checks", "latency.by_check"] as const);
  return (
    <p class="latency muted">
      <span>{words.say(counted, { count: line.values.length, average })}</span>
      <Sparkline
        // Less than a millisecond is drawn as one. Zero, which is a dot, means no answer.
        values={line.values.map((value) => (value === null ? 0 : Math.max(1, value)))}
        label={words.t(described, { average, least: least ?? "", most: most ?? "" })}
      />
    </p>
  );
}

/** Cache of component rows as bytes. */
export interface RowCache {
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

/** Rows of one component by the words that they are in, the last rendered one last. */
type RowsInLanguages = Map<PageWords, CachedRow>;

/** Maximum number of rows of one component in one form: one in each language of its page, and in its locale. */
const LANGUAGES_KEPT = LANGUAGES_MAX + 1;

/**
 * Caches rows by the identity of their days, by their language and by all other facts that they show. Most
 * components stay when a page changes, and rows with days are most of its bytes. Rows are rendered into this
 * cache in several turns of the event loop, also those of several languages at the same time.
 *
 * Without this cache, a page with the days of all components takes 2.7 times the processor time after a change (200
 * components, 1,000 incidents). With rows as text instead of bytes it takes 1.27 times.
 */
export function createRowCache(): RowCache {
  const encoder = new TextEncoder();
  // A component can have a row in each form.
  const whole = new WeakMap<readonly DayOf[], RowsInLanguages>();
  const named: typeof whole = new WeakMap();
  const folded: typeof whole = new WeakMap();

  function bytesOf(row: ComponentRowProps): RowBytes {
    const cache = row.isFolded ? folded : row.group === undefined ? whole : named;
    let rows = cache.get(row.days);
    if (!rows) cache.set(row.days, (rows = new Map()));
    const cached = rows.get(row.words);
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
    rows.delete(row.words);
    rows.set(row.words, { facts, names: namesOf(row), namesOfPage: row.names, bytes });
    const [oldest] = rows.keys();
    if (rows.size > LANGUAGES_KEPT && oldest !== undefined) rows.delete(oldest);
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
        if (match.index > from) pieces.push(encoder.encode(html.slice(from, match.index)));
        pieces.push(row);
        from = match.index + match[0].length;
      }
      pieces.push(encoder.encode(html.slice(from)));
      return { html: Buffer.concat(pieces), policy };
    },
  };
}

/**
 * Facts of a row except its days, its words and the names in the days. Days are in UTC, so the page's time zone is not a
 * fact.
 */
interface RowFacts {
  component: RowComponent;
  group: string | undefined;
  latency: Latency | undefined;
  /** Path of the page, with the language that its links keep. */
  page: string;
  locale: string;
}

function factsOf({ component, group, latency, paths, times }: ComponentRowProps): RowFacts {
  return { component, group, latency, page: paths.page, locale: times.locale };
}

function isSame(one: RowFacts, other: RowFacts): boolean {
  return (
    one.group === other.group &&
    one.page === other.page &&
    one.locale === other.locale &&
    SHOWN.every((name) => Bun.deepEquals(one.component[name], other.component[name])) &&
    isSameLatency(one.latency, other.latency)
  );
}

function isSameLatency(one: Latency | undefined, other: Latency | undefined): boolean {
  if (!one || !other) return one === other;
  const { length } = one.values;
  return (
    one.of === other.of &&
    length === other.values.length &&
    one.values.every((value, index) => value === other.values[index])
  );
}

/** Returns the names of the incidents and maintenances of a row's days. Their ids belong to the days. */
function namesOf({ entries, names, isFolded }: ComponentRowProps): string {
  if (isFolded) return "";
  const found: (string | undefined)[] = [];
  for (const { ids } of entries.values()) for (const id of ids) found.push(names.find(id)?.name);
  return JSON.stringify(found);
}
