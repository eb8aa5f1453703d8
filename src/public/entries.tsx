import type { ComponentChildren } from "preact";
import { type Impact, listedTone, phaseTone } from "../base/status";
import { DAY_MS, toIso } from "../base/time";
import type { IncidentSummary } from "../features/incidents/records";
import type { Incident } from "../features/incidents/wire";
import type { MaintenanceSummary } from "../features/maintenance/records";
import type { Maintenance } from "../features/maintenance/wire";
import type { HistoryEntry } from "../features/status/entries";
import { Shape, StatusLabel } from "../ui/blocks";
import { updateKey } from "../features/timeline/updates";
import { useWords } from "../ui/words";
import type { PageContext } from "./page-context";
import { ClockTime, type PageTimes } from "./page-times";
import { moreThan, Names, type ShownText, Text, type TextBudget } from "./text";

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
  const { say } = useWords();
  const { times } = context;
  const written = hasYears ? times.day : times.dayOfYear;
  const dayOf = (day: number) => (day === today ? say("past.today") : written(toIso(day)));
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
            <span class="none">{say("past.quiet")}</span>
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
  const { say, lasting, langOf } = useWords();
  const { id, name, impact, status, startedAt, resolvedAt, postmortemPublishedAt } = incident;
  const href = context.paths.incident(id);
  return (
    <>
      <Shape tone={listedTone({ status, impact })} />
      <span class="entry">
        <a dir="auto" lang={langOf(incident.nameLang)} href={href}>
          {name}
        </a>
        <span class="what">
          {say(`impact.${impact}`)} · {say(`incident.${status}`)}
          <Affected components={incident.components} isTruncated={incident.isTruncated} />
          {postmortemPublishedAt === null ? null : (
            <>
              {" · "}
              <a href={`${href}#postmortem`}>{say("past.postmortem")}</a>
            </>
          )}
        </span>
      </span>
      <span class="took">
        {resolvedAt === null ? say("past.ongoing") : lasting(toIso(startedAt), toIso(resolvedAt))}
      </span>
    </>
  );
}

