import type { Reader } from "../../../db/statements";
import { type Role, roleAllows } from "../../../base/actor";
import {
  listSchedules,
  type ScheduleRecord,
} from "../../../features/maintenance/schedules/records";
import { listUpcomingOfSchedule } from "../../../features/maintenance/schedules/store";
import { toIso } from "../../../base/time";
import { ButtonLink } from "../../../ui/buttons";
import { Cell, CellNote, OneLine, Row, RowLink, Table } from "../../../ui/list";
import { duration, RelativeTime } from "../../../ui/times";
import { EmptyState } from "../../../ui/blocks";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import { labelAmong, type Page, readPages } from "../../../ui/frame/page-choice";
import { MAINTENANCE_PATH, maintenanceSchedulePath } from "../../../ui/frame/paths";
import { NEW_SCHEDULE_PATH } from "../maintenance-paths";

const COLUMNS = [
  { label: "Schedule" },
  { label: "Times" },
  { label: "Duration", isNumeric: true },
  { label: "Next" },
];

/** Content of the list of schedules. */
interface ScheduleListing {
  /** By page and name. */
  schedules: readonly (ScheduleRecord & { nextAt: number | undefined })[];
  pages: readonly Page[];
  /** Unix ms. */
  now: number;
}

/** Reads all schedules, each with the start of its next occurrence in unix ms. */
export function readScheduleList(reader: Reader, now: number): ScheduleListing {
  const pages = readPages(reader);
  const rank = new Map(pages.map(({ id }, index) => [id, index]));
  const schedules = listSchedules(reader)
    .toSorted(
      (a, b) =>
        (rank.get(a.row.pageId) ?? 0) - (rank.get(b.row.pageId) ?? 0) ||
        a.row.name.localeCompare(b.row.name, "en") ||
        (a.row.id < b.row.id ? -1 : 1),
    )
    .map((record) => {
      const [next] = listUpcomingOfSchedule(reader, { scheduleId: record.row.id, now, limit: 1 });
      return { ...record, nextAt: next?.scheduledFor ?? record.row.nextAt ?? undefined };
    });
  return { schedules, pages, now };
}

/** `/admin/maintenance/schedules`: schedules of maintenance. */
export function ScheduleList({ list, role }: { list: ScheduleListing; role: Role }) {
  const { schedules, pages } = list;
  const canChange = roleAllows(role, "editor");
  const create =
    canChange && pages.length > 0 ? (
      <ButtonLink href={NEW_SCHEDULE_PATH} kind="primary">
        <Icon name="plus" />
        Create schedule
      </ButtonLink>
    ) : undefined;
  const isEmpty = schedules.length === 0;
  return (
    <>
      <PageHead
        title="Maintenance schedules"
        crumbs={[{ href: MAINTENANCE_PATH, label: "Maintenance" }, { label: "Schedules" }]}
        actions={isEmpty ? undefined : create}
      >
        Each plans maintenance again and again, 30 days ahead.
      </PageHead>
      {isEmpty ? (
        <EmptyState title="No schedules yet" action={create}>
          A schedule plans maintenance that repeats, such as a restart each Sunday at 02:00. People
          get a reminder before each occurrence.
        </EmptyState>
      ) : (
        <Table columns={COLUMNS} caption="Maintenance schedules">
          {schedules.map((schedule) => (
            <ScheduleLine
              key={schedule.row.id}
              schedule={schedule}
              list={list}
              isLink={canChange}
            />
          ))}
        </Table>
      )}
    </>
  );
}

function ScheduleLine(props: {
  schedule: ScheduleListing["schedules"][number];
  list: ScheduleListing;
  isLink: boolean;
}) {
  const { schedule, list, isLink } = props;
  const { row, nextAt } = schedule;
  const page = list.pages.find(({ id }) => id === row.pageId);
  return (
    <Row isOver={!row.enabled}>
      <Cell>
        {isLink ? (
          <RowLink href={maintenanceSchedulePath(row.id)}>{row.name}</RowLink>
        ) : (
          <strong>{row.name}</strong>
        )}
        {list.pages.length > 1 && page ? <CellNote>{labelAmong(list.pages, page)}</CellNote> : null}
        {row.managedBy === null ? null : <CellNote>Managed by a file</CellNote>}
      </Cell>
      <Cell label="Times">
        <code>{row.cron}</code>
        <CellNote>{row.timeZone}</CellNote>
      </Cell>
      <Cell label="Duration" isNumeric>
        {duration(row.durationMinutes)}
      </Cell>
      <Cell label="Next">
        <OneLine>
          {!row.enabled ? (
            "Disabled"
          ) : nextAt === undefined ? (
            "Ended"
          ) : (
            <RelativeTime at={toIso(nextAt)} now={list.now} />
          )}
        </OneLine>
      </Cell>
    </Row>
  );
}
