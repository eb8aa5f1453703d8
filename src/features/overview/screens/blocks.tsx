import type { ComponentChildren } from "preact";
import { sum } from "../../../base/numbers";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  listedTone,
  phaseTone,
  STATUS_TONES,
  type Tone,
} from "../../../base/status";
import { firstNames, plural } from "../../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import type { AuditRow } from "../../../events/audit-search";
import { IMPACT_WORDS, INCIDENT_WORDS, MAINTENANCE_WORDS } from "../../../public/state";
import { Chip, Shape } from "../../../ui/blocks";
import {
  ACTIVITY_PATH,
  componentPath,
  COMPONENTS_PATH,
  incidentPath,
  INCIDENTS_PATH,
  MAINTENANCE_PATH,
  maintenancePath,
  pagePath,
  PAGES_PATH,
} from "../../../ui/frame/paths";
import { Icon, type IconName } from "../../../ui/icons";
import {
  clockAt,
  dayAt,
  duration,
  RelativeTime,
  relativeTime,
  useZone,
  zoneAt,
} from "../../../ui/times";
import { foldSpans, type Span } from "../../components/rules";
import { listCausesBetween, listTroubledComponents } from "../../components/cause-store";
import type { IncidentRecord } from "../../incidents/records";
import { isUnderWay } from "../../maintenance/rules";
import type { MaintenanceRecord } from "../../maintenance/store";
import { headlineText, toneOf } from "../../status/rules";
import type { CurrentState, ShownComponent } from "./current-state";
import { Elapsed } from "./parts";

/** Icons of changes by the start of their action. */
const ICONS: Readonly<Record<string, IconName>> = {
  incident: "siren",
  maintenance: "wrench",
  component: "blocks",
  group: "blocks",
  monitor: "activity",
  page: "globe",
  key: "key-round",
  webhook: "webhook",
  user: "users",
  settings: "settings",
};

interface ChangesProps {
  changes: readonly AuditRow[];
  /** Paths of the changed objects that still exist, by id. */
  links: ReadonlyMap<string, string>;
  now: number;
}

/** Latest entries of the audit log. */
export function ChangesBlock({ changes, links, now }: ChangesProps) {
  return (
    <Block id="changes" title="Latest changes" aside={<a href={ACTIVITY_PATH}>All activity</a>}>
      <ul class="rows">
        {changes.map(({ id, action, targetId, summary, actorLabel, at }) => {
          const link = links.get(targetId);
          return (
            <li key={id} class="row">
              <Icon name={ICONS[action.split(".")[0] ?? ""] ?? "scroll-text"} />
              <div>
                <p class="row-title is-change">
                  {link === undefined ? <span>{summary}</span> : <a href={link}>{summary}</a>}
                </p>
                <p class="row-note">{actorLabel}</p>
              </div>
              <div class="row-side">
                <RelativeTime at={toIso(at)} now={now} />
              </div>
            </li>
          );
        })}
      </ul>
    </Block>
  );
}

interface EventsProps {
  state: CurrentState;
  now: number;
}

/** Open incidents, then maintenance under way and upcoming maintenance. */
export function EventsBlock({ state, now }: EventsProps) {
  const { incidents, openCount, maintenance, pageNames, outageCounts } = state;
  if (incidents.length + maintenance.length === 0) {
    return (
      <Block
        id="incidents"
        title="Incidents and maintenance"
        aside={<a href={INCIDENTS_PATH}>All incidents</a>}
      >
        <p class="block-note">
          No incident is open, and no maintenance is planned for the next 30 days.
        </p>
      </Block>
    );
  }
  return (
    <Block
      id="incidents"
      title={incidents.length === 0 ? "Maintenance" : "Incidents and maintenance"}
      aside={
        incidents.length === 0 ? (
          <a href={MAINTENANCE_PATH}>All maintenance</a>
        ) : (
          <a href={INCIDENTS_PATH}>All incidents</a>
        )
      }
    >
      <ul class="rows">
        {incidents.map((record) => (
          <IncidentItem
            key={record.row.id}
            record={record}
            monitorCount={outageCounts.get(record.row.id)?.monitors}
            pageNames={pageNames}
            now={now}
          />
        ))}
        {openCount > incidents.length ? (
          <li class="row-more">
            <a href={`${INCIDENTS_PATH}?show=open`}>All {plural(openCount, "open incident")}</a>
          </li>
        ) : null}
        {maintenance.map((record) => (
          <MaintenanceItem key={record.row.id} record={record} pageNames={pageNames} now={now} />
        ))}
      </ul>
    </Block>
  );
}

/** Maximum number of components that a row names. */
const NAMES_SHOWN = 3;

function namesOf(components: readonly { name: string }[], pageName: string | undefined): string {
  const names = components.map(({ name }) => name);
  return [firstNames(names, NAMES_SHOWN), pageName].filter(Boolean).join(" · ");
}

interface ItemProps<Shown> {
  record: Shown;
  pageNames: CurrentState["pageNames"];
  now: number;
}

