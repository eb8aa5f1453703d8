import type { IncidentSummary } from "../features/incidents";
import type { MaintenanceSummary } from "../features/maintenance";
import type { HistoryEntry } from "../features/status";
import { DAY_MS, startOfDay, toIso } from "../kernel/time";
import type { PageContext } from "./page-context";
import { IncidentState, MaintenanceState } from "./state";
import { Names } from "./text";
import { lasting } from "./words";

const NAMES_SHOWN = 4;

/** Start and end of an incident or a maintenance, in unix ms. The end is null while it continues. */
export type EntrySpan = Pick<HistoryEntry, "from" | "to">;

/** Consecutive UTC days without entries: start of the first and of the last day, in unix ms. */
interface QuietDays {
  from: number;
  to: number;
}

/** Entries of one day, or a period of days without any. */
export type DaySection = { day: number; entries: HistoryEntry[] } | QuietDays;

/**
 * Groups entries by the UTC day of their start, newest first. If a span (unix ms) is given, its days
 * without entries and without `others` are included as quiet days.
 */
export function groupByDay(
  entries: readonly HistoryEntry[],
  span?: { from: number; to: number; others: readonly EntrySpan[] },
): DaySection[] {
  const byDay = Map.groupBy(entries, (entry) => startOfDay(entry.from));
  const going: EntrySpan[] = [...entries, ...(span?.others ?? [])];
  const days = new Set(byDay.keys());
  if (span) for (let day = startOfDay(span.from); day <= span.to; day += DAY_MS) days.add(day);
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
  return from < day + DAY_MS && (to === null || to >= day);
}

/** Entries and quiet days, newest first. */
export function DaySections(props: {
  sections: readonly DaySection[];
  /** Level of the headings of days. */
  topHeading: 2 | 3;
  context: PageContext;
}) {
  const { sections, topHeading, context } = props;
  const { times } = context;
  const Heading = topHeading === 2 ? "h2" : "h3";
  return (
    <>
      {sections.map((section) =>
        "from" in section ? (
          <p class="muted quiet-days" key={section.from}>
            {section.from === section.to
              ? times.day(toIso(section.from))
              : times.span(toIso(section.from), toIso(section.to))}
            : nothing to report
          </p>
        ) : (
          <section class="chapter" key={section.day}>
            <Heading>{times.day(toIso(section.day))}</Heading>
            <ul class="card">
              {section.entries.map((entry) => (
                <EntryRow entry={entry} context={context} />
              ))}
            </ul>
          </section>
        ),
      )}
    </>
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
  const { id, name, components, isTruncated, startedAt, resolvedAt, postmortemPublishedAt } =
    incident;
  const href = context.paths.incident(id);
  return (
    <li class="row">
      <div class="row-text">
        <a class="row-link" href={href}>
          {name}
        </a>
        <p class="muted">
          {resolvedAt === null ? "Ongoing" : lasting(toIso(startedAt), toIso(resolvedAt))}
          <Affected components={components} isTruncated={isTruncated} />
          {postmortemPublishedAt === null ? null : (
            <>
              {" · "}
              <a href={`${href}#postmortem`}>post-mortem</a>
            </>
          )}
        </p>
      </div>
      <IncidentState incident={incident} />
    </li>
  );
}

function MaintenanceRow(props: { maintenance: MaintenanceSummary; context: PageContext }) {
  const { maintenance, context } = props;
  const { id, name, status, components, isTruncated, startedAt, endedAt } = maintenance;
  return (
    <li class="row">
      <div class="row-text">
        <a class="row-link" href={context.paths.maintenance(id)}>
          {name}
        </a>
        <p class="muted">
          Maintenance
          {endedAt === null || status === "cancelled"
            ? ""
            : ` · ${lasting(toIso(startedAt), toIso(endedAt))}`}
          <Affected components={components} isTruncated={isTruncated} />
        </p>
      </div>
      <MaintenanceState maintenance={maintenance} />
    </li>
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
