import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../../base/actor";
import { percent, sum } from "../../../base/numbers";
import {
  MONITOR_STATES,
  MONITOR_TONES,
  MONITOR_TYPES,
  type MonitorState,
  type MonitorType,
  type Tone,
} from "../../../base/status";
import { plural } from "../../../base/text";
import { EXPIRES_SOON_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { EmptyState, MONITOR_WORDS, monitorWord, Shape } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { HalfHourBars } from "../../../ui/charts";
import {
  componentPath,
  monitorPath,
  MONITORS_PATH,
  NEW_MONITOR_PATH,
  SELECTED_MONITORS_PATH,
  UNMATCHED_ALERTS_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import {
  BulkBar,
  DenseDataTable,
  type DenseDataTableProps,
  ListCard,
  ListToolbar,
  OrderSelect,
  type Sorting,
} from "../../../ui/list";
import { PageHead, Pagination, Tabs } from "../../../ui/navigation";
import {
  countFilters,
  type ListQuery,
  NoMatch,
  pageSelect,
  readListQuery,
  readOrder,
  readSearch,
  Selects,
} from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import type { LabelReport } from "../../docker-labels/docker-labels";
import { LabelNotices } from "../../docker-labels/screens/notices";
import {
  countMonitorsMatching,
  listMonitorsInOrder,
  type ListOrder,
  ORDER_KEYS,
  type PeriodState,
  type RecentTimes,
  recentTimesOf,
} from "../overview";
import { listMonitorGroups, listMonitorTags, WORST_FIRST } from "../overview-store";
import { listUnmatchedAlerts } from "../alerts/alert-store";
import { UNMATCHED_MS } from "../alerts/reports";
import type { MonitorRecord } from "../records";
import { countMonitorsByState, type MonitorRow } from "../store";
import { TYPE_FORMS } from "./types";
import {
  Acknowledged,
  AcknowledgeLink,
  intervalInWords,
  isUnacknowledged,
  latencyOrNone,
  Since,
  Tags,
  targetOf,
  typeInWords,
  typeLabel,
  UnreachableThrough,
} from "./words";

/** `/admin/monitors`: monitors with state, last 24 hours and figures, worst first. */
export function MonitorList(props: {
  list: MonitorListing;
  /** Outcome of the labels of containers, for those who may change monitors. */
  labels: LabelReport | undefined;
  role: Role;
  now: number;
}) {
  const { list, labels, role, now } = props;
  const { records } = list;
  const canChange = roleAllows(role, "admin");
  if (!list.hasAny) {
    return (
      <>
        <PageHead title="Monitors" isList />
        {labels ? <LabelNotices report={labels} now={now} /> : null}
        <NoMonitors canCreate={canChange} />
      </>
    );
  }
  const table = tableOf(list, role, now);
  const rows = <DenseDataTable {...table} />;
  return (
    <>
      <PageHead title="Monitors" isList actions={canChange ? <CreateLink /> : undefined} />
      {labels ? <LabelNotices report={labels} now={now} /> : null}
      <StateTabs list={list} />
      <ListCard>
        <MonitorToolbar list={list} table={table} />
        {records.length === 0 ? (
          <NoMatch title="No monitors match these filters" home={MONITORS_PATH} />
        ) : canChange ? (
          <SelectionForm list={list}>{rows}</SelectionForm>
        ) : (
          <div>{rows}</div>
        )}
        <Pagination
          isOrdered
          newestHref={list.before === undefined ? undefined : filteredPath(list)}
          olderHref={list.nextBefore ? filteredPath(list, { before: list.nextBefore }) : undefined}
        />
      </ListCard>
      {list.hasUnmatched ? (
        <p>
          <a href={UNMATCHED_ALERTS_PATH}>Alerts that matched nothing</a>
        </p>
      ) : null}
    </>
  );
}

function CreateLink() {
  return (
    <ButtonLink href={NEW_MONITOR_PATH} kind="primary">
      <Icon name="plus" />
      Create monitor
    </ButtonLink>
  );
}

/** Form around the rows, whose buttons act on the selected monitors. */
function SelectionForm(props: { list: MonitorListing; children: ComponentChildren }) {
  const { before, records } = props.list;
  const total = countOf(props.list, props.list.state);
  const action = filteredPath(props.list, { before }).replace(
    MONITORS_PATH,
    SELECTED_MONITORS_PATH,
  );
  return (
    <form method="post" action={action}>
      <BulkBar
        label="Actions for the selected monitors"
        all={total > records.length ? { name: "all", count: total } : undefined}
      >
        {/* Enter presses the first button, so it must be harmless. */}
        <Button name="intent" value="check">
          <Icon name="refresh-cw" />
          Check now
        </Button>
        <Button name="intent" value="pause">
          <Icon name="pause" />
          Pause
        </Button>
        <Button name="intent" value="resume">
          <Icon name="play" />
          Resume
        </Button>
        <Button name="intent" value="acknowledge">
          <Icon name="check" />
          Acknowledge
        </Button>
        <Button name="intent" value="tag">
          <Icon name="tag" />
          Tag
        </Button>
        <Button kind="danger" name="intent" value="delete">
          Delete
        </Button>
      </BulkBar>
      {props.children}
    </form>
  );
}

function NoMonitors({ canCreate }: { canCreate: boolean }) {
  return (
    <EmptyState title="No monitors yet" action={canCreate ? <CreateLink /> : undefined}>
      A monitor checks a website, a port, a certificate, a DNS record or a host, or waits for a job
      to call. A failing monitor changes the status of its components, and opens an incident if you
      want.
    </EmptyState>
  );
}

/** Maximum numbers of components and tags named in a row. Further ones are counted. */
const COMPONENTS_NAMED = 2;
const TAGS_SHOWN = 3;

/** Returns the table of the listed monitors. */
function tableOf(
  list: MonitorListing,
  role: Role,
  now: number,
): DenseDataTableProps<MonitorRecord> & { sorting: Sorting } {
  const recentOf = ({ row }: MonitorRecord) => list.recent.get(row.num);
  const canAcknowledge = roleAllows(role, "editor");
  return {
    caption: "Monitors",
    liveId: "monitor-rows",
    entries: list.records,
    sorting: {
      order: list.order,
      usual: "Worst first",
      pathOf: (sort) => filteredPath(list, { sort }),
    },
    pick: roleAllows(role, "admin")
      ? ({ row }) => ({ name: "id", value: row.id, label: `Select ${row.name}` })
      : undefined,
    name: {
      label: list.order === undefined ? "Monitor, worst first" : "Monitor",
      sort: { key: "name", usual: "other" },
      cell: (record) => ({
        shape: <StateShape state={record.state.state} />,
        href: monitorPath(record.row.id),
        name: record.row.name,
        state: <RowState {...{ record, canAcknowledge, now }} />,
        note: <RowNote record={record} now={now} />,
        tags: <Tags group={record.row.group} tags={record.row.tags} max={TAGS_SHOWN} />,
      }),
    },
    columns: [
      {
        label: "Component",
        isSecondary: true,
        cell: ({ components }) => <ComponentLinks components={components} />,
      },
      {
        label: "Last 24 hours",
        isBars: true,
        cell: (record) => <LastDay monitor={record.row} recent={recentOf(record)} />,
      },
      {
        label: "24 h",
        isNumeric: true,
        isMiddle: true,
        cell: (record) => percent(recentOf(record)?.dayUptime ?? null, 2),
      },
      {
        label: "30 days",
        isNumeric: true,
        isSecondary: true,
        cell: (record) => percent(recentOf(record)?.monthUptime ?? null, 2),
      },
      {
        label: "Response",
        isNumeric: true,
        sort: { key: "response", kind: "number" },
        cell: ({ lastCheck }) => latencyOrNone(lastCheck?.latencyMs),
      },
      {
        label: "Checked",
        isNumeric: true,
        isSecondary: true,
        sort: { key: "checked", kind: "time" },
        cell: ({ lastCheck }) => (
          <span class="quiet-text">
            {lastCheck ? <RelativeTime at={toIso(lastCheck.at)} now={now} /> : "–"}
          </span>
        ),
      },
    ],
  };
}

/** State after the name. “Up” is written only for screen readers, since the shape shows it. */
function RowState(props: { record: MonitorRecord; canAcknowledge: boolean; now: number }) {
  const { record, canAcknowledge, now } = props;
  const { row, state } = record;
  if (state.state === "up") return <span class="visually-hidden">, {MONITOR_WORDS.up}</span>;
  return (
    <>
      <span class={`state t-${MONITOR_TONES[state.state]}`}>
        {monitorWord(state.state, row.type)}
      </span>{" "}
      <span class="note-inline">
        <UnreachableThrough record={record} />
        <Since at={state.since} now={now} />
        {state.acknowledgement ? (
          <>
            , <Acknowledged acknowledgement={state.acknowledgement} now={now} />
          </>
        ) : null}
        {canAcknowledge && isUnacknowledged(state) ? (
          <>
            {" "}
            <AcknowledgeLink id={row.id} />
          </>
        ) : null}
      </span>
    </>
  );
}

/** Expiry of a certificate that expires soon, else the interval of a job's heartbeats, else type and target. */
function RowNote({ record: { row, state }, now }: { record: MonitorRecord; now: number }) {
  const { certificateExpiresAt: end, heartbeatAt } = state;
  if (end !== null && end - now < EXPIRES_SOON_MS) {
    return (
      <span class={`state t-${end <= now ? "major" : "degraded"}`}>
        Certificate {end <= now ? "expired" : "expires"} <RelativeTime at={toIso(end)} now={now} />
      </span>
    );
  }
  if (TYPE_FORMS[row.type].isPush) {
    return (
      <>
        {typeLabel(row.type)} {intervalInWords(row)},{" "}
        {heartbeatAt === null ? (
          "none yet"
        ) : (
          <>
            last <RelativeTime at={toIso(heartbeatAt)} now={now} />
          </>
        )}
      </>
    );
  }
  return (
    <>
      {typeInWords(row)} · {targetOf(row)}
    </>
  );
}

function ComponentLinks({ components }: Pick<MonitorRecord, "components">) {
  if (components.length === 0) return <span class="quiet-text">None</span>;
  const more = components.length - COMPONENTS_NAMED;
  return (
    <ul class="plain-list">
      {components.slice(0, COMPONENTS_NAMED).map(({ id, name }) => (
        <li key={id}>
          <a href={componentPath(id)}>{name}</a>
        </li>
      ))}
      {more > 0 ? <li class="quiet-text">and {more} more</li> : null}
    </ul>
  );
}

const PERIOD_TONES: Readonly<Record<PeriodState, Tone>> = {
  unknown: "none",
  ok: "ok",
  maintenance: "maint",
  slow: "degraded",
  failed: "major",
};

interface LastDayProps {
  monitor: Pick<MonitorRow, "name" | "type">;
  recent: RecentTimes | undefined;
}

/** Last 24 hours of a monitor as bars of half an hour. */
export function LastDay({ monitor: { name, type }, recent }: LastDayProps) {
  const periods = recent?.periods ?? Array.from({ length: 48 }, () => "unknown" as const);
  return (
    <HalfHourBars
      tones={periods.map((period) => PERIOD_TONES[period])}
      label={`The last 24 hours of ${name}: ${describe(periods, type)}`}
    />
  );
}

const PERIOD_WORDS = [
  { state: "failed", word: "down" },
  { state: "slow", word: "slow" },
  { state: "maintenance", word: "in maintenance" },
  { state: "unknown", word: "unknown" },
] as const;

/** Returns periods as text: "down in 2 half hours, slow in 1 half hour", or "up". */
function describe(periods: readonly PeriodState[], type: MonitorType): string {
  const texts = PERIOD_WORDS.flatMap(({ state, word }) => {
    const count = periods.filter((period) => period === state).length;
    const said = state === "slow" ? monitorWord("degraded", type).toLowerCase() : word;
    return count === 0 ? [] : [`${said} in ${plural(count, "half hour")}`];
  });
  return texts.length === 0 ? "up" : texts.join(", ");
}

/** Tabs by state with counts. States without a monitor are left out. */
function StateTabs({ list }: { list: MonitorListing }) {
  const shown = WORST_FIRST.filter((state) => list.counts.has(state) || list.state === state);
  return (
    <div id="monitor-states" data-live="">
      <Tabs
        label="State"
        items={[
          {
            href: filteredPath(list, { state: undefined }),
            label: "All",
            count: countOf(list, undefined),
            isCurrent: list.state === undefined,
          },
          ...shown.map((state) => ({
            href: filteredPath(list, { state }),
            label: MONITOR_WORDS[state],
            shape: <StateShape state={state} />,
            count: countOf(list, state),
            isCurrent: list.state === state,
          })),
        ]}
      />
    </div>
  );
}

/** Shape of a monitor's state. The caller also shows the state as text. */
export function StateShape({ state }: { state: MonitorState }) {
  return <Shape tone={MONITOR_TONES[state]} isPaused={state === "paused"} />;
}

/** Search and filters of the list. */
function MonitorToolbar(props: { list: MonitorListing; table: ReturnType<typeof tableOf> }) {
  const { list, table } = props;
  const { pages, page, state, type, tag, group, search, order } = list;
  const folded = tag?.toLowerCase();
  const shownTag = list.tags.find((each) => each.toLowerCase() === folded) ?? tag;
  const filters = { page: page?.slug, type, tag: shownTag, group };
  const inForce = countFilters(filters);
  const isFiltered = search !== "" || inForce > 0;
  return (
    <ListToolbar
      action={MONITORS_PATH}
      search={{
        value: search,
        label: "Search by name, address or component",
        placeholder: "Name, address or component",
      }}
      hidden={state === undefined ? {} : { state }}
      clearHref={isFiltered ? withQuery(MONITORS_PATH, { state, sort: order }) : undefined}
      inForce={inForce}
      count={plural(countOf(list, state), "monitor")}
    >
      <Selects
        filters={filters}
        selects={[
          {
            label: "Type",
            name: "type",
            every: "Every type",
            options: MONITOR_TYPES.map((value) => ({ value, label: typeLabel(value) })),
          },
          {
            label: "Group",
            name: "group",
            every: "Every group",
            options: optionsOf(list.groups, group),
          },
          {
            label: "Tag",
            name: "tag",
            every: "Every tag",
            options: optionsOf(list.tags, shownTag),
          },
          pageSelect(pages),
        ]}
      />
      <OrderSelect sorting={table.sorting} columns={[table.name, ...table.columns]} />
    </ListToolbar>
  );
}

/** Returns the options of a filter: the offered texts, after the chosen one if that is another. */
function optionsOf(offered: readonly string[], chosen: string | undefined) {
  const isAnother = chosen !== undefined && !offered.includes(chosen);
  const texts = isAnother ? [chosen, ...offered] : offered;
  return texts.map((value) => ({ value, label: value }));
}

/**
 * Returns the path of the list with the same filters, except changed ones. Without `before` it
 * starts with the first monitor.
 */
function filteredPath(
  { search, page, state, type, tag, group, order }: MonitorFilters,
  changed: Parameters<typeof withQuery>[1] = {},
): string {
  return withQuery(MONITORS_PATH, {
    q: search,
    page: page?.slug,
    state,
    type,
    tag,
    group,
    sort: order,
    ...changed,
  });
}

const PAGE_SIZE = 25;
/** Maximum number of tags and of groups that filters offer. The chips of monitors filter by any. */
const OFFERED_MAX = 200;

/** Query of the list of monitors. */
interface MonitorFilters extends ListQuery {
  state: MonitorState | undefined;
  type: MonitorType | undefined;
  tag: string | undefined;
  group: string | undefined;
  search: string;
  /** Undefined for the worst first. */
  order: ListOrder | undefined;
}

/** Content of one screen of the list of monitors. */
interface MonitorListing extends MonitorFilters {
  /** Tags to choose from. */
  tags: readonly string[];
  /** Groups to choose from. */
  groups: readonly string[];
  records: readonly MonitorRecord[];
  /** Last 24 hours and 30 days by `num` of the monitor. */
  recent: ReadonlyMap<number, RecentTimes>;
  /** Number of monitors in each state that match the other filters. */
  counts: ReadonlyMap<MonitorState, number>;
  /** True if the installation has a monitor. */
  hasAny: boolean;
  /** True if alerts matched no monitor lately. */
  hasUnmatched: boolean;
  /** Place of the last monitor if more follow. */
  nextBefore: string | undefined;
}

type Query = Readonly<Record<string, string | undefined>>;

/** Lists the ids of the monitors that match a query, at most `limit`, in several turns (`runInSlices`). */
export function* listMatchingIds(
  reader: Reader,
  query: Query,
  limit: number,
): Generator<number, string[]> {
  const filters = readFilters(reader, query);
  const matching = { ...searchedBy(filters), state: filters.state, limit };
  const { records } = yield* listMonitorsInOrder(reader, matching);
  return records.map(({ row }) => row.id);
}

/** Returns the path of the part of the list that a query names. */
export function pathOfPart(reader: Reader, query: Query): string {
  const filters = readFilters(reader, query);
  return filteredPath(filters, { before: filters.before });
}

/** Reads a query. Invalid parameters are ignored. */
function readFilters(reader: Reader, query: Query): MonitorFilters {
  return {
    ...readListQuery(reader, query),
    state: MONITOR_STATES.find((name) => name === query["state"]),
    type: MONITOR_TYPES.find((name) => name === query["type"]),
    tag: readSearch(query, "tag") || undefined,
    group: readSearch(query, "group") || undefined,
    search: readSearch(query),
    order: readOrder(query, ORDER_KEYS),
  };
}

/** Returns the filters that the counts of all states share. */
function searchedBy({ page, type, tag, group, search }: MonitorFilters) {
  return { pageId: page?.id, type, tag, group, search: search || undefined };
}

/** Reads the monitors for a query, in several turns. */
export function* readMonitorList(
  reader: Reader,
  query: Query,
  now: number,
): Generator<number, MonitorListing> {
  const filters = readFilters(reader, query);
  const { state, order, before: after } = filters;
  const searched = searchedBy(filters);
  const matching = { ...searched, state, order, after, limit: PAGE_SIZE };
  const { records, nextBefore } = yield* listMonitorsInOrder(reader, matching);
  const counts = yield* countMonitorsMatching(reader, searched);
  const nums = records.map(({ row }) => row.num);
  return {
    ...filters,
    tags: listMonitorTags(reader, { limit: OFFERED_MAX }).map((row) => row.tag),
    groups: listMonitorGroups(reader, { limit: OFFERED_MAX }).map((row) => row.group),
    records,
    recent: recentTimesOf(reader, nums, now),
    counts,
    hasAny: counts.size > 0 || countMonitorsByState(reader, {}).length > 0,
    hasUnmatched: listUnmatchedAlerts(reader, { since: now - UNMATCHED_MS, limit: 1 }).length > 0,
    nextBefore,
  };
}

/** Returns the number of monitors that match the filters, in all states or in one. */
function countOf({ counts }: MonitorListing, state: MonitorState | undefined): number {
  return state === undefined ? sum([...counts.values()]) : (counts.get(state) ?? 0);
}