function IncidentItem({
  record,
  monitorCount = 0,
  pageNames,
  now,
}: ItemProps<IncidentRecord> & { monitorCount: number | undefined }) {
  const { id, name, status, startedAt, impact, pageId } = record.row;
  const names = namesOf(record.components, pageNames?.get(pageId));
  const tone = listedTone({ status, impact });
  return (
    <li class="row">
      <Shape tone={tone} />
      <div>
        <p class="row-title">
          <a dir="auto" href={incidentPath(id)}>
            {name}
          </a>
        </p>
        <p class="row-note">
          {INCIDENT_WORDS[status]} · <Elapsed since={startedAt} now={now} />
          {monitorCount > 1 ? ` · ${plural(monitorCount, "monitor")}` : ""}
          {names === "" ? "" : ` · ${names}`}
        </p>
      </div>
      <div class="row-side">
        <Chip tone={tone}>{IMPACT_WORDS[impact]}</Chip>
      </div>
    </li>
  );
}

function MaintenanceItem({ record, pageNames, now }: ItemProps<MaintenanceRecord>) {
  const { id, name, status, scheduledFor, scheduledUntil, pageId } = record.row;
  const isOn = isUnderWay(status);
  const names = namesOf(record.components, pageNames?.get(pageId));
  const zone = useZone();
  return (
    <li class="row">
      <Shape tone={phaseTone({ status })} />
      <div>
        <p class="row-title">
          <a dir="auto" href={maintenancePath(id)}>
            {name}
          </a>
        </p>
        <p class="row-note">
          {isOn ? (
            <>
              Planned to end <RelativeTime at={toIso(scheduledUntil)} now={now} />
            </>
          ) : (
            span(scheduledFor, scheduledUntil, zone)
          )}
          {names === "" ? "" : ` · ${names}`}
        </p>
      </div>
      <div class="row-side">
        <Chip tone={phaseTone({ status })}>
          {isOn ? MAINTENANCE_WORDS[status] : capital(relativeTime(scheduledFor, now))}
        </Chip>
      </div>
    </li>
  );
}

