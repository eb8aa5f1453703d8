import { IMPACTS } from "../../domain/incident-status";
import type { Role } from "../../domain/role";
import { plural } from "../../kernel/text";
import { IMPACT_WORDS, INCIDENT_WORDS } from "../../public/words";
import { ButtonLink } from "../../ui/buttons";
import { FilterSelect } from "../../ui/filters";
import { ListToolbar } from "../../ui/list-tools";
import { Tabs } from "../../ui/navigation";
import { labelAmong, PageFilter } from "../page-choice";
import { INCIDENT_TEMPLATES_PATH, INCIDENTS_PATH } from "../paths";
import { ListFrame, listPath } from "../timeline/list-frame";
import { IncidentTable } from "./incident-table";
import { type IncidentListing, LIST_VIEWS, type ListView } from "./listing";
import { ReportLink } from "./report-link";

const VIEW_LABELS: Readonly<Record<ListView, string>> = {
  all: "All",
  open: "Open",
  drafts: "Drafts",
  ...INCIDENT_WORDS,
};

/** Views with a tab. Others have one only while they are open. */
const TABS: readonly ListView[] = ["all", "open", "drafts", "resolved"];

/** `/admin/incidents`: open incidents, then resolved ones. */
export function IncidentList(props: { list: IncidentListing; role: Role; now: number }) {
  const { list, role, now } = props;
  const { pages, page, records } = list;
  const isOfSeveral = pages.length > 1 && !page;
  const pageNames = isOfSeveral
    ? new Map(pages.map((one) => [one.id, labelAmong(pages, one)]))
    : undefined;
  return (
    <ListFrame
      {...list}
      title="Incidents"
      home={INCIDENTS_PATH}
      filters={filtersOf(list)}
      tabs={<ViewTabs list={list} />}
      toolbar={<Filters list={list} />}
      newLink={
        <>
          <ButtonLink href={INCIDENT_TEMPLATES_PATH}>Templates</ButtonLink>
          <ReportLink page={page?.slug} kind="primary" />
        </>
      }
      role={role}
      isEmpty={records.length === 0}
      firstUse={{
        title: "No incidents yet",
        text: "An incident tells visitors what is broken and what you do about it. Report one when something breaks.",
      }}
      noMatch="No incidents match these filters"
    >
      <IncidentTable
        records={records}
        monitorCounts={list.monitorCounts}
        pageNames={pageNames}
        now={now}
      />
      {list.hasMoreOpen ? (
        <p class="detail-body">
          <a href={viewPath(list, "open")}>All open incidents</a>
        </p>
      ) : null}
    </ListFrame>
  );
}

function filtersOf({ search, page, impact, component, view }: IncidentListing) {
  return {
    q: search,
    page: page?.slug,
    impact,
    component: component?.id,
    show: view === "all" ? undefined : view,
  };
}

function viewPath(list: IncidentListing, view: ListView): string {
  const show = view === "all" ? undefined : view;
  return listPath(INCIDENTS_PATH, { ...filtersOf(list), show });
}

function ViewTabs({ list }: { list: IncidentListing }) {
  const shown = LIST_VIEWS.filter((view) => TABS.includes(view) || view === list.view);
  return (
    <div id="incident-views" data-live="">
      <Tabs
        label="Status"
        items={shown.map((view) => {
          const count = list.counts[view];
          return {
            href: viewPath(list, view),
            label: VIEW_LABELS[view],
            ...(count === undefined ? {} : { count }),
            isCurrent: view === list.view,
          };
        })}
      />
    </div>
  );
}

function Filters({ list }: { list: IncidentListing }) {
  const { pages, page, view, search, impact, components, component } = list;
  const isFiltered = [search || undefined, page, impact, component].some(Boolean);
  const count = list.counts[view];
  return (
    <ListToolbar
      action={INCIDENTS_PATH}
      search={{
        value: search,
        label: "Search by incident or component name",
        placeholder: "Incident or component",
      }}
      hidden={view === "all" ? {} : { show: view }}
      clearHref={
        isFiltered
          ? listPath(INCIDENTS_PATH, { show: view === "all" ? undefined : view })
          : undefined
      }
      count={count === undefined ? undefined : plural(count, "incident")}
    >
      <FilterSelect
        label="Impact"
        name="impact"
        options={[
          { value: "", label: "Every impact" },
          ...IMPACTS.toReversed().map((value) => ({ value, label: IMPACT_WORDS[value] })),
        ]}
        value={impact ?? ""}
      />
      {components.length === 0 ? null : (
        <FilterSelect
          label="Component"
          name="component"
          options={[
            { value: "", label: "Every component" },
            ...components.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={component?.id ?? ""}
        />
      )}
      <PageFilter pages={pages} page={page} />
    </ListToolbar>
  );
}
