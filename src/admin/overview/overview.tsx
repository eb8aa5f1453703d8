import type { StorageState } from "../../db";
import { type Role, roleAllows } from "../../domain/role";
import { plural } from "../../kernel/text";
import { ButtonLink, PageHead, Section } from "../../ui";
import { IncidentTable } from "../incidents/incident-table";
import { REPORT_PATH } from "../incidents/incident-paths";
import { FirstPage } from "../no-page";
import { INCIDENTS_PATH } from "../paths";
import { DeliveryNotice } from "./delivery-notice";
import { MaintenanceLines } from "./maintenance-lines";
import { DRAFTS_COUNTED, type Now } from "./now";
import { PageLines } from "./page-lines";
import { StorageNotice } from "./storage-notice";

interface OverviewProps {
  state: Now;
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
        {isQuiet ? "No incident is open, and no maintenance is near." : undefined}
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
          <MaintenanceLines maintenance={maintenance} pageNames={pageNames} now={now} />
        </Section>
      ) : null}
      <Drafts count={state.draftCount} />
      <Section title="Pages">
        <PageLines pages={pages} />
      </Section>
    </>
  );
}

function MoreIncidents({ state: { incidents, openCount } }: { state: Now }) {
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
