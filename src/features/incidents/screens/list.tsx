/*
 * Screens of incidents: routes of the list and of the form for a new incident, then the list. `detail.tsx` and `forms.tsx`
 * add those of one incident.
 */
import { type Role, roleAllows } from "../../../base/actor";
import { runInSlices, WHOLE_TURN } from "../../../base/in-slices";
import {
  type Impact,
  IMPACT_TONES,
  IMPACTS,
  INCIDENT_STATUSES,
  listedTone,
} from "../../../base/status";
import { plural } from "../../../base/text";
import { HOUR_MS, toIso } from "../../../base/time";
import { validate } from "../../../base/validation";
import type { Reader } from "../../../db/statements";
import { actorOf, sessionOf } from "../../../http/request-context";
import { IMPACT_WORDS, INCIDENT_WORDS } from "../../../public/state";
import { Chip, Shape } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { readPageComponents } from "../../../ui/forms/object-fields";
import { readPageContext } from "../../../ui/forms/page-field";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { choosePage, labelAmong, readPages } from "../../../ui/frame/page-choice";
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
import { createArea } from "../../../ui/screens/area";
import {
  type ListQuery,
  ListScreen,
  pageSelect,
  readListQuery,
  readOrder,
  readSearch,
} from "../../../ui/screens/list";
import { DayTime, lasting, RelativeTime } from "../../../ui/times";
import { type ComponentRow, listComponentsOfPage } from "../../components/store";
import {
  fillInTemplate,
  readReportTemplates,
  TEMPLATE_BUTTON,
  valuesFrom,
} from "../../incident-templates/screens/offered";
import type { MonitorRecord } from "../../monitors/records";
import { AudienceHint, audienceNote, isCounting } from "../../timeline/screens/mail";
import { EntryNote } from "../../timeline/screens/updates";
import { createIncident } from "../incidents";
import { countOutagesOfIncidents } from "../outage-store";
import {
  canReadAll,
  countIncidents,
  getIncident,
  type IncidentOrder,
  type IncidentQuery,
  type IncidentRecord,
  listIncidents,
  listIncidentsInOrder,
  ORDER_KEYS,
} from "../records";
import { CreateIncidentBody } from "../wire";
import { addIncidentRoutes, addPostmortemRoutes } from "./detail";
import { addEditRoutes, affectedIds, presetStatuses, REPORT_FORM } from "./forms";
import { previewIncident } from "./view";

const REPORT_TITLE = "Report incident";

