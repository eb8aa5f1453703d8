import type { Reader } from "../../db";
import type { Role } from "../../domain/role";
import {
  isUnderWay,
  listMaintenance,
  listPendingMaintenance,
  type MaintenanceRecord,
} from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import { toIso } from "../../kernel/time";
import { MaintenanceState } from "../../public/state";
import { Names } from "../../public/text";
import { Button, ButtonLink, Cell, CellNote, Row, RowLink, Section, Table } from "../../ui";
import { PageFilter } from "../page-choice";
import { MAINTENANCE_PATH, maintenancePath } from "../paths";
import { ListFrame, listPath, type ListQuery, readListQuery } from "../timeline/list-frame";
import { PLAN_PATH } from "./maintenance-paths";
import { When } from "./when";

/** Number of listed maintenance that has not ended; the list says if there is more. */
const PENDING_SHOWN = 100;
const PAST_SHOWN = 50;
/** Components listed by name; further ones are counted. */
const NAMES_SHOWN = 3;

const COLUMNS = [
  { label: "Maintenance" },
  { label: "Status" },
  { label: "Planned" },
  { label: "Components" },
];

/** Content of one screen of the list of maintenance. */
interface MaintenanceListing extends ListQuery {
  underWay: readonly MaintenanceRecord[];
  /** By planned start. */
  upcoming: readonly MaintenanceRecord[];
  /** True if more maintenance is under way or upcoming than is listed. */
  hasMorePending: boolean;
  /** Latest planned start first. */
  past: readonly MaintenanceRecord[];
  /** Id of the last past maintenance if more follow. */
  nextBefore: string | undefined;
}

/** Reads the list for a query. `before` continues past maintenance after that id. */
export function readMaintenanceList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): MaintenanceListing {
  const { pages, page, before } = readListQuery(reader, query);
  const ended = listMaintenance(reader, {
    isUpcoming: 0,
    isActive: 0,
    pageId: page?.id,
    before,
    limit: PAST_SHOWN + 1,
  });
  const pending =
    before === undefined
      ? listPendingMaintenance(reader, { pageId: page?.id, limit: PENDING_SHOWN + 1 })
      : [];
  const shown = pending.slice(0, PENDING_SHOWN);
  const past = ended.slice(0, PAST_SHOWN);
  return {
    pages,
    page,
    before,
    underWay: shown.filter(({ row }) => isUnderWay(row.status)),
    upcoming: shown.filter(({ row }) => row.status === "scheduled"),
    hasMorePending: pending.length > PENDING_SHOWN,
    past,
    nextBefore: ended.length > PAST_SHOWN ? past.at(-1)?.row.id : undefined,
  };
}

/** `/admin/maintenance`: maintenance under way, upcoming and past. */
export function MaintenanceList({ list, role }: { list: MaintenanceListing; role: Role }) {
  const { pages, page, before, underWay, upcoming, past } = list;
  const isEmpty = underWay.length + upcoming.length + past.length === 0;
  const table = { pages, isPageShown: pages.length > 1 && page === undefined };
  return (
    <ListFrame
      {...list}
      title="Maintenance"
      home={MAINTENANCE_PATH}
      filters={{ page: page?.slug }}
      filterForm={pages.length > 1 ? <Filters list={list} /> : null}
      newLink={
        <ButtonLink href={listPath(PLAN_PATH, { page: page?.slug })} kind="primary">
          Plan maintenance
        </ButtonLink>
      }
      role={role}
      isEmpty={isEmpty}
      firstUse={{
        title: "No maintenance yet",
        text: "Maintenance announces planned work on the page, in the feeds and in the calendar. Its components are under maintenance from start to end.",
      }}
      noMatch="No maintenance matches these filters"
    >
      <Part title="In progress" records={underWay} {...table} />
      {isEmpty || before !== undefined ? null : (
        <Part
          title="Upcoming"
          records={upcoming}
          {...table}
          emptyLine="No maintenance is planned."
        />
      )}
      {list.hasMorePending ? <p class="muted">Only the next {PENDING_SHOWN} are listed.</p> : null}
      <Part title="Past" records={past} {...table} />
    </ListFrame>
  );
}

function Filters({ list: { pages, page } }: { list: MaintenanceListing }) {
  return (
    <form class="search" method="get" action={MAINTENANCE_PATH}>
      <PageFilter pages={pages} page={page} />
      <noscript>
        <Button>Show</Button>
      </noscript>
    </form>
  );
}

interface PartProps {
  title: string;
  records: readonly MaintenanceRecord[];
  pages: readonly PageRow[];
  isPageShown: boolean;
  /** Text for an empty part; without it an empty part is omitted. */
  emptyLine?: string;
}

function Part({ title, records, pages, isPageShown, emptyLine }: PartProps) {
  if (records.length === 0 && emptyLine === undefined) return null;
  return (
    <Section title={title}>
      {records.length === 0 ? (
        <p class="muted">{emptyLine}</p>
      ) : (
        <Table columns={COLUMNS} caption={title}>
          {records.map((record) => (
            <MaintenanceRow
              key={record.row.id}
              record={record}
              page={pages.find(({ id }) => id === record.row.pageId)}
              isPageShown={isPageShown}
            />
          ))}
        </Table>
      )}
    </Section>
  );
}

interface RowProps {
  record: MaintenanceRecord;
  page: PageRow | undefined;
  isPageShown: boolean;
}

function MaintenanceRow({ record, page, isPageShown }: RowProps) {
  const { row, components, isTruncated } = record;
  return (
    <Row isOver={row.status === "cancelled"}>
      <Cell>
        <RowLink href={maintenancePath(row.id)}>{row.name}</RowLink>
        {isPageShown && page ? <CellNote>{page.name}</CellNote> : null}
      </Cell>
      <Cell label="Status">
        <MaintenanceState maintenance={row} />
      </Cell>
      <Cell label="Planned">
        <When
          from={toIso(row.scheduledFor)}
          until={toIso(row.scheduledUntil)}
          timeZone={page?.timeZone ?? "UTC"}
        />
      </Cell>
      <Cell label="Components">
        {components.length > 0 ? (
          <Names
            names={components.map(({ name }) => name)}
            max={NAMES_SHOWN}
            isTruncated={isTruncated}
          />
        ) : (
          <span class="quiet-text">None</span>
        )}
      </Cell>
    </Row>
  );
}