function MaintenanceRow(props: { maintenance: MaintenanceSummary; context: PageContext }) {
  const { say, lasting } = useWords();
  const { maintenance, context } = props;
  const { id, name, status, components, isTruncated, startedAt, endedAt } = maintenance;
  return (
    <>
      <Shape tone={listedTone({ status })} />
      <span class="entry">
        <a dir="auto" href={context.paths.maintenance(id)}>
          {name}
        </a>
        <span class="what">
          {say("planned.title")} · {say(`maintenance.${status}`)}
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

/** Maximum number of updates on one page, and its budget of user text in bytes of HTML. */
export const UPDATES_MAX = 100;
export const PERMALINK_BYTES = 500_000;
/** Maximum number of components shown of one update. */
const NAMED_SHOWN = 100;

/** Part of an incident's or maintenance's updates that a page shows. */
export interface UpdatePart {
  /** Id of the update that these follow; undefined for the newest updates. */
  before?: string | undefined;
  /** True if there are older ones. */
  isMore: boolean;
}

/** All updates, starting with the newest. */
export const ALL_UPDATES: UpdatePart = { isMore: false };

interface UpdatePartProps {
  updates: Incident["updates"] | Maintenance["updates"];
  /** Impact of the incident; absent for maintenance. */
  impact?: Impact;
  part: UpdatePart;
  context: PageContext;
  budget: TextBudget;
  /** Returns the path of the updates before an update; without an id, of the newest ones. */
  pathOf(before?: string): string;
}

/** Updates, newest first, as far as the text budget allows, followed by a link to older ones. */
export function Updates(props: UpdatePartProps) {
  const { say } = useWords();
  const { updates, part, context, budget, pathOf, ...incident } = props;
  const shown: ShownUpdate[] = [];
  for (const update of updates.slice(0, UPDATES_MAX)) {
    const text = shown.length === 0 ? budget.force(update) : budget.fit(update);
    if (!text) break;
    shown.push({ update, text });
  }
  const last = shown.at(-1)?.update;
  const isMore = part.isMore || shown.length < updates.length;
  return (
    <section aria-labelledby="updates">
      <h2 class="section-title" id="updates">
        {say(part.before ? "updates.earlier" : "updates.title")}
      </h2>
      <div class="card story">
        <UpdateList
          {...incident}
          shown={shown}
          times={context.times}
          named={NAMED_SHOWN}
          href={pathOf()}
        />
        {isMore && last ? (
          <p class="more">
            <a href={pathOf(last.id)}>{say("updates.earlier")}</a>
          </p>
        ) : null}
      </div>
      {part.before ? (
        <p class="more">
          <a href={pathOf()}>{say("updates.newest")}</a>
        </p>
      ) : null}
    </section>
  );
}

/** List of names and values, without those that are null. */
export function Facts(props: {
  items: readonly { label: ComponentChildren; value: ComponentChildren }[];
}) {
  return (
    <dl class="facts">
      {props.items
        .filter(({ value }) => value !== null)
        .map(({ label, value }) => (
          <div>
            <dt class="muted">{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

type Update = Incident["updates"][number] | Maintenance["updates"][number];

/** Update with the shown part of its text. */
export interface ShownUpdate {
  update: Update;
  text: ShownText;
}

/** Number of updates shown in lists. The object's own page shows all of them. */
const NEWEST_SHOWN = 5;

/** Returns the newest updates that fit the budget, but at least the first words of the newest one. */
export function newestOf(updates: readonly Update[], budget: TextBudget): ShownUpdate[] {
  const shown: ShownUpdate[] = [];
  for (const update of updates.slice(0, NEWEST_SHOWN)) {
    const text = shown.length === 0 ? budget.fitOrBegin(update) : budget.fit(update);
    if (!text) break;
    shown.push({ update, text });
    // An excerpt is always the last text shown.
    if ("words" in text) break;
  }
  return shown;
}

interface UpdateListProps {
  /** Newest first. */
  shown: readonly ShownUpdate[];
  /** Impact of the incident; absent for maintenance. */
  impact?: Impact;
  times: PageTimes;
  /** Maximum number of components shown of an update; the others are counted. */
  named: number;
  /** True if the components of the updates may be incomplete. */
  isTruncated?: boolean | undefined;
  /** Path of the page with all updates. */
  href: string;
}

/** Updates, newest first. */
export function UpdateList(props: UpdateListProps) {
  const { say } = useWords();
  const { shown, times, named, isTruncated, href, ...incident } = props;
  return (
    <ol class="timeline">
      {shown.map(({ update, text }) => (
        <li key={update.id} id={update.id}>
          <Shape tone={phaseTone({ ...incident, status: update.status })} />
          <p class="timeline-head">
            <strong>{say(updateKey(update.status))}</strong>{" "}
            <span class="muted">
              <ClockTime at={update.display_at} times={times} />
            </span>
          </p>
          <Text text={text} of={update} href={`${href}#${update.id}`} />
          {"components" in update ? (
            <Named components={update.components} max={named} isTruncated={isTruncated} />
          ) : null}
        </li>
      ))}
    </ol>
  );
}

function Named(props: {
  components: Incident["updates"][number]["components"];
  max: number;
  isTruncated: boolean | undefined;
}) {
  const words = useWords();
  const { components, max, isTruncated } = props;
  if (components.length === 0) return null;
  const more = moreThan(words, components.length, max, isTruncated);
  return (
    <ul class="named">
      {components.slice(0, max).map(({ id, name, new_status: status }) => (
        <li key={id}>
          <bdi>{name}</bdi> <StatusLabel status={status} />
        </li>
      ))}
      {more === "" ? null : <li class="muted">{more}</li>}
    </ul>
  );
}
