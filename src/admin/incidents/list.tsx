import type { Reader } from "../../db";
import { type IncidentQuery, type IncidentRecord, listIncidents } from "../../features/incidents";
import { INCIDENT_STATUSES } from "../../domain/incident-status";
import type { Role } from "../../domain/role";
import { INCIDENT_WORDS } from "../../public/words";
import { ButtonLink, FilterSelect, SearchForm, Section } from "../../ui";
import { PageFilter } from "../page-choice";
import { INCIDENT_TEMPLATES_PATH, INCIDENTS_PATH } from "../paths";
import { ListFrame, listPath, type ListQuery, readListQuery } from "../timeline/list-frame";
import { REPORT_PATH } from "./incident-paths";
import { IncidentTable } from "./incident-table";

/** Views of the list: `all` shows open incidents first, the others filter. */
const LIST_VIEWS = ["all", "open", ...INCIDENT_STATUSES, "drafts"] as const;
type ListView = (typeof LIST_VIEWS)[number];

const VIEW_LABELS: Readonly<Record<ListView, string>> = {
  all: "All, open first",
  open: "Open",
  ...INCIDENT_WORDS,
  drafts: "Drafts",
};

const VIEW_QUERIES: Readonly<Record<ListView, Partial<IncidentQuery>>> = {
  all: { isOpen: false },
  open: { isOpen: true },
  investigating: { status: "investigating" },
  identified: { status: "identified" },
  monitoring: { status: "monitoring" },
  resolved: { status: "resolved" },
  drafts: { isDraft: true },
};

const PAGE_SIZE = 50;
/** Number of open incidents in the view of all; the view of open ones has the rest. */
const OPEN_SHOWN = 100;

/** Content of one screen of the list of incidents. */
interface IncidentListing extends ListQuery {
  view: ListView;
  search: string;
  /** Open incidents, listed above the others on the first screen of the view of all. */
  open: readonly IncidentRecord[];
  hasMoreOpen: boolean;
  /** Resolved incidents in the view of all, otherwise the incidents of the view. */
  rest: readonly IncidentRecord[];
  /** Id of the last incident if older ones follow. */
  nextBefore: string | undefined;
}

/** Reads the incidents for a query. Invalid parameters are ignored. */
export function readIncidentList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): IncidentListing {
  const { pages, page, before } = readListQuery(reader, query);
  const view = LIST_VIEWS.find((name) => name === query["show"]) ?? "all";
  const search = (query["q"] ?? "").trim();
  const filter = { pageId: page?.id, name: search };
  const matches = listIncidents(reader, {
    ...filter,
    ...VIEW_QUERIES[view],
    before,
    limit: PAGE_SIZE + 1,
  });
  const open =
    view === "all" && before === undefined
      ? listIncidents(reader, { ...filter, isOpen: true, limit: OPEN_SHOWN + 1 })
      : [];
  const rest = matches.slice(0, PAGE_SIZE);
  return {
    pages,
    page,
    before,
    view,
    search,
    open: open.slice(0, OPEN_SHOWN),
    hasMoreOpen: open.length > OPEN_SHOWN,
    rest,
    nextBefore: matches.length > PAGE_SIZE ? rest.at(-1)?.row.id : undefined,
  };
}

/** `/admin/incidents`: open incidents, then resolved ones. */
export function IncidentList(props: { list: IncidentListing; role: Role; now: number }) {
  const { list, role, now } = props;
  const { pages, page, open, rest, view, search } = list;
  const isAll = view === "all";
  const filters = { q: search, page: page?.slug, show: isAll ? undefined : view };
  const isOfSeveral = pages.length > 1 && !page;
  const pageNames = isOfSeveral ? new Map(pages.map(({ id, name }) => [id, name])) : undefined;
  const table = { pageNames, now };
  return (
    <ListFrame
      {...list}
      title="Incidents"
      home={INCIDENTS_PATH}
      filters={filters}
      filterForm={<Filters list={list} />}
      newLink={
        <>
          <ButtonLink href={REPORT_PATH} kind="primary">
            Report an incident
          </ButtonLink>
          <ButtonLink href={INCIDENT_TEMPLATES_PATH}>Templates</ButtonLink>
        </>
      }
      role={role}
      isEmpty={open.length === 0 && rest.length === 0}
      firstUse={{
        title: "No incidents yet",
        text: "An incident tells visitors what is broken and what you do about it. Report one when something breaks.",
      }}
      noMatch="No incidents match these filters"
    >
      {open.length > 0 ? (
        <Section title="Open">
          <IncidentTable caption="Open incidents" records={open} {...table} />
          {list.hasMoreOpen ? (
            <p>
              <a href={listPath(INCIDENTS_PATH, { ...filters, show: "open" })}>
                All open incidents
              </a>
            </p>
          ) : null}
        </Section>
      ) : null}
      {rest.length > 0 && isAll ? (
        <Section title="Past">
          <IncidentTable caption="Past incidents" records={rest} {...table} />
        </Section>
      ) : null}
      {rest.length > 0 && !isAll ? (
        <IncidentTable caption="Incidents" records={rest} {...table} />
      ) : null}
    </ListFrame>
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
