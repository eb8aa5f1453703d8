import type { ComponentChildren } from "preact";
import type { Tone } from "../base/status";
import { Shape } from "./labels";
import { ClockTime, EventTime } from "./relative-time";

interface TimelineItem {
  key: string;
  title: string;
  /** ISO 8601 in UTC. */
  at: string;
  /** Tone of the shape. */
  tone: Tone;
  /** Author and links, after the time. */
  by?: ComponentChildren;
  body?: ComponentChildren;
}

/** Vertical list of events in the given order. `now` is in unix ms. */
export function Timeline({ items, now }: { items: readonly TimelineItem[]; now: number }) {
  return (
    <ol class="timeline">
      {items.map(({ key, title, at, tone, by, body }) => (
        <li key={key}>
          <span class="timeline-dot">
            <Shape tone={tone} />
          </span>
          <p class="timeline-head">
            <span class="strong">{title}</span> <EventTime at={at} now={now} />{" "}
            {by ? <span class="timeline-by">{by}</span> : null}
          </p>
          {body ? <div class="timeline-body">{body}</div> : null}
        </li>
      ))}
    </ol>
  );
}

interface PhasesProps {
  tone: Tone;
  items: readonly {
    label: string;
    /** Time at which it began, ISO 8601 in UTC. */
    at: string | null;
  }[];
  /** Index of the current phase. Those after it are shown without their times. */
  current: number;
  /** Unix ms. */
  now: number;
}

/** Bar of the phases of an event, with the current one marked. */
export function Phases({ tone, items, current, now }: PhasesProps) {
  return (
    <ol class={`phases t-${tone}`} aria-label="Status">
      {items.map(({ label, at }, index) => (
        <li
          key={label}
          class={index < current ? "is-done" : index === current ? "is-now" : undefined}
          aria-current={index === current ? "step" : undefined}
        >
          {label} {at === null || index > current ? null : <ClockTime at={at} now={now} />}
        </li>
      ))}
    </ol>
  );
}
