import type { PageTimes } from "./page-times";

interface ClockTimeProps {
  /** ISO 8601 in UTC. */
  at: string;
  /** End of a span of time. */
  until?: string;
  times: PageTimes;
}

/** A moment or a span, in UTC; the script shows it by the reader's clock. */
export function ClockTime({ at, until, times }: ClockTimeProps) {
  return (
    <time dateTime={at} data-clock data-until={until}>
      {until === undefined ? times.moment(at) : times.range(at, until)}
    </time>
  );
}
