import type { ActorKind } from "../../../base/actor";
import { toCsv, toCsvLine } from "../../../base/csv";
import { runInSlices } from "../../../base/in-slices";
import { parseDay, toIso } from "../../../base/time";
import { daysIn, endOfDay, localTime, zoneLabel } from "../../../base/zones";
import type { Reader } from "../../../db/statements";
import {
  type AuditCursor,
  type AuditQuery,
  type AuditRow,
  searchAudit,
} from "../../../events/audit-search";
import { declareRoutes } from "../../../http/elysia";
import { operation, session } from "../../../http/operation";
import { NO_STORE } from "../../../http/representation";
import { sessionOf, zoneOf } from "../../../http/request-context";
import { EmptyState } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { ACTIVITY_PATH, withQuery } from "../../../ui/frame/paths";
import { crumbsAbove } from "../../../ui/frame/places";
import { Icon } from "../../../ui/icons";
import {
  Cell,
  CellNote,
  type Column,
  FilterDate,
  FilterSelect,
  ListCard,
  ListToolbar,
  OneLine,
  OrderSelect,
  Row,
  RowLink,
  type Sorting,
  Table,
} from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { countFilters, NoMatch, NoOlder } from "../../../ui/screens/list";
import { screenOperation } from "../../../ui/screens/routes";
import { RelativeTime, useZone } from "../../../ui/times";
import { linksOf } from "./target-links";

const CSV = "text/csv";

/** Settings → Activity: the audit log, for admins and owners. */
export function activityAdminRoutes({ ctx, render }: AdminDependencies) {
  const MAY_READ = session("admin");
  return declareRoutes()
    .get(
      ACTIVITY_PATH,
      async ({ request, requestContext, query }) => {
        const list = await readActivity(ctx.db, query, zoneOf(requestContext));
        const { role } = sessionOf(requestContext).user;
        const targets = list.entries.map(({ targetId }) => targetId);
        const page = { list, links: linksOf(ctx.db, targets, role), now: requestContext.now };
        return render.screen(
          { request, requestContext },
          { title: "Activity", children: <ActivityList {...page} /> },
        );
      },
      screenOperation(MAY_READ),
    )
    .get(
      ACTIVITY_FILE_PATH,
      async ({ requestContext, query }) => {
        const name = `allclear-activity-${toIso(requestContext.now).slice(0, 10)}.csv`;
        const filter = toAuditQuery(readFilter(query), zoneOf(requestContext));
        return new Response(auditCsv(ctx.db, filter), {
          headers: {
            "Content-Type": `${CSV};charset=utf-8`,
            "Content-Disposition": `attachment; filename="${name}"`,
            "Cache-Control": NO_STORE,
          },
        });
      },
      operation({
        summary: "Download the audit log as CSV",
        tag: "Dashboard",
        access: MAY_READ,
        answers: { 200: { description: "CSV.", mediaType: CSV } },
      }),
    );
}

/** Columns of a list in the time zone of its reader. */
const columnsIn = (zone: string) =>
  [
    {
      label: `Time (${zoneLabel(zone)})`,
      sort: { key: "time", kind: "time", usual: "descending" },
    },
    { label: "Actor" },
    { label: "Change" },
    { label: "IP address" },
  ] as const satisfies readonly Column[];

/** Labels of the actor kinds other than user, shown with the actor's name. */
const KIND_WORDS: Readonly<Partial<Record<ActorKind, string>>> = {
  key: "API key",
  cli: "Command line",
  system: "Automatic",
};

interface ActivityListProps {
  list: ActivityListing;
  /** Paths of the screens of changed objects that still exist, by object id. */
  links: ReadonlyMap<string, string>;
  /** Unix ms. */
  now: number;
}

/** Settings → Activity. */
function ActivityList({ list, links, now }: ActivityListProps) {
  const { filter, order, entries, nextBefore, isContinued } = list;
  const columns = columnsIn(useZone());
  const sorting: Sorting = {
    order,
    usual: "Newest first",
    pathOf: (sort) => activityPath(filter, { sort }),
  };
  return (
    <>
      <PageHead
        title="Activity"
        crumbs={crumbsAbove(ACTIVITY_PATH)}
        isList
        actions={
          <ButtonLink href={activityPath(filter, { path: ACTIVITY_FILE_PATH })}>
            <Icon name="download" />
            Download CSV
          </ButtonLink>
        }
      >
        Changes with their time and author. IP addresses are deleted before the entries.
      </PageHead>
      <ListCard>
        <ActivityFilters list={list} sorting={sorting} />
        {entries.length > 0 ? (
          <Table columns={columns} caption="Changes" sorting={sorting} isInCard>
            {entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} link={links.get(entry.targetId)} now={now} />
            ))}
          </Table>
        ) : (
          <NoEntries list={list} />
        )}
        <Pagination
          newestHref={isContinued ? activityPath(filter, { sort: order }) : undefined}
          olderHref={nextBefore && activityPath(filter, { sort: order, before: nextBefore })}
          {...(order === undefined ? {} : { newest: "Oldest", older: "Newer" })}
        />
      </ListCard>
    </>
  );
}

