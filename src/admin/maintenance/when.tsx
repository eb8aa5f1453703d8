import { isUtcZone } from "../../base/time";
import { zoneSpan } from "../../ui/times";

interface WhenProps {
  /** ISO 8601 in UTC. */
  from: string;
  until: string;
  /** Time zone of the page. */
  timeZone: string;
}

/** A period in UTC and, below, in the time zone of the page. */
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
