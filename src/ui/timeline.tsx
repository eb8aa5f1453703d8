import type { ComponentChildren } from "preact";
import type { ComponentStatus } from "../domain/component-status";
import { RelativeTime } from "./relative-time";

export interface TimelineItem {
  title: string;
  /** ISO 8601 in UTC. */
  at: string;
  /** Colours its mark; the title says it in words. */
  status?: ComponentStatus;
  body?: ComponentChildren;
}

/** Events in the given order, newest first. `now` is in unix ms. */
export function Timeline({ items, now }: { items: readonly TimelineItem[]; now: number }) {
  return (
    <ol class="timeline">
      {items.map(({ title, at, status, body }) => (
        <li key={`${at} ${title}`} class={status ? `is-${status}` : undefined}>
          <p>
            <span class="strong">{title}</span> <RelativeTime at={at} now={now} />
          </p>
          {body ? <div class="timeline-body">{body}</div> : null}
        </li>
      ))}
    </ol>
  );
}
