import type { MaintenanceRecord } from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import { type Role, roleAllows } from "../../domain/role";
import { toIso } from "../../kernel/time";
import { MaintenanceState } from "../../public/state";
import { Names } from "../../public/text";
import {
  Button,
  ButtonLink,
  Cell,
  CellNote,
  EmptyState,
  PageHead,
  Pagination,
  Row,
  RowLink,
  Section,
  Table,
} from "../../ui";
import { FirstPage } from "../no-page";
import { PageFilter } from "../page-filter";
import { MAINTENANCE_PATH, maintenancePath } from "../paths";
import type { MaintenanceListing } from "./listing";
import { listPath, PLAN_PATH } from "./maintenance-paths";
import { When } from "./when";

interface MaintenanceListProps {
  list: MaintenanceListing;
  role: Role;
}

const COLUMNS = [
  { label: "Maintenance" },
  { label: "Status" },
  { label: "Planned" },
  { label: "Components" },
];

const NAMES_SHOWN = 3;

/** `/admin/maintenance`: maintenance under way, upcoming and past. */
export function MaintenanceList({ list, role }: MaintenanceListProps) {
  const { pages, page, underWay, upcoming, past, isContinued } = list;
  const mayPlan = roleAllows(role, "editor") && pages.length > 0;
  const isEmpty = underWay.length + upcoming.length + past.length === 0 && !isContinued;
  return (
    <>
      <PageHead
        title="Maintenance"
        actions={mayPlan && !isEmpty ? <PlanLink slug={page?.slug} /> : undefined}
      />
      {pages.length > 1 ? <Filters list={list} /> : null}
      {pages.length === 0 ? <FirstPage role={role} /> : null}
      {isEmpty && pages.length > 0 ? <Nothing mayPlan={mayPlan} slug={page?.slug} /> : null}
      {isEmpty || isContinued ? null : (
        <>
          <Part title="Under way" records={underWay} list={list} />
          <Part title="Upcoming" records={upcoming} list={list} emptyLine="Nothing is planned." />
          {list.isCut ? <p class="muted">What is planned for later still is left out.</p> : null}
        </>
      )}
      <Part title="Past" records={past} list={list} />
      <Pagination
        newestHref={isContinued ? listPath({ page: page?.slug }) : undefined}
        olderHref={
          list.nextBefore ? listPath({ page: page?.slug, before: list.nextBefore }) : undefined
        }
      />
    </>
  );
}

function PlanLink({ slug }: { slug: string | undefined }) {
  const query = slug === undefined ? "" : `?page=${encodeURIComponent(slug)}`;
  return (
    <ButtonLink href={PLAN_PATH + query} kind="primary">
      Plan maintenance
    </ButtonLink>
  );
}

function Filters({ list: { pages, page } }: { list: MaintenanceListing }) {
  return (
    <form class="search" method="get" action={MAINTENANCE_PATH}>
      <PageFilter pages={pages} page={page} />
      <Button>Show</Button>
    </form>
  );
}

interface PartProps {
  title: string;
  list: MaintenanceListing;
  records: readonly MaintenanceRecord[];
  /** Text for an empty part; without it an empty part is omitted. */
  emptyLine?: string;
}

function Part({ title, records, emptyLine, list: { pages, page } }: PartProps) {
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
              isPageShown={pages.length > 1 && page === undefined}
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
  const { row, components, isCut } = record;
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
          <Names names={components.map(({ name }) => name)} most={NAMES_SHOWN} isCut={isCut} />
        ) : (
          <span class="quiet-text">None</span>
        )}
      </Cell>
    </Row>
  );
}

function Nothing({ mayPlan, slug }: { mayPlan: boolean; slug: string | undefined }) {
  return (
    <EmptyState title="No maintenance yet" action={mayPlan ? <PlanLink slug={slug} /> : undefined}>
      Planned work appears on the page, in the feeds and in the calendar. Maintenance starts and
      ends by itself; the components are shown under maintenance meanwhile.
    </EmptyState>
  );
}
