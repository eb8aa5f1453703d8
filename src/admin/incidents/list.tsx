import { type Role, roleAllows } from "../../domain/role";
import { INCIDENT_WORDS } from "../../public/words";
import {
  ButtonLink,
  EmptyState,
  FilterSelect,
  PageHead,
  Pagination,
  SearchForm,
  Section,
} from "../../ui";
import { FirstPage } from "../no-page";
import { PageFilter } from "../page-filter";
import { INCIDENTS_PATH } from "../paths";
import { IncidentTable } from "./incident-table";
import { LIST_VIEWS, type IncidentListing, type ListView } from "./listing";
import { REPORT_PATH } from "./report-form";

const VIEW_LABELS: Readonly<Record<ListView, string>> = {
  all: "All, open first",
  open: "Open",
  ...INCIDENT_WORDS,
  drafts: "Drafts",
};

/** `/admin/incidents`: open incidents, then resolved ones. */
export function IncidentList(props: { list: IncidentListing; role: Role; now: number }) {
  const { list, role, now } = props;
  const { pages, open, rest, view } = list;
  const mayReport = roleAllows(role, "editor") && pages.length > 0;
  const isNarrowed = list.search !== "" || list.page !== undefined || view !== "all";
  const isEmpty = open.length === 0 && rest.length === 0;
  const isFirstUse = isEmpty && !isNarrowed && !list.isContinued;
  const isOfSeveral = pages.length > 1 && !list.page;
  const pageNames = isOfSeveral ? new Map(pages.map(({ id, name }) => [id, name])) : undefined;
  const table = { pageNames, now };
  return (
    <>
      <PageHead title="Incidents" actions={mayReport && !isFirstUse ? <ReportLink /> : undefined} />
      {isFirstUse ? null : <Filters list={list} />}
      {open.length > 0 ? (
        <Section title="Open">
          <IncidentTable caption="Open incidents" records={open} {...table} />
          {list.hasMoreOpen ? (
            <p>
              <a href={listPath(list, { view: "open" })}>All open incidents</a>
            </p>
          ) : null}
        </Section>
      ) : null}
      {rest.length > 0 && view === "all" ? (
        <Section title="Past">
          <IncidentTable caption="Past incidents" records={rest} {...table} />
        </Section>
      ) : null}
      {rest.length > 0 && view !== "all" ? (
        <IncidentTable caption="Incidents" records={rest} {...table} />
      ) : null}
      {isFirstUse ? <NoIncidents hasPage={pages.length > 0} role={role} /> : null}
      {isEmpty && !isFirstUse ? <NoMatch /> : null}
      <Pagination
        newestHref={list.isContinued ? listPath(list, {}) : undefined}
        olderHref={list.nextBefore ? listPath(list, { before: list.nextBefore }) : undefined}
      />
    </>
  );
}

function ReportLink() {
  return (
    <ButtonLink href={REPORT_PATH} kind="primary">
      Report an incident
    </ButtonLink>
  );
}

function Filters({ list }: { list: IncidentListing }) {
  const { pages, page, view, search } = list;
  return (
    <SearchForm
      action={INCIDENTS_PATH}
      value={search}
      label="Search by name"
      placeholder="Search incidents"
      isFiltered={page !== undefined || view !== "all"}
    >
      <FilterSelect
        label="Status"
        name="show"
        options={LIST_VIEWS.map((value) => ({ value, label: VIEW_LABELS[value] }))}
        value={view}
      />
      <PageFilter pages={pages} page={page} />
    </SearchForm>
  );
}

function NoIncidents({ hasPage, role }: { hasPage: boolean; role: Role }) {
  if (!hasPage) return <FirstPage role={role} />;
  return (
    <EmptyState
      title="No incidents yet"
      action={roleAllows(role, "editor") ? <ReportLink /> : undefined}
    >
      Report an incident when something breaks. Incidents appear on the page, in the feeds and in
      the API.
    </EmptyState>
  );
}

function NoMatch() {
  return (
    <EmptyState
      title="No incident matches"
      action={<ButtonLink href={INCIDENTS_PATH}>Show all incidents</ButtonLink>}
    >
      Nothing here is of that name, page and status.
    </EmptyState>
  );
}

/**
 * Returns the path of the list with the same filters. Without `before` it starts with the newest
 * incident.
 */
function listPath(
  list: IncidentListing,
  { view = list.view, before }: { view?: ListView; before?: string },
): string {
  const query = new URLSearchParams();
  if (list.search !== "") query.set("q", list.search);
  if (list.page) query.set("page", list.page.slug);
  if (view !== "all") query.set("show", view);
  if (before !== undefined) query.set("before", before);
  const text = query.toString();
  return text === "" ? INCIDENTS_PATH : `${INCIDENTS_PATH}?${text}`;
}
