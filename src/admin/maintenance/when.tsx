import { isUtcZone } from "../../kernel/time";

const FORMAT = {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
} as const;

interface WhenProps {
  /** ISO 8601 in UTC. */
  from: string;
  until: string;
  /** The page's. */
  timeZone: string;
}

/** A span of time in UTC and, below it, by the clock of the page's own zone. */
export function When({ from, until, timeZone }: WhenProps) {
  return (
    <>
      <time class="span" dateTime={from}>
        {span(from, until, "UTC")}
      </time>
      {isUtcZone(timeZone) ? null : <div class="cell-note">{span(from, until, timeZone)}</div>}
    </>
  );
}

function span(from: string, until: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", { ...FORMAT, timeZone });
  return format.formatRange(Date.parse(from), Date.parse(until));
}
