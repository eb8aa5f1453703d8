import { isUtcZone } from "../../kernel/time";
import { zoneSpan } from "../../ui";

interface WhenProps {
  /** ISO 8601 in UTC. */
  from: string;
  until: string;
  /** The page's. */
  timeZone: string;
}

/** A span of time in UTC and, below it, by the clock of the page's own zone. */
export function When({ from, until, timeZone }: WhenProps) {
  const spanIn = (zone: string) => zoneSpan(Date.parse(from), Date.parse(until), zone);
  return (
    <>
      <time class="span" dateTime={from}>
        {spanIn("UTC")}
      </time>
      {isUtcZone(timeZone) ? null : <div class="cell-note">{spanIn(timeZone)}</div>}
    </>
  );
}
