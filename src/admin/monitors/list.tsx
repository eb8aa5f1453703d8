import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../base/actor";
import { BulkBar, DenseTable, ListCard } from "../../ui/list";
import { Button, ButtonLink } from "../../ui/buttons";
import { EmptyState } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import { PageHead, Pagination } from "../../ui/navigation";
import { MONITORS_PATH } from "../../ui/frame/paths";
import { NoMatch } from "../../features/timeline/screens/list";
import { COLUMNS, MonitorRow } from "./list-row";
import { filteredPath, MonitorToolbar, StateTabs } from "./list-tabs";
import { countOf, type MonitorListing } from "./listing";
import { NEW_MONITOR_PATH, SELECTED_MONITORS_PATH } from "./monitor-paths";

const PICK_COLUMN = { label: "Select", isHidden: true };

const ORDER_WORDS = { state: "worst first", name: "by name" } as const;

/** Returns the first column, whose link changes the order. */
function nameColumn(list: MonitorListing) {
  const isByName = list.order === "name";
  return {
    label: `Monitor, ${ORDER_WORDS[list.order]}`,
    sort: {
      order: isByName ? ("ascending" as const) : ("other" as const),
      href: filteredPath(list, { sort: isByName ? undefined : "name" }),
    },
  };
}

/** `/admin/monitors`: monitors with state, last 24 hours and figures, worst first. */
export function MonitorList(props: { list: MonitorListing; role: Role; now: number }) {
  const { list, role, now } = props;
  const { records } = list;
  const canChange = roleAllows(role, "admin");
  if (!list.hasAny) {
    return (
      <>
        <PageHead title="Monitors" />
        <NoMonitors canCreate={canChange} />
      </>
    );
  }
  const rows = (
    <DenseTable
      columns={[...(canChange ? [PICK_COLUMN] : []), nameColumn(list), ...COLUMNS]}
      caption={`Monitors, ${ORDER_WORDS[list.order]}`}
      liveId="monitor-rows"
    >
      {records.map((record) => (
        <MonitorRow
          key={record.row.id}
          record={record}
          recent={list.recent.get(record.row.num)}
          canPick={canChange}
          now={now}
        />
      ))}
    </DenseTable>
  );
  return (
    <>
      <PageHead title="Monitors" actions={canChange ? <CreateLink /> : undefined} />
      <StateTabs list={list} />
      <ListCard>
        <MonitorToolbar list={list} />
        {records.length === 0 ? (
          <NoMatch title="No monitors match these filters" home={MONITORS_PATH} />
        ) : canChange ? (
          <SelectionForm list={list}>{rows}</SelectionForm>
        ) : (
          <div>{rows}</div>
        )}
        <Pagination
          newestHref={list.before === undefined ? undefined : filteredPath(list)}
          olderHref={list.nextBefore ? filteredPath(list, { before: list.nextBefore }) : undefined}
        />
      </ListCard>
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