/** Returns a planned span: "24 Nov 02:00–03:00 UTC". */
function span(from: number, until: number, zone: string): string {
  const dayTime = (at: number) => `${dayAt(at, zone).slice(0, -5)} ${clockAt(at, zone)}`;
  const end = until - from < DAY_MS ? clockAt(until, zone) : dayTime(until);
  return `${dayTime(from)}–${end} ${zoneAt(until, zone)}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Maximum number of pages listed; further ones are counted. */
const PAGES_SHOWN = 20;

/** Status pages with their headlines, linked to their public address and their screen. */
export function PagesBlock({ pages }: Pick<CurrentState, "pages">) {
  const more = pages.length - PAGES_SHOWN;
  return (
    <Block id="pages" title="Pages" aside={<a href={PAGES_PATH}>All pages</a>}>
      <ul class="rows">
        {pages.slice(0, PAGES_SHOWN).map(({ page, headline }) => {
          const tone = toneOf(headline);
          return (
            <li key={page.id} class="row">
              <Shape tone={tone} />
              <div>
                <p class="row-title">
                  <a href={pagePath(page.id)}>{page.name}</a>{" "}
                  <span class={`state t-${tone}`}>{headlineText(headline)}</span>
                </p>
                <p class="row-note">{describePage(page, headline.componentCount)}</p>
              </div>
              <div class="row-side">
                <a class="button icon" href={`/status/${page.slug}`}>
                  <Icon name="external-link" />
                  <span class="visually-hidden">View {page.name}</span>
                </a>
              </div>
            </li>
          );
        })}
        {more > 0 ? (
          <li class="row-more">
            <a href={PAGES_PATH}>and {plural(more, "more page")}</a>
          </li>
        ) : null}
      </ul>
    </Block>
  );
}

function describePage(
  { slug, visibility, isSample, customDomains }: CurrentState["pages"][number]["page"],
  count: number,
): string {
  const [domain] = customDomains;
  return [
    plural(count, "component"),
    domain ?? `/status/${slug}`,
    isSample ? "sample page" : visibility === "public" ? "" : "private",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Maximum number of lanes; the other components are counted. */
const LANES_MAX = 8;
/** Minutes in a step. A step is drawn in the tone of its worst status. */
const STEP_MINUTES = 5;
const STEP_MS = STEP_MINUTES * MINUTE_MS;

/** Last 24 hours of a component that was not always operational. */
interface Lane {
  component: ShownComponent;
  /** Times in which it was not operational, in minutes since the start. */
  spans: readonly { from: number; length: number; tone: Tone }[];
  /** Time in which it was not operational, in ms. */
  troubledMs: number;
}

export interface LastDay {
  /** Start in unix ms. */
  from: number;
  /** Worst first, then longest: 8 at most. */
  lanes: readonly Lane[];
  /** Number of components that were not operational and have no lane. */
  hiddenCount: number;
  /** Number of components that were always operational. */
  wellCount: number;
}

/** Reads the last 24 hours of all components from their causes. */
export function readLastDay(reader: Reader, state: CurrentState, now: number): LastDay {
  const since = now - DAY_MS;
  const components = new Map(state.components.map((one) => [one.id, one]));
  const troubled = listTroubledComponents(reader, { since, now, limit: LANES_MAX });
  const ids = JSON.stringify(troubled.map(({ id }) => id));
  const causes = Map.groupBy(
    troubled.length === 0 ? [] : listCausesBetween(reader, { ids, since, now }),
    ({ componentId }) => componentId,
  );
  const lanes = troubled.flatMap(({ id }) => {
    const component = components.get(id);
    return component ? [laneOf(component, causes.get(id) ?? [], { from: since, to: now })] : [];
  });
  const total = troubled[0]?.total ?? 0;
  return {
    from: since,
    lanes,
    hiddenCount: total - troubled.length,
    wellCount: Math.max(0, components.size - total),
  };
}

/** Period in which a component has a status. */
interface Cause {
  status: ComponentStatus;
  startedAt: number;
  endedAt: number | null;
}

function laneOf(component: ShownComponent, causes: readonly Cause[], span: Span): Lane {
  const [folded] = foldSpans(causes, span, [span]);
  const bad = COMPONENT_STATUSES.filter((status) => status !== "operational");
  return {
    component,
    spans: spansOf(causes, span),
    troubledMs: sum(bad.map((status) => folded?.time[status] ?? 0)),
  };
}

/** Returns the spans of the worst status in each step, joined where it stays the same. */
function spansOf(causes: readonly Cause[], { from, to }: Span): Lane["spans"] {
  const steps = Array.from({ length: Math.ceil((to - from) / STEP_MS) }, (_, index) => ({
    from: from + index * STEP_MS,
    to: Math.min(to, from + (index + 1) * STEP_MS),
  }));
  const spans: { from: number; length: number; tone: Tone }[] = [];
  for (const [index, { time }] of foldSpans(causes, { from, to }, steps).entries()) {
    const status = COMPONENT_STATUSES.findLast((each) => time[each] > 0) ?? "operational";
    if (status === "operational") continue;
    const tone = STATUS_TONES[status];
    const start = index * STEP_MINUTES;
    const last = spans.at(-1);
    if (last?.tone === tone && last.from + last.length === start) last.length += STEP_MINUTES;
    else spans.push({ from: start, length: STEP_MINUTES, tone });
  }
  return spans;
}

/** Width of a lane, in minutes. */
const WIDTH = DAY_MS / MINUTE_MS;
/** Labelled times, in hours after the start. */
const TICKS = [0, 6, 12, 18];

/** Lane for each component that was not operational in the last 24 hours. */
export function LastDayBlock({ day }: { day: LastDay }) {
  const { lanes, from, hiddenCount, wellCount } = day;
  const zone = useZone();
  if (lanes.length === 0) return null;
  return (
    <Block
      id="last-day"
      title="Last 24 hours"
      aside={
        <span class="muted">
          {wellCount === 1
            ? "1 component was operational all day"
            : `${plural(wellCount, "component")} were operational all day`}
        </span>
      }
    >
      <ul class="lanes">
        {lanes.map((lane) => (
          <LaneRow key={lane.component.id} lane={lane} />
        ))}
        <li class="lane" aria-hidden="true">
          <span class="lane-axis">
            {TICKS.map((hours) => (
              <span key={hours}>{clockAt(from + hours * HOUR_MS, zone)}</span>
            ))}
            <span>Now</span>
          </span>
        </li>
        {hiddenCount > 0 ? (
          <li>
            <a href={COMPONENTS_PATH}>and {plural(hiddenCount, "more component")}</a>
          </li>
        ) : null}
      </ul>
    </Block>
  );
}

function LaneRow({ lane: { component, spans, troubledMs } }: { lane: Lane }) {
  const time = troubledMs < MINUTE_MS ? "< 1 min" : duration(Math.floor(troubledMs / MINUTE_MS));
  return (
    <li class="lane">
      <a href={componentPath(component.id)} title={component.name}>
        {component.name}
      </a>
      <svg
        viewBox={`0 0 ${WIDTH} 12`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${component.name}: not operational for ${time}`}
      >
        <rect class="track" width={WIDTH} height="12" />
        {spans.map(({ from, length, tone }) => (
          <rect key={from} class={`t-${tone}`} x={from} width={length} height="12" />
        ))}
      </svg>
      <span>{time}</span>
    </li>
  );
}

interface BlockProps {
  /** Stable id, by which `live.js` finds the block. */
  id: string;
  title: string;
  /** Text or link at the end of the head. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** Block of the overview with a heading. */
function Block({ id, title, aside, children }: BlockProps) {
  return (
    <section class="card" id={id} data-live="" aria-labelledby={`${id}-title`}>
      <div class="card-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