interface EntryRowProps {
  entry: AuditRow;
  link: string | undefined;
  now: number;
}

function EntryRow({ entry, link, now }: EntryRowProps) {
  const { at, actorKind, actorId, actorLabel, action, targetId, summary, ip } = entry;
  const time = toIso(at);
  const zone = useZone();
  const kind = KIND_WORDS[actorKind];
  return (
    <Row>
      <Cell label="Time">
        <RelativeTime at={time} now={now} />
        <CellNote>
          <span class="nowrap">{localTime(at, zone).replace("T", " ")}</span>
        </CellNote>
      </Cell>
      <Cell label="Actor">
        <OneLine>
          <a href={activityPath({ actor: actorId ?? actorKind })}>{actorLabel}</a>
        </OneLine>
        {kind ? <CellNote>{kind}</CellNote> : null}
      </Cell>
      <Cell label="Change">
        <div>{link === undefined ? summary : <RowLink href={link}>{summary}</RowLink>}</div>
        <CellNote>
          <a href={activityPath({ action })}>{action}</a> ·{" "}
          <a href={activityPath({ target: targetId })}>history</a>
        </CellNote>
      </Cell>
      <Cell label="IP address">
        {ip === null ? <NoAddress kind={actorKind} /> : <OneLine>{ip}</OneLine>}
      </Cell>
    </Row>
  );
}

/**
 * Replaces a missing address. Old addresses are deleted, and the system and the command line have
 * none.
 */
function NoAddress({ kind }: { kind: ActorKind }) {
  const isRemote = kind === "user" || kind === "key";
  return <span class="quiet-text">{isRemote ? "Deleted" : "None"}</span>;
}

function NoEntries({ list: { filter, order, isContinued } }: { list: ActivityListing }) {
  if (!hasFilter(filter) && !isContinued) {
    return (
      <EmptyState title="No changes yet">
        Changes of users, keys, settings, pages, monitors, webhooks, incidents and maintenance
        appear here.
      </EmptyState>
    );
  }
  return isContinued ? (
    <NoOlder
      what="changes"
      newest={activityPath(filter, { sort: order })}
      isOrdered={order !== undefined}
    />
  ) : (
    <NoMatch title="No changes match these filters" home={ACTIVITY_PATH} />
  );
}

const ACTORS = [
  { value: "", label: "Every actor" },
  { value: "user", label: "Users" },
  { value: "key", label: "API keys" },
  { value: "cli", label: "Command line" },
  { value: "system", label: "Automatic changes" },
];

/** Options of the filter by changed object: first parts of actions such as `incident.create`. */
const ACTIONS = [
  { value: "", label: "Every object" },
  { value: "incident", label: "Incidents" },
  { value: "maintenance", label: "Maintenance" },
  { value: "component", label: "Components" },
  { value: "group", label: "Groups" },
  { value: "page", label: "Pages" },
  { value: "monitor", label: "Monitors" },
  { value: "webhook", label: "Webhooks" },
  { value: "key", label: "API keys" },
  { value: "user", label: "Users" },
  { value: "session", label: "Sessions" },
  { value: "settings", label: "Settings" },
];

/** Filters of the audit log: search text, actor, changed object and days. */
function ActivityFilters({ list, sorting }: { list: ActivityListing; sorting: Sorting }) {
  const { filter, order, entries } = list;
  const { search, actor, action, target, from, to } = filter;
  // The name of a filtered actor, whose id is in the address, is known from the entries.
  const [newest] = entries;
  const actorLabel = newest?.actorId === actor ? newest.actorLabel : actor;
  return (
    <ListToolbar
      action={ACTIVITY_PATH}
      search={{
        value: search,
        label: "Search by summary, actor, action, id or address",
        placeholder: "Summary, actor or id",
      }}
      clearHref={hasFilter(filter) ? activityPath({}, { sort: order }) : undefined}
      inForce={countFilters({ actor, action, target, from, to })}
      hasDates
    >
      <FilterSelect
        label="Actor"
        name="actor"
        options={withSelected(ACTORS, actor, actorLabel)}
        value={actor}
      />
      <FilterSelect
        label="Object"
        name="action"
        options={withSelected(ACTIONS, action, action)}
        value={action}
      />
      {target === "" ? null : (
        <FilterSelect
          label="Object id"
          name="target"
          options={withSelected([{ value: "", label: "Any object" }], target, `Object ${target}`)}
          value={target}
        />
      )}
      <FilterDate label="From" name="from" value={from} />
      <FilterDate label="To" name="to" value={to} />
      <OrderSelect sorting={sorting} columns={columnsIn(useZone())} />
    </ListToolbar>
  );
}

interface Option {
  value: string;
  label: string;
}

/** Returns the options, with an additional one if the selected value is not among them. */
function withSelected(
  options: readonly Option[],
  selected: ActivityFilter[keyof ActivityFilter],
  label: string,
): readonly Option[] {
  return options.some(({ value }) => value === selected)
    ? options
    : [...options, { value: selected, label }];
}

