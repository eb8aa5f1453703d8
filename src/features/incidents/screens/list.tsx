import type { Role } from "../../../base/actor";
import { type Impact, IMPACT_TONES, IMPACTS, INCIDENT_STATUSES } from "../../../base/status";
import { plural } from "../../../base/text";
import { HOUR_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { IMPACT_WORDS, INCIDENT_WORDS } from "../../../public/state";
import { DayTime, lasting, RelativeTime } from "../../../ui/times";
import { Chip, Shape } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { labelAmong } from "../../../ui/frame/page-choice";
import {
  INCIDENT_TEMPLATES_PATH,
  incidentPath,
  INCIDENTS_PATH,
  reportPath,
  type ReportPreset,
  withQuery,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import type { DenseDataColumn } from "../../../ui/list";
import { type ComponentRow, listComponentsOfPage } from "../../components/store";
import type { MonitorRecord } from "../../monitors/records";
import {
  type ListQuery,
  readListQuery,
  readSearch,
  ListScreen,
  pageSelect,
} from "../../../ui/screens/list";
import { EntryNote } from "../../timeline/screens/updates";
import { countOutagesOfIncidents } from "../outage-store";
import { countIncidents, type IncidentQuery, type IncidentRecord, listIncidents } from "../records";

/** Views of the list: `all` shows open incidents first, the others filter. */
const LIST_VIEWS = ["all", "open", "drafts", ...INCIDENT_STATUSES] as const;

type ListView = (typeof LIST_VIEWS)[number];

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
  const { pages, page, view, counts } = list;
  const showOf = (name: ListView) => (name === "all" ? undefined : name);
  const filters = {
    q: list.search,
    page: page?.slug,
    impact: list.impact,
    component: list.component?.id,
  };
  const count = counts[view];
  return (
    <ListScreen
      {...list}
      title="Incidents"
      home={INCIDENTS_PATH}
      search={{
        label: "Search by incident or component name",
        placeholder: "Incident or component",
      }}
      filters={filters}
      selects={[
        {
          label: "Impact",
          name: "impact",
          every: "Every impact",
          options: IMPACTS.toReversed().map((value) => ({ value, label: IMPACT_WORDS[value] })),
        },
        {
          label: "Component",
          name: "component",
          every: "Every component",
          options: list.components.map(({ id, name }) => ({ value: id, label: name })),
        },
        pageSelect(pages),
      ]}
      views={{
        label: "Status",
        name: "show",
        liveId: "incident-views",
        current: showOf(view),
        items: LIST_VIEWS.filter((name) => TABS.includes(name) || name === view).map((name) => ({
          value: showOf(name),
          label: VIEW_LABELS[name],
          count: counts[name],
        })),
      }}
      count={count === undefined ? undefined : plural(count, "incident")}
      newLink={
        <>
          <ButtonLink href={INCIDENT_TEMPLATES_PATH}>Templates</ButtonLink>
          <ReportLink page={page?.slug} kind="primary" />
        </>
      }
      role={role}
      firstUse={{
        title: "No incidents yet",
        text: "An incident tells visitors what is broken and what you do about it. Report one when something breaks.",
      }}
      noMatch="No incidents match these filters"
      table={{
        caption: "Incidents, open ones first",
        liveId: "incident-rows",
        name: { label: "Incident", cell: (record) => nameOf(record, list) },
        columns: columnsAt(now),
        entries: list.records,
      }}
    >
      {list.hasMoreOpen ? (
        <p class="detail-body">
          <a href={withQuery(INCIDENTS_PATH, { ...filters, show: "open" })}>All open incidents</a>
        </p>
      ) : null}
    </ListScreen>
  );
}

/** Columns after the first one. `now` is in unix ms. */
function columnsAt(now: number): DenseDataColumn<IncidentRecord>[] {
  return [
    {
      label: "Impact",
      isSecondary: true,
      cell: ({ row: { draft, impact } }) =>
        draft ? (
          <Chip>Draft</Chip>
        ) : (
          <Chip tone={IMPACT_TONES[impact]}>{IMPACT_WORDS[impact]}</Chip>
        ),
    },
    { label: "Status", isMiddle: true, cell: (record) => <Phase record={record} now={now} /> },
    {
      label: "Duration",
      isNumeric: true,
      cell({ row: { draft, startedAt, resolvedAt } }) {
        const duration = lasting(toIso(startedAt), toIso(resolvedAt ?? now));
        if (resolvedAt !== null || draft) return duration;
        return (
          <>
            <b>{duration}</b>, open
          </>
        );
      },
    },
    {
      label: "Started",
      isNumeric: true,
      isSecondary: true,
      cell: ({ row }) => (
        <span class="quiet-text">
          <DayTime at={toIso(row.startedAt)} now={now} />
        </span>
      ),
    },
  ];
}

/** Returns the parts of the first cell. It has the name of the page if the list shows several. */
function nameOf(record: IncidentRecord, { pages, page, monitorCounts }: IncidentListing) {
  const { id, name, draft, impact, pageId } = record.row;
  const own = pages.length > 1 && !page ? pages.find((one) => one.id === pageId) : undefined;
  const pageName = own && labelAmong(pages, own);
  const monitorCount = monitorCounts.get(id) ?? 0;
  return {
    shape: <Shape tone={draft ? "none" : IMPACT_TONES[impact]} />,
    href: incidentPath(id),
    name,
    state: <span class="visually-hidden">, {draft ? "Draft" : IMPACT_WORDS[impact]}</span>,
    note: <Notes {...{ record, monitorCount, pageName }} />,
  };
}

/** Time without an update after which an open incident is highlighted. */
const LONG_SILENCE_MS = HOUR_MS;

/** Status of an incident; while it is open, with the time of its last update. */
function Phase({ record, now }: { record: IncidentRecord; now: number }) {
  const { row, updates } = record;
  const [newest] = updates;
  if (row.draft) return <span class="quiet-text">Draft</span>;
  if (row.status === "resolved" || !newest) return <>{INCIDENT_WORDS[row.status]}</>;
  return (
    <>
      <b>{INCIDENT_WORDS[row.status]}</b>{" "}
      <span class="quiet-text">
        <RelativeTime
          at={toIso(newest.displayAt)}
          now={now}
          {...(now - newest.displayAt >= LONG_SILENCE_MS ? { tone: "degraded" as const } : {})}
        />
      </span>
    </>
  );
}

/** Page, components and origin of an incident. */
function Notes(props: {
  record: IncidentRecord;
  monitorCount: number;
  pageName: string | undefined;
}) {
  const { record, monitorCount, pageName } = props;
  const { row } = record;
  const ends = [
    monitorCount > 1 ? plural(monitorCount, "monitor") : "",
    row.draft && row.source === "monitor" ? "opened by a monitor, not published" : "",
    row.postmortemPublishedAt === null ? "" : "post-mortem",
  ];
  return (
    <>
      <EntryNote pageName={pageName} record={record} />
      {ends.filter(Boolean).map((text) => ` · ${text}`)}
    </>
  );
}

const VIEW_QUERIES: Readonly<Record<ListView, Partial<IncidentQuery>>> = {
  all: { isOpen: false },
  open: { isOpen: true, isDraft: false },
  drafts: { isDraft: true },
  investigating: { status: "investigating", isDraft: false },
  identified: { status: "identified", isDraft: false },
  monitoring: { status: "monitoring", isDraft: false },
  resolved: { status: "resolved", isDraft: false },
};

const PAGE_SIZE = 25;

/** Number of open incidents in the view of all; the view of open ones has the rest. */
const OPEN_SHOWN = 100;

/** Minimum number of resolved incidents after many open ones. */
const REST_MIN = 5;

/** Content of one screen of the list of incidents. */
interface IncidentListing extends ListQuery {
  view: ListView;
  search: string;
  impact: Impact | undefined;
  /** Components to choose from: those of the only page, or of the chosen one. */
  components: readonly Pick<ComponentRow, "id" | "name">[];
  component: Pick<ComponentRow, "id" | "name"> | undefined;
  /** Incidents of this part; in the view of all, open ones come first. */
  records: readonly IncidentRecord[];
  hasMoreOpen: boolean;
  /** Numbers of monitors by incident id; missing for incidents without monitors. */
  monitorCounts: ReadonlyMap<string, number>;
  /** Numbers of incidents that match the filters, by view; empty if there are too many to count. */
  counts: Readonly<Partial<Record<ListView, number>>>;
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
  const search = readSearch(query);
  const impact = IMPACTS.find((name) => name === query["impact"]);
  const pageId = page?.id ?? (pages.length === 1 ? pages[0]?.id : undefined);
  const components = pageId === undefined ? [] : listComponentsOfPage(reader, { pageId });
  const component = components.find(({ id }) => id === query["component"]);
  const filter = { pageId: page?.id, search, impact, componentId: component?.id };
  const open =
    view === "all" && before === undefined
      ? listIncidents(reader, { ...filter, isOpen: true, limit: OPEN_SHOWN + 1 })
      : [];
  const limit = open.length === 0 ? PAGE_SIZE : Math.max(REST_MIN, PAGE_SIZE - open.length);
  const matches = listIncidents(reader, {
    ...filter,
    ...VIEW_QUERIES[view],
    before,
    limit: limit + 1,
  });
  const rest = matches.slice(0, limit);
  const counts = countIncidents(reader, filter);
  const records = [...open.slice(0, OPEN_SHOWN), ...rest];
  const ids = JSON.stringify(records.map(({ row }) => row.id));
  const outages = countOutagesOfIncidents(reader, { ids });
  return {
    pages,
    page,
    before,
    view,
    search,
    impact,
    components,
    component,
    records,
    monitorCounts: new Map(outages.map(({ incidentId, monitors }) => [incidentId, monitors])),
    hasMoreOpen: open.length > OPEN_SHOWN,
    counts: counts ? { ...counts, all: counts.open + counts.drafts + counts.resolved } : {},
    nextBefore: matches.length > limit ? rest.at(-1)?.row.id : undefined,
  };
}

interface ReportLinkProps extends ReportPreset {
  kind?: "primary" | "quiet";
}

/** Button to the form for a new incident, also by the key `c`. The form starts with a page and components. */
export function ReportLink({ kind = "quiet", ...preset }: ReportLinkProps) {
  return (
    <ButtonLink href={reportPath(preset)} kind={kind} shortcut="c">
      <Icon name="megaphone" />
      Report incident
    </ButtonLink>
  );
}

/** Returns the page and the components of a monitor, without those of its other pages. */
export function presetOf({ components }: Pick<MonitorRecord, "components">): ReportPreset {
  const page = components[0]?.pageId;
  return {
    page,
    components: components.filter(({ pageId }) => pageId === page).map(({ id }) => id),
  };
}
