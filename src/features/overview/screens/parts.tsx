/* Times and links in rows of the overview, of incidents and of components. */
import { MINUTE_MS, SECOND_MS, toIso } from "../../../base/time";
import { lasting, Time } from "../../../ui/times";

/** Returns the time between two times in unix ms: "28 s", "42 min", "1 h 4 min", "3 days 4 h". */
export function elapsed(from: number, to: number): string {
  const ms = Math.max(SECOND_MS, to - from);
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  return lasting(toIso(from), toIso(to));
}

/** Time since `since`, with the exact time on hover. Both in unix ms. */
export function Elapsed({ since, now }: { since: number; now: number }) {
  return <Time at={toIso(since)}>{elapsed(since, now)}</Time>;
}

/** Maximum number of links; further objects are counted. */
const NAMED_MAX = 3;

interface LinksProps {
  items: readonly {
    href?: string;
    name: string;
    /** Noun before the name, such as "monitor". */
    kind?: string;
  }[];
}

/** Links with commas: "Search, API and 2 more", "the monitor Search and the incident Errors". */
export function Links({ items }: LinksProps) {
  const shown = items.slice(0, NAMED_MAX);
  const more = items.length - shown.length;
  return (
    <>
      {shown.map(({ href, name, kind }, index) => (
        <span key={index}>
          {index === 0 ? "" : more <= 0 && index === shown.length - 1 ? " and " : ", "}
          {kind === undefined ? "" : `the ${kind} `}
          {href === undefined ? (
            <bdi>{name}</bdi>
          ) : (
            <a dir="auto" href={href}>
              {name}
            </a>
          )}
        </span>
      ))}
      {more > 0 ? ` and ${more} more` : ""}
    </>
  );
}
