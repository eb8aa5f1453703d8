import type { Incident } from "../features/incidents/wire";
import type { Maintenance } from "../features/maintenance/model";
import { StatusLabel } from "../ui/labels";
import { ClockTime, type PageTimes } from "./page-times";
import type { TextBudget, ShownText } from "./text-budget";
import { moreThan, Text } from "./text";
import { INCIDENT_WORDS, MAINTENANCE_WORDS } from "./words";

type Update = Incident["updates"][number] | Maintenance["updates"][number];

const WORDS: Record<Update["status"], string> = { ...INCIDENT_WORDS, ...MAINTENANCE_WORDS };

/** Update with the shown part of its text. */
export interface ShownUpdate {
  update: Update;
  text: ShownText;
}

/** Number of updates shown in lists. The object's own page shows all of them. */
const NEWEST_SHOWN = 5;

/** Returns the newest updates that fit the budget, but at least the first words of the newest one. */
export function newestOf(updates: readonly Update[], budget: TextBudget): ShownUpdate[] {
  const shown: ShownUpdate[] = [];
  for (const update of updates.slice(0, NEWEST_SHOWN)) {
    const text = shown.length === 0 ? budget.fitOrBegin(update) : budget.fit(update);
    if (!text) break;
    shown.push({ update, text });
    // An excerpt is always the last text shown.
    if ("words" in text) break;
  }
  return shown;
}

/** Returns the facts that an `UpdateList` with these properties shows, for `renderPart`. */
export function factsOfUpdates(shown: readonly ShownUpdate[], named: number): unknown[] {
  return shown.map(({ update, text }) => {
    const { id, status, display_at } = update;
    const components = "components" in update ? update.components : [];
    return [id, status, display_at, text, components.slice(0, named), components.length];
  });
}

interface UpdateListProps {
  /** Newest first. */
  shown: readonly ShownUpdate[];
  times: PageTimes;
  /** Maximum number of components shown of an update; the others are counted. */
  named: number;
  /** True if the components of the updates may be incomplete. */
  isTruncated?: boolean | undefined;
  /** Path of the page with all updates. */
  href: string;
}

/** Updates, newest first. */
export function UpdateList({ shown, times, named, isTruncated, href }: UpdateListProps) {
  return (
    <ol class="timeline">
      {shown.map(({ update, text }) => (
        <li key={update.id} id={update.id} class={isOver(update) ? "is-over" : undefined}>
          <p class="timeline-head">
            <strong>{WORDS[update.status]}</strong>{" "}
            <span class="muted">
              <ClockTime at={update.display_at} times={times} />
            </span>
          </p>
          <Text text={text} href={`${href}#${update.id}`} />
          {"components" in update ? (
            <Named components={update.components} max={named} isTruncated={isTruncated} />
          ) : null}
        </li>
      ))}
    </ol>
  );
}

function isOver({ status }: Update): boolean {
  return status === "resolved" || status === "completed";
}

function Named(props: {
  components: Incident["updates"][number]["components"];
  max: number;
  isTruncated: boolean | undefined;
}) {
  const { components, max, isTruncated } = props;
  if (components.length === 0) return null;
  const more = moreThan(components.length, max, isTruncated).trim();
  return (
    <ul class="named">
      {components.slice(0, max).map(({ id, name, new_status: status }) => (
        <li key={id}>
          <bdi>{name}</bdi> <StatusLabel status={status} />
        </li>
      ))}
      {more === "" ? null : <li class="muted">{more}</li>}
    </ul>
  );
}
