import type { MonitorRecord, Sparkline as SparklineValues } from "../../features/monitors";
import { MONITOR_STATES, MONITOR_TYPES } from "../../domain/monitor-state";
import { type Role, roleAllows } from "../../domain/role";
import { plural } from "../../kernel/text";
import {
  ButtonLink,
  Cell,
  CellNote,
  EmptyState,
  FilterSelect,
  MONITOR_WORDS,
  MonitorLabel,
  PageHead,
  Pagination,
  Row,
  RowLink,
  SearchForm,
  Sparkline,
  StatCard,
  StatCards,
  Table,
} from "../../ui";
import { PageFilter } from "../page-choice";
import { MONITORS_PATH, monitorPath } from "../paths";
import { listPath, NoMatch } from "../timeline/list-frame";
import type { MonitorListing } from "./listing";
import { NEW_MONITOR_PATH } from "./monitor-paths";
import { LastResult, Since } from "./state";
import { latencyInWords, targetOf, typeLabel } from "./words";

const COLUMNS = [
  { label: "Monitor" },
  { label: "State" },
  { label: "Last result" },
  { label: "Response time" },
];

/** States counted above the list, worst first. */
const CARDS = ["down", "degraded", "no_data", "up"] as const;

/** `/admin/monitors`: monitors with state and last result. */
export function MonitorList(props: { list: MonitorListing; role: Role; now: number }) {
  const { list, role, now } = props;
  const { records, sparklines } = list;
  const canCreate = roleAllows(role, "admin");
  const hasAny = list.counts.size > 0;
  return (
    <>
      <PageHead title="Monitors" actions={canCreate && hasAny ? <CreateLink /> : undefined} />
      {hasAny ? (
        <>
          <Cards list={list} />
          <Filters list={list} />
        </>
      ) : null}
      {records.length > 0 ? (
        <Table columns={COLUMNS} caption="Monitors">
          {records.map((record) => (
            <MonitorRow
              key={record.row.id}
              record={record}
              line={sparklines.get(record.row.num)}
              now={now}
            />
          ))}
        </Table>
      ) : null}
      {records.length === 0 && hasAny ? (
        <NoMatch title="No monitors match these filters" home={MONITORS_PATH} />
      ) : null}
      {hasAny ? null : <NoMonitors canCreate={canCreate} />}
      <Pagination
        newestHref={list.before === undefined ? undefined : filteredPath(list)}
        olderHref={list.nextBefore ? filteredPath(list, { before: list.nextBefore }) : undefined}
      />
    </>
  );
}

function CreateLink() {
  return (
    <ButtonLink href={NEW_MONITOR_PATH} kind="primary">
      Create monitor
    </ButtonLink>
  );
}

function Cards({ list }: { list: MonitorListing }) {
  return (
    <StatCards>
      {CARDS.map((state) => (
        <StatCard
          key={state}
          label={MONITOR_WORDS[state]}
          value={list.counts.get(state) ?? 0}
          href={filteredPath(list, { state: list.state === state ? undefined : state })}
          isCurrent={list.state === state}
        />
      ))}
    </StatCards>
  );
}

function Filters({ list }: { list: MonitorListing }) {
  const { pages, page, state, type, search } = list;
  return (
    <SearchForm
      action={MONITORS_PATH}
      value={search}
      label="Search by name"
      placeholder="Search monitors"
      isFiltered={page !== undefined || state !== undefined || type !== undefined}
    >
      <FilterSelect
        label="State"
        name="state"
        options={[
          { value: "", label: "All states" },
          ...MONITOR_STATES.map((value) => ({ value, label: MONITOR_WORDS[value] })),
        ]}
        value={state ?? ""}
      />
      <FilterSelect
        label="Type"
        name="type"
        options={[
          { value: "", label: "All types" },
          ...MONITOR_TYPES.map((value) => ({ value, label: typeLabel(value) })),
        ]}
        value={type ?? ""}
      />
      <PageFilter pages={pages} page={page} />
    </SearchForm>
  );
}

interface RowProps {
  record: MonitorRecord;
  line: SparklineValues | undefined;
  now: number;
}

function MonitorRow({ record, line, now }: RowProps) {
  const { row, state, lastCheck } = record;
  return (
    <Row isOver={state.state === "paused"}>
      <Cell>
        <RowLink href={monitorPath(row.id)}>{row.name}</RowLink>
        <CellNote>
          {typeLabel(row.type)} · {targetOf(row)}
        </CellNote>
      </Cell>
      <Cell label="State">
        <MonitorLabel state={state.state} />
        <CellNote>
          <Since at={state.since} now={now} />
        </CellNote>
      </Cell>
      <Cell label="Last result">
        <LastResult check={lastCheck} now={now} />
      </Cell>
      <Cell label="Response time">
        <ResponseLine line={line} />
      </Cell>
    </Row>
  );
}

/** Sparkline of recent response times. Missing responses are dots. */
function ResponseLine({ line }: { line: SparklineValues | undefined }) {
  if (!line || line.values.length === 0) return <span class="quiet-text">No results yet</span>;
  // A response within a millisecond is drawn as a bar, a missing one as a dot.
  const bars = line.values.map((value) => (value === null ? 0 : Math.max(1, value)));
  return <Sparkline values={bars} label={describe(line)} />;
}

function describe({ of, values }: SparklineValues): string {
  const known = values.filter((value) => value !== null);
  const when =
    of === "hours"
      ? "each of the last 24 hours"
      : `the last ${plural(values.length, "check")}`.replace("the last 1 check", "the last check");
  if (known.length === 0) return `No response in ${when}`;
  const [low, high] = [Math.min(...known), Math.max(...known)].map(latencyInWords);
  return `Response times of ${when}: ${low === high ? low : `${low} to ${high}`}`;
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

/**
 * Returns the path of the list with the same filters, except changed ones. Without `before` it
 * starts with the first monitor.
 */
function filteredPath(
  { search, page, state, type }: MonitorListing,
  changed: Parameters<typeof listPath>[1] = {},
): string {
  return listPath(MONITORS_PATH, { q: search, page: page?.slug, state, type, ...changed });
}
