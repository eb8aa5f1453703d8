import type { Role } from "../../base/actor";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import type { PageRow } from "../../features/pages/store";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { MAINTENANCE_TONES } from "../../public/state";
import { lasting, MAINTENANCE_WORDS } from "../../public/words";
import { ButtonLink } from "../../ui/buttons";
import { Chip, Shape } from "../../ui/blocks";
import { DenseRow, DenseTable, FigureCell, ListToolbar, NameCell, TextCell } from "../../ui/list";
import { Icon } from "../../ui/icons";
import { Tabs } from "../../ui/navigation";
import { labelAmong, PageFilter } from "../../ui/frame/page-choice";
import {
  MAINTENANCE_PATH,
  MAINTENANCE_SCHEDULES_PATH,
  maintenancePath,
} from "../../ui/frame/paths";
import { EntryNote, ListFrame, listPath } from "../../features/timeline/screens/list";
import { LIST_VIEWS, type ListView, type MaintenanceListing } from "./listing";
import { PLAN_CALENDAR_PATH, PLAN_PATH } from "./maintenance-paths";
import { When } from "./when";

const COLUMNS = [
  { label: "Maintenance" },
  { label: "Status", isSecondary: true },
  { label: "Planned" },
  { label: "Duration", isNumeric: true },
];

const VIEW_LABELS: Readonly<Record<ListView, string>> = {
  all: "All",
  in_progress: "In progress",
  upcoming: "Upcoming",
  past: "Past",
};

/** `/admin/maintenance`: maintenance in progress, upcoming and past. */
export function MaintenanceList({ list, role }: { list: MaintenanceListing; role: Role }) {
  const { pages, page, records, view } = list;
  return (
    <ListFrame
      {...list}
      title="Maintenance"
      home={MAINTENANCE_PATH}
      filters={filtersOf(list, view)}
      tabs={<ViewTabs list={list} />}
      toolbar={<Filters list={list} />}
      links={
        <>
          <ButtonLink href={MAINTENANCE_SCHEDULES_PATH}>Schedules</ButtonLink>
          <ButtonLink href={listPath(PLAN_CALENDAR_PATH, { page: page?.slug })}>
            Calendar
          </ButtonLink>
        </>
      }
      newLink={
        <ButtonLink href={listPath(PLAN_PATH, { page: page?.slug })} kind="primary">
          <Icon name="plus" />
          Plan maintenance
        </ButtonLink>
      }
      role={role}
      isEmpty={records.length === 0}
      firstUse={{
        title: "No maintenance yet",
        text: "Maintenance announces planned work on the page, in the feeds and in the calendar. Its components are under maintenance from start to end.",
      }}
      noMatch="No maintenance matches these filters"
    >
      <DenseTable
        columns={COLUMNS}
        caption="Maintenance, in progress first"
        liveId="maintenance-rows"
      >
        {records.map((record) => (
          <MaintenanceRow
            key={record.row.id}
            record={record}
            page={pages.find(({ id }) => id === record.row.pageId)}
            pages={page === undefined && pages.length > 1 ? pages : undefined}
          />
        ))}
      </DenseTable>
      {list.upcomingShown === undefined ? null : (
        <p class="muted detail-body">
          Only the next {list.upcomingShown} of {list.counts.upcoming.toLocaleString("en")} upcoming
          ones are listed.
        </p>
      )}
    </ListFrame>
  );
}

function filtersOf({ search, page }: MaintenanceListing, view: ListView) {
  return { q: search, page: page?.slug, show: view === "all" ? undefined : view };
}

function ViewTabs({ list }: { list: MaintenanceListing }) {
  return (
    <div id="maintenance-views" data-live="">
      <Tabs
        label="Status"
        items={LIST_VIEWS.map((view) => ({
          href: listPath(MAINTENANCE_PATH, filtersOf(list, view)),
          label: VIEW_LABELS[view],
          count: list.counts[view],
          isCurrent: view === list.view,
        }))}
      />
    </div>
  );
}

function Filters({ list }: { list: MaintenanceListing }) {
  const { pages, page, view, search, counts } = list;
  const show = view === "all" ? undefined : view;
  return (
    <ListToolbar
      action={MAINTENANCE_PATH}
      search={{
        value: search,
        label: "Search by maintenance or component name",
        placeholder: "Maintenance or component",
      }}
      hidden={show === undefined ? {} : { show }}
      clearHref={
        search === "" && page === undefined ? undefined : listPath(MAINTENANCE_PATH, { show })
      }
      count={plural(counts[view], "maintenance")}
    >
      <PageFilter pages={pages} page={page} />
    </ListToolbar>
  );
}

interface RowProps {
  record: MaintenanceRecord;
  page: PageRow | undefined;
  /** All pages if the row names its page. */
  pages: readonly PageRow[] | undefined;
}

function MaintenanceRow({ record, page, pages }: RowProps) {
  const { row } = record;
  const tone = MAINTENANCE_TONES[row.status];
  const word = MAINTENANCE_WORDS[row.status];
  const from = toIso(row.scheduledFor);
  const until = toIso(row.scheduledUntil);
  return (
    <DenseRow>
      <NameCell
        shape={<Shape tone={tone} />}
        href={maintenancePath(row.id)}
        name={row.name}
        state={<span class="visually-hidden">, {word}</span>}
        note={
          <EntryNote
            pageName={pages && page ? labelAmong(pages, page) : undefined}
            record={record}
          />
        }
      />
      <TextCell isSecondary>
        {tone === "none" ? <Chip>{word}</Chip> : <Chip tone={tone}>{word}</Chip>}
      </TextCell>
      <TextCell isBars>
        <When from={from} until={until} timeZone={page?.timeZone ?? "UTC"} />
      </TextCell>
      <FigureCell>{lasting(from, until)}</FigureCell>
    </DenseRow>
  );
}
