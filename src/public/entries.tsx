import { IMPACT_TONES } from "../base/status";
import type { IncidentSummary } from "../features/incidents/records";
import type { MaintenanceSummary } from "../features/maintenance/lists";
import type { HistoryEntry } from "../features/status/history";
import { DAY_MS, toIso } from "../base/time";
import { Shape } from "../ui/labels";
import type { PageContext } from "./page-context";
import type { PageTimes } from "./page-times";
import { MAINTENANCE_TONES } from "./state";
import { Names } from "./text";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting, MAINTENANCE_WORDS } from "./words";

const NAMES_SHOWN = 4;

/** Start and end of an incident or a maintenance, in unix ms. The end is null while it continues. */
export type EntrySpan = Pick<HistoryEntry, "from" | "to">;

/** Consecutive days without entries: the first and the last. */
interface QuietDays {
  from: number;
  to: number;
}

/** Entries of one day, or a period of days without any. Days are those of `PageTimes.dayOf`. */
export type DaySection = { day: number; entries: HistoryEntry[] } | QuietDays;

/**
 * Groups entries by the day of their start in the page's time zone, newest first. If a span of days is given,
 * those without entries and without `others` are included as quiet days.
 */
export function groupByDay(
  entries: readonly HistoryEntry[],
  { dayOf }: Pick<PageTimes, "dayOf">,
  span?: { from: number; to: number; others: readonly EntrySpan[] },
): DaySection[] {
  const byDay = Map.groupBy(entries, (entry) => dayOf(entry.from));
  const going = [...entries, ...(span?.others ?? [])].map(({ from, to }) => ({
    from: dayOf(from),
    to: to === null ? null : dayOf(to),
  }));
  const days = new Set(byDay.keys());
  if (span) for (let day = span.from; day <= span.to; day += DAY_MS) days.add(day);
  const sections: DaySection[] = [];
  for (const day of [...days].sort((a, b) => b - a)) {
    const own = byDay.get(day);
    const before = sections.at(-1);
    if (own) {
      sections.push({ day, entries: own });
    } else if (!going.some((entry) => isGoingOn(entry, day))) {
      if (before && "from" in before && before.from === day + DAY_MS) before.from = day;
      else sections.push({ from: day, to: day });
    }
  }
  return sections;
}

function isGoingOn({ from, to }: EntrySpan, day: number): boolean {
  return from <= day && (to === null || to >= day);
}

interface DaySectionsProps {
  sections: readonly DaySection[];
  /** The present day, which is then named "Today". */
  today?: number;
  /** True if the days may be of any year. */
  hasYears?: boolean;
  context: PageContext;
}

/** Entries and quiet days, newest first. Only the first entry of a day names the day. */
export function DaySections({ sections, today, hasYears, context }: DaySectionsProps) {
  const { times } = context;
  const written = hasYears ? times.day : times.dayOfYear;
  const dayOf = (day: number) => (day === today ? "Today" : written(toIso(day)));
  return (
    <ol class="card past">
      {sections.map((section) =>
        "from" in section ? (
          <li key={section.from}>
            <span class="day">
              {section.from === section.to
                ? dayOf(section.from)
                : times.spanOfYear(toIso(section.from), toIso(section.to))}
            </span>
            <span class="none">No incidents or maintenance</span>
          </li>
        ) : (
          section.entries.map((entry, index) => (
            <li>
              <span class="day">{index === 0 ? dayOf(section.day) : null}</span>
              <EntryRow entry={entry} context={context} />
            </li>
          ))
        ),
      )}
    </ol>
  );
}

function EntryRow({ entry: { subject }, context }: { entry: HistoryEntry; context: PageContext }) {
  return subject.kind === "incident" ? (
    <IncidentRow incident={subject.incident} context={context} />
  ) : (
    <MaintenanceRow maintenance={subject.maintenance} context={context} />
  );
}

function IncidentRow({ incident, context }: { incident: IncidentSummary; context: PageContext }) {
  const { id, name, impact, status, startedAt, resolvedAt, postmortemPublishedAt } = incident;
  const href = context.paths.incident(id);
  return (
    <>
      <Shape tone={IMPACT_TONES[impact]} />
      <span class="entry">
        <a href={href}>{name}</a>
        <span class="what">
          {IMPACT_WORDS[impact]} · {INCIDENT_WORDS[status]}
          <Affected components={incident.components} isTruncated={incident.isTruncated} />
          {postmortemPublishedAt === null ? null : (
            <>
              {" · "}
              <a href={`${href}#postmortem`}>post-mortem</a>
            </>
          )}
        </span>
      </span>
      <span class="took">
        {resolvedAt === null ? "Ongoing" : lasting(toIso(startedAt), toIso(resolvedAt))}
      </span>
    </>
  );
}

function MaintenanceRow(props: { maintenance: MaintenanceSummary; context: PageContext }) {
  const { maintenance, context } = props;
  const { id, name, status, components, isTruncated, startedAt, endedAt } = maintenance;
  return (
    <>
      <Shape tone={MAINTENANCE_TONES[status]} />
      <span class="entry">
        <a href={context.paths.maintenance(id)}>{name}</a>
        <span class="what">
          Maintenance · {MAINTENANCE_WORDS[status]}
          <Affected components={components} isTruncated={isTruncated} />
        </span>
      </span>
      <span class="took">
        {endedAt === null || status === "cancelled"
          ? null
          : lasting(toIso(startedAt), toIso(endedAt))}
      </span>
    </>
  );
}

function Affected(props: { components: readonly string[]; isTruncated: boolean }) {
  const { components, isTruncated } = props;
  if (components.length === 0) return null;
  return (
    <>
      {" · "}
      <Names names={components} max={NAMES_SHOWN} isTruncated={isTruncated} />
    </>
  );
}