/** `/admin/incidents`: every role may read, editors write. */
export function incidentAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, INCIDENTS_PATH, "editor");

  area.screen(
    "",
    async ({ query, requestContext }) => {
      const list = await runInSlices(readIncidentList(ctx.db, query, requestContext.now));
      const { role } = sessionOf(requestContext).user;
      return {
        title: "Incidents",
        children: <IncidentList list={list} role={role} now={requestContext.now} />,
      };
    },
    { role: "viewer" },
  );

  area.form("/new", {
    form: REPORT_FORM,
    load(reader, at) {
      const context = readPageContext(reader, at, REPORT_TITLE);
      const { id } = context.page;
      return {
        ...context,
        ...readPageComponents(reader, id),
        templates: readReportTemplates(reader, id, {
          isFull: at.query[TEMPLATE_BUTTON] !== undefined,
        }),
      };
    },
    // A link may name a template or components, such as that of a template's or a component's screen.
    initial: ({ query }, { components, templates }) =>
      valuesFrom(
        REPORT_FORM.initial({ components: presetStatuses(query["component"], components) }),
        query[TEMPLATE_BUTTON] ?? "",
        templates,
      ),
    show(state) {
      const audience = audienceNote(ctx, state.context.page, "incidents", affectedIds(state));
      return {
        title: REPORT_TITLE,
        crumbs: [{ href: INCIDENTS_PATH, label: "Incidents" }],
        actions: (
          <ButtonLink href={INCIDENT_TEMPLATES_PATH} opensTab>
            Edit templates
          </ButtonLink>
        ),
        foot: audience && <AudienceHint audience={audience} />,
        button: { text: "Publish incident", name: "intent", value: "publish" },
        more: (
          <Button name="intent" value="draft">
            Save as draft
          </Button>
        ),
      };
    },
    redisplay(values, sent) {
      if (isCounting(sent)) return values;
      const page = choosePage(readPages(ctx.db), values.page.selected);
      return (
        page && fillInTemplate(values, sent, readReportTemplates(ctx.db, page.id, { isFull: true }))
      );
    },
    submit: (tx, body, actor) =>
      createIncident(ctx, tx, validate(CreateIncidentBody, body), "dashboard", actor).row.id,
    conflictField: "external_ref",
    done: (id, _, { draft }) => ({
      path: incidentPath(id),
      text: draft === "draft" ? "The draft was saved." : "The incident was published.",
    }),
    preview(tx, id, { requestContext }, { page }) {
      const { status } = getIncident(tx, id, true).row;
      // The status page may not reach back to a resolved incident.
      if (status !== "resolved") return { pageId: page.id };
      return previewIncident(ctx, tx, id, actorOf(requestContext));
    },
  });

  addIncidentRoutes(area, deps);
  addEditRoutes(area, deps);
  addPostmortemRoutes(area, deps);
  return area.routes;
}

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
function IncidentList(props: { list: IncidentListing; role: Role; now: number }) {
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
      order={list.isOrderable ? { value: list.order, usual: "Open first" } : undefined}
      links={
        roleAllows(role, "editor") ? (
          <ButtonLink href={INCIDENT_TEMPLATES_PATH}>Templates</ButtonLink>
        ) : undefined
      }
      newLink={<ReportLink page={page?.slug} kind="primary" />}
      role={role}
      firstUse={{
        title: "No incidents yet",
        text: "An incident tells visitors what is broken and what you do about it. Report one when something breaks.",
      }}
      noMatch="No incidents match these filters"
      table={{
        caption: list.order === undefined ? "Incidents, open ones first" : "Incidents",
        liveId: "incident-rows",
        name: { label: "Incident", sort: { key: "name" }, cell: (record) => nameOf(record, list) },
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
      sort: { key: "impact", kind: "state" },
      cell: ({ row: { draft, impact } }) =>
        draft ? (
          <Chip>Draft</Chip>
        ) : (
          <Chip tone={IMPACT_TONES[impact]}>{IMPACT_WORDS[impact]}</Chip>
        ),
    },
    {
      label: "Status",
      isMiddle: true,
      sort: { key: "status", kind: "phase" },
      cell: (record) => <Phase record={record} now={now} />,
    },
    {
      label: "Duration",
      isNumeric: true,
      sort: { key: "duration", kind: "number" },
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
      sort: { key: "started", kind: "time" },
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
    shape: <Shape tone={listedTone(record.row)} />,
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
  /** Order by a column; undefined for open ones first. */
  order: IncidentOrder | undefined;
  /** False if there are too many incidents to order them. */
  isOrderable: boolean;
  /** Place of the last incident if more follow. */
  nextBefore: string | undefined;
}

/**
 * Reads the incidents for a query, and their numbers in a turn of its own. Invalid parameters are ignored. `now` is in
 * unix ms.
 */
function* readIncidentList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): Generator<number, IncidentListing> {
  const { pages, page, before } = readListQuery(reader, query);
  const view = LIST_VIEWS.find((name) => name === query["show"]) ?? "all";
  const search = readSearch(query);
  const impact = IMPACTS.find((name) => name === query["impact"]);
  const pageId = page?.id ?? (pages.length === 1 ? pages[0]?.id : undefined);
  const components = pageId === undefined ? [] : listComponentsOfPage(reader, { pageId });
  const component = components.find(({ id }) => id === query["component"]);
  const isOrderable = canReadAll(reader);
  const order = isOrderable ? readOrder(query, ORDER_KEYS) : undefined;
  const filter = { pageId: page?.id, search, impact, componentId: component?.id };
  const part = { ...filter, before };
  const { records, hasMoreOpen, nextBefore } = order
    ? readInOrder(reader, { ...part, ...(view === "all" ? {} : VIEW_QUERIES[view]), order, now })
    : readNewest(reader, part, view);
  yield WHOLE_TURN;
  const counts = countIncidents(reader, filter);
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
    hasMoreOpen,
    counts: counts ? { ...counts, all: counts.open + counts.drafts + counts.resolved } : {},
    order,
    isOrderable,
    nextBefore,
  };
}

type IncidentPart = Pick<IncidentListing, "records" | "hasMoreOpen" | "nextBefore">;

function readInOrder(
  reader: Reader,
  query: Omit<Parameters<typeof listIncidentsInOrder>[1], "limit">,
): IncidentPart {
  return { ...listIncidentsInOrder(reader, { ...query, limit: PAGE_SIZE }), hasMoreOpen: false };
}

/** Reads the newest incidents of a view; in that of all, open ones come first. */
function readNewest(
  reader: Reader,
  { before, ...filter }: Omit<IncidentQuery, "limit">,
  view: ListView,
): IncidentPart {
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
  return {
    records: [...open.slice(0, OPEN_SHOWN), ...rest],
    hasMoreOpen: open.length > OPEN_SHOWN,
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
