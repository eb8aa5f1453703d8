import type { StorageState } from "../../db";
import { type Role, roleAllows } from "../../domain/role";
import type { MaintenanceRecord } from "../../features/maintenance";
import { headlineText, toneOf } from "../../features/status";
import { plural } from "../../kernel/text";
import { toIso } from "../../kernel/time";
import { MaintenanceState } from "../../public/state";
import {
  ButtonLink,
  Cell,
  CellNote,
  OneLine,
  PageHead,
  RelativeTime,
  Row,
  RowLink,
  Section,
  State,
  Table,
} from "../../ui";
import { IncidentTable } from "../incidents/incident-table";
import { REPORT_PATH } from "../incidents/incident-paths";
import { FirstPage } from "../no-page";
import { INCIDENTS_PATH, maintenancePath } from "../paths";
import { type CurrentState, DRAFTS_COUNTED } from "./current-state";
import { DeliveryNotice, StorageNotice } from "./notices";

const MAINTENANCE_COLUMNS = [{ label: "Maintenance" }, { label: "Status" }, { label: "Time" }];
const PAGE_COLUMNS = [
  { label: "Page" },
  { label: "Status" },
  { label: "Components", isNumeric: true },
];

interface OverviewProps {
  state: CurrentState;
  storage: StorageState;
  role: Role;
  now: number;
}

/** `/admin`: open incidents, current maintenance and the state of every page. */
export function Overview({ state, storage, role, now }: OverviewProps) {
  const { pages, incidents, maintenance } = state;
  if (pages.length === 0) {
    return (
      <>
        <PageHead title="Overview" />
        <StorageNotice storage={storage} />
        <FirstPage role={role} />
      </>
    );
  }
  const names = new Map(pages.map(({ page }) => [page.id, page.name]));
  const pageNames = pages.length > 1 ? names : undefined;
  const isQuiet = incidents.length === 0 && maintenance.length === 0;
  return (
    <>
      <PageHead
        title="Overview"
        actions={
          roleAllows(role, "editor") ? (
            <ButtonLink href={REPORT_PATH} kind="primary">
              Report an incident
            </ButtonLink>
          ) : undefined
        }
      >
        {isQuiet
          ? "No incident is open, and no maintenance is planned for the next 30 days."
          : undefined}
      </PageHead>
      <StorageNotice storage={storage} />
      <DeliveryNotice troubles={state.troubles} role={role} now={now} />
      {incidents.length > 0 ? (
        <Section title="Open incidents">
          <IncidentTable
            caption="Open incidents"
            records={incidents}
            pageNames={pageNames}
            now={now}
          />
          <MoreIncidents state={state} />
        </Section>
      ) : null}
      {maintenance.length > 0 ? (
        <Section title="Maintenance">
          <MaintenanceTable maintenance={maintenance} pageNames={pageNames} now={now} />
        </Section>
      ) : null}
      <Drafts count={state.draftCount} />
      <Section title="Pages">
        <PageTable pages={pages} />
      </Section>
    </>
  );
}

function MoreIncidents({ state: { incidents, openCount } }: { state: CurrentState }) {
  if (openCount <= incidents.length) return null;
  return (
    <p>
      <a href={`${INCIDENTS_PATH}?show=open`}>All {plural(openCount, "open incident")}</a>
    </p>
  );
}

function Drafts({ count }: { count: number }) {
  if (count === 0) return null;
  const words =
    count > DRAFTS_COUNTED
      ? `More than ${DRAFTS_COUNTED} incidents are drafts`
      : count === 1
        ? "1 incident is a draft"
        : `${count} incidents are drafts`;
  return (
    <p class="muted">
      <a href={`${INCIDENTS_PATH}?show=drafts`}>{words}</a>, private until published.
    </p>
  );
}

/** Maintenance under way or upcoming, each linked to its screen. */
function MaintenanceTable(props: {
  maintenance: readonly MaintenanceRecord[];
  /** Page names by id; undefined if there is only one page. */
  pageNames: ReadonlyMap<string, string> | undefined;
  now: number;
}) {
  const { maintenance, pageNames, now } = props;
  return (
    <Table columns={MAINTENANCE_COLUMNS} caption="Maintenance in progress and upcoming">
      {maintenance.map(({ row }) => {
        const isUpcoming = row.status === "scheduled";
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
            <Cell label="Time">
              <OneLine>
                {isUpcoming ? "Starts " : "Planned to end "}
                <RelativeTime
                  at={toIso(isUpcoming ? row.scheduledFor : row.scheduledUntil)}
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

/** Status pages with their headlines, linked to their public address. */
function PageTable({ pages }: Pick<CurrentState, "pages">) {
  return (
    <Table columns={PAGE_COLUMNS} caption="Status pages">
      {pages.map(({ page, document }) => (
        <Row key={page.id}>
          <Cell>
            <a href={`/status/${page.slug}`}>{page.name}</a>
            <CellNote>{describePage(page)}</CellNote>
          </Cell>
          <Cell label="Status">
            <State tone={toneOf(document)}>{headlineText(document)}</State>
          </Cell>
          <Cell label="Components" isNumeric>
            {document.components.length}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function describePage({
  slug,
  visibility,
  isSample,
}: CurrentState["pages"][number]["page"]): string {
  const path = `/status/${slug}`;
  if (isSample) return `${path} · sample page`;
  return visibility === "public" ? path : `${path} · private`;
}
