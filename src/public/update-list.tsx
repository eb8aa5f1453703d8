import type { Incident } from "../features/incidents";
import type { Maintenance } from "../features/maintenance";
import { StatusLabel } from "../ui";
import { ClockTime } from "./clock-time";
import type { PageTimes } from "./page-times";
import { MarkdownText } from "./text";
import { INCIDENT_WORDS, MAINTENANCE_WORDS } from "./words";

type Update = Incident["updates"][number] | Maintenance["updates"][number];

const WORDS: Record<Update["status"], string> = { ...INCIDENT_WORDS, ...MAINTENANCE_WORDS };

interface UpdateListProps {
  /** Newest first. */
  updates: readonly Update[];
  times: PageTimes;
  /** The level of the highest heading within a text. */
  topHeading: number;
}

/** What was told, newest first. */
export function UpdateList({ updates, times, topHeading }: UpdateListProps) {
  return (
    <ol class="timeline">
      {updates.map((update) => (
        <li key={update.id} id={update.id} class={isOver(update) ? "is-over" : undefined}>
          <p class="timeline-head">
            <strong>{WORDS[update.status]}</strong>{" "}
            <span class="muted">
              <ClockTime at={update.display_at} times={times} />
            </span>
          </p>
          <MarkdownText source={update.body} topHeading={topHeading} />
          {"components" in update ? <Named components={update.components} /> : null}
        </li>
      ))}
    </ol>
  );
}

function isOver({ status }: Update): boolean {
  return status === "resolved" || status === "completed";
}

function Named({ components }: { components: Incident["updates"][number]["components"] }) {
  if (components.length === 0) return null;
  return (
    <ul class="named">
      {components.map(({ id, name, new_status: status }) => (
        <li key={id}>
          <bdi>{name}</bdi> <StatusLabel status={status} />
        </li>
      ))}
    </ul>
  );
}