const ACTIVITY_FILE_PATH = `${ACTIVITY_PATH}.csv`;

const PAGE_SIZE = 50;

/** Filter of the list and of its CSV file, read from the address. Empty strings do not filter. */
interface ActivityFilter {
  search: string;
  actor: string;
  action: string;
  target: string;
  /** Days in the time zone of the user, `YYYY-MM-DD`. `to` is the last day shown. */
  from: string;
  to: string;
}

/** Content of one screen of the audit log. */
interface ActivityListing {
  filter: ActivityFilter;
  /** Undefined for the newest first. */
  order: "time" | undefined;
  entries: readonly AuditRow[];
  /**
   * Last entry of this screen if more follow. `isContinued` is true for every screen but the first.
   */
  nextBefore: AuditCursor | undefined;
  isContinued: boolean;
}

type Query = Readonly<Record<string, string | undefined>>;

/** Reads the filter from a query. Invalid values are ignored. */
function readFilter(query: Query): ActivityFilter {
  const textOf = (name: string) => (query[name] ?? "").trim();
  const dayOf = (name: string) => (parseDay(textOf(name)) === undefined ? "" : textOf(name));
  return {
    search: textOf("q"),
    actor: textOf("actor"),
    action: textOf("action"),
    target: textOf("target"),
    from: dayOf("from"),
    to: dayOf("to"),
  };
}

/**
 * Returns the path of the list, or of its CSV file. Without `before` it starts with the newest
 * entry.
 */
export function activityPath(
  filter: Partial<ActivityFilter>,
  more: { before?: AuditCursor; sort?: string | undefined; path?: string } = {},
): string {
  const { before, sort, path = ACTIVITY_PATH } = more;
  const { search, actor, action, target, from, to } = filter;
  const position = before && `${before.at}-${before.id}`;
  return withQuery(path, { q: search, actor, action, target, from, to, sort, before: position });
}

/** Returns true if any filter is set. */
function hasFilter(filter: ActivityFilter): boolean {
  return Object.values(filter).some((value) => value !== "");
}

/** Converts the filter to an audit log query without position and limit. */
function toAuditQuery(
  filter: ActivityFilter,
  timeZone: string,
): Omit<AuditQuery, "before" | "isOldestFirst" | "limit"> {
  const { search, actor, action, target, from, to } = filter;
  const firstDay = parseDay(from);
  return {
    text: search,
    actor: actor || undefined,
    action: action || undefined,
    target: target || undefined,
    from: firstDay === undefined ? undefined : daysIn(timeZone).startOf(firstDay),
    until: to === "" ? undefined : endOfDay(to, timeZone),
  };
}

/** Reads the entries of one screen. */
async function readActivity(
  reader: Reader,
  query: Query,
  timeZone: string,
): Promise<ActivityListing> {
  const filter = readFilter(query);
  const before = readCursor(query["before"] ?? "");
  const order = query["sort"] === "time" ? "time" : undefined;
  const position = { before, isOldestFirst: order === "time", limit: PAGE_SIZE + 1 };
  const search = searchAudit(reader, { ...toAuditQuery(filter, timeZone), ...position });
  const rows = await runInSlices(search);
  const entries = rows.slice(0, PAGE_SIZE);
  return {
    filter,
    order,
    entries,
    nextBefore: rows.length > PAGE_SIZE ? entries.at(-1) : undefined,
    isContinued: before !== undefined,
  };
}

const CURSOR_PATTERN = /^(\d{1,15})-(\d{1,15})$/;

/** Reads the position in the log from the query parameter `before`. */
function readCursor(text: string): AuditCursor | undefined {
  const [, at, id] = CURSOR_PATTERN.exec(text) ?? [];
  return at === undefined ? undefined : { at: Number(at), id: Number(id) };
}

/** Number of entries read at a time, which limits memory. */
const ROWS_PER_BATCH = 500;

const CSV_COLUMNS = [
  "at",
  "actor_kind",
  "actor_id",
  "actor",
  "action",
  "target",
  "summary",
  "address",
] as const;

/**
 * Streams audit log entries as text/csv (RFC 4180), newest first. Cells that a spreadsheet would
 * run as a formula are prefixed with an apostrophe.
 */
function auditCsv(
  reader: Reader,
  query: Omit<AuditQuery, "before" | "limit">,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let before: AuditCursor | undefined;
  let header = toCsv(CSV_COLUMNS, []);
  return new ReadableStream({
    async pull(controller) {
      const rows = await runInSlices(
        searchAudit(reader, { ...query, before, limit: ROWS_PER_BATCH }),
      );
      before = rows.at(-1);
      const text = header + rows.map((row) => toCsvLine(cellsOf(row))).join("");
      header = "";
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (rows.length < ROWS_PER_BATCH) controller.close();
    },
  });
}

function cellsOf(row: AuditRow) {
  const { at, actorKind, actorId, actorLabel, action, targetId, summary, ip } = row;
  return [toIso(at), actorKind, actorId, actorLabel, action, targetId, summary, ip];
}
