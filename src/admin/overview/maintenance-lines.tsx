import type { MaintenanceRecord } from "../../features/maintenance";
import { toIso } from "../../kernel/time";
import { MaintenanceState } from "../../public/state";
import { Cell, CellNote, RelativeTime, OneLine, Row, RowLink, Table } from "../../ui";
import { maintenancePath } from "../paths";

const COLUMNS = [{ label: "Maintenance" }, { label: "Status" }, { label: "When" }];

/** Maintenance under way or upcoming, each linked to its screen. */
export function MaintenanceLines(props: {
  maintenance: readonly MaintenanceRecord[];
  /** Page names by id; undefined if there is only one page. */
  pageNames: ReadonlyMap<string, string> | undefined;
  now: number;
}) {
  const { maintenance, pageNames, now } = props;
  return (
    <Table columns={COLUMNS} caption="Maintenance under way and to come">
      {maintenance.map(({ row }) => {
        const isToCome = row.status === "scheduled";
        const pageName = pageNames?.get(row.pageId);
        return (
          <Row key={row.id}>
            <Cell>
              <RowLink href={maintenancePath(row.id)}>{row.name}</RowLink>
              {pageName ? <CellNote>{pageName}</CellNote> : null}
            </Cell>
            <Cell label="Status">
              <MaintenanceState maintenance={row} />
            </Cell>
            <Cell label="When">
              <OneLine>
                {isToCome ? "Starts " : "Planned to end "}
                <RelativeTime
                  at={toIso(isToCome ? row.scheduledFor : row.scheduledUntil)}
                  now={now}
                />
              </OneLine>
            </Cell>
          </Row>
        );
      })}
    </Table>
  );
}
