import type { ComponentChildren } from "preact";

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

interface MonthTableProps<Day> {
  /** Title for screen readers. */
  caption: string;
  /** All days of the month, by their start in unix ms. */
  days: readonly Day[];
  /** Returns the cell of a day. */
  children: (day: Day) => ComponentChildren;
}

/** Days of a month in UTC, in weeks from Monday to Sunday. */
export function MonthTable<Day extends { at: number }>(props: MonthTableProps<Day>) {
  const { caption, days, children } = props;
  return (
    <table class="calendar">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {WEEKDAYS.map((day) => (
            <th key={day} scope="col">
              <abbr title={day}>{day.slice(0, 3)}</abbr>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(days).map((week, index) => (
          // Weeks keep their place in a month.
          <tr key={index}>
            {week.map((day, weekday) =>
              day ? children(day) : <td key={weekday} class="is-outside" />,
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Divides the days of a month into weeks, with undefined for days of other months. */
function weeksOf<Day extends { at: number }>(days: readonly Day[]): (Day | undefined)[][] {
  const first = days[0] ? (new Date(days[0].at).getUTCDay() + 6) % 7 : 0;
  const cells = [...Array.from({ length: first }, () => undefined), ...days];
  return Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_day, index) => cells[week * 7 + index]),
  );
}
