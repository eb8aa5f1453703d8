import { METHODS } from "../../features/analytics/model";
import { STATUS_TONES } from "../../base/status";
import { percent } from "../../base/numbers";
import { plural } from "../../base/text";
import { startOfDay } from "../../base/time";
import { DetailCard } from "../../ui/detail";
import { EmptyState, Shape, STATUS_WORDS } from "../../ui/blocks";
import { Entries, monthName, nameOf, pathOf, toneOf } from "./calendar-entries";
import { MonthTable } from "../month-table";
import type { CalendarDay, CalendarView } from "./calendar-view";
import { AnalyticsFrame } from "./frame";
import { CALENDAR_PATH, selectionPath } from "./selection";

/** Incidents and maintenance named in a day; the rest are counted. */
const NAMED_MAX = 2;

/** `/admin/analytics/calendar`: days of a month with uptime, incidents and maintenance. */
export function Calendar({ view }: { view: CalendarView }) {
  const { selection, page, month } = view;
  return (
    <AnalyticsFrame
      path={CALENDAR_PATH}
      selection={selection}
      hasPage
      isOnePage
      hidden={{ month: month.name }}
      methods={page ? [{ of: "components", method: METHODS.uptimeOfComponents }] : []}
    >
      {page ? (
        <>
          <MonthCard view={view} />
          <Entries view={view} />
        </>
      ) : (
        <EmptyState title="No status page yet">
          The days of a page's components appear here.
        </EmptyState>
      )}
    </AnalyticsFrame>
  );
}

function MonthCard({ view }: { view: CalendarView }) {
  const { month, days, uptime, selection, hasEarlier, now } = view;
  const pathOf = (name: string) => selectionPath(CALENDAR_PATH, selection, { month: name });
  return (
    <DetailCard
      title={monthName(month.name)}
      liveId="calendar"
      count={uptime === null ? "no data" : `${percent(uptime, 3)} uptime`}
      end={
        <nav class="calendar-months" aria-label="Months">
          {month.previous && hasEarlier ? (
            <a rel="prev" href={pathOf(month.previous)}>
              ← {monthName(month.previous)}
            </a>
          ) : null}
          {month.next ? (
            <a rel="next" href={pathOf(month.next)}>
              {monthName(month.next)} →
            </a>
          ) : null}
        </nav>
      }
      isFlush
    >
      <MonthTable caption={`Days of ${monthName(month.name)}`} days={days}>
        {(day) => <DayCell key={day.at} day={day} isToday={startOfDay(now) === day.at} />}
      </MonthTable>
    </DetailCard>
  );
}

function DayCell({ day, isToday }: { day: CalendarDay; isToday: boolean }) {
  const { at, uptime, worst, entries, isAhead } = day;
  const tone = worst === null ? "none" : STATUS_TONES[worst];
  const rest = entries.length - NAMED_MAX;
  return (
    <td class={isAhead ? "is-outside" : `t-${tone}`} aria-current={isToday ? "date" : undefined}>
      <div class="calendar-day">
        <span class="calendar-number">{new Date(at).getUTCDate()}</span>
        {isAhead ? null : (
          <span class="calendar-share">
            <Shape tone={tone} />
            <span class="visually-hidden">
              {worst === null ? "No data" : `${STATUS_WORDS[worst]}, uptime`}
            </span>
            {uptime === null ? null : (
              <span>
                {percent(uptime, 2).slice(0, -2)}
                <span class="calendar-unit"> %</span>
              </span>
            )}
          </span>
        )}
      </div>
      {entries.length === 0 ? null : (
        <ul>
          {entries.slice(0, rest > 1 ? NAMED_MAX : NAMED_MAX + 1).map((entry) => (
            <li key={nameOf(entry)} class={`t-${toneOf(entry)}`}>
              <a href={pathOf(entry)} title={nameOf(entry)}>
                {nameOf(entry)}
              </a>
            </li>
          ))}
          {rest > 1 ? <li>and {plural(rest, "more")}</li> : null}
        </ul>
      )}
    </td>
  );
}
