import type { Incident } from "../features/incidents";
import type { Maintenance } from "../features/maintenance";
import { StatusLabel } from "../ui";
import { ClockTime, type PageTimes } from "./page-times";
import type { TextBudget, ShownText } from "./text-budget";
import { moreThan, Text } from "./text";
import { INCIDENT_WORDS, MAINTENANCE_WORDS } from "./words";

type Update = Incident["updates"][number] | Maintenance["updates"][number];

const WORDS: Record<Update["status"], string> = { ...INCIDENT_WORDS, ...MAINTENANCE_WORDS };

/** An update, and what is shown of its text. */
export interface Told {
  update: Update;
  text: ShownText;
}

/** Number of updates shown in lists. The object's own page shows all of them. */
const NEWEST_SHOWN = 5;

/** The newest of some updates as far as there is room for them; of the very newest at least its first words. */
export function newestOf(updates: readonly Update[], budget: TextBudget): Told[] {
  const told: Told[] = [];
  for (const update of updates.slice(0, NEWEST_SHOWN)) {
    const text = told.length === 0 ? budget.fitOrBegin(update) : budget.fit(update);
    if (!text) break;
    told.push({ update, text });
    // Where there was no room for this one, the older ones do not stand behind its first words.
    if ("words" in text) break;
  }
  return told;
}

/** All that is shown of what was told, with `named` of the components that an update names. */
export function shownOf(told: readonly Told[], named: number): unknown[] {
  return told.map(({ update, text }) => {
    const { id, status, display_at } = update;
    const components = "components" in update ? update.components : [];
    return [id, status, display_at, text, components.slice(0, named), components.length];
  });
}

interface UpdateListProps {
  /** Newest first. */
  told: readonly Told[];
  times: PageTimes;
  /** Number of named components shown; the others are counted. */
  named: number;
  /** True if an update may name more components than it has here. */
  isCut?: boolean | undefined;
  /** The path of the page that has all of it. */
  href: string;
}

/** Updates, newest first. */
export function UpdateList({ told, times, named, isCut, href }: UpdateListProps) {
  return (
    <ol class="timeline">
      {told.map(({ update, text }) => (
        <li key={update.id} id={update.id} class={isOver(update) ? "is-over" : undefined}>
          <p class="timeline-head">
            <strong>{WORDS[update.status]}</strong>{" "}
            <span class="muted">
              <ClockTime at={update.display_at} times={times} />
            </span>
          </p>
          <Text text={text} href={`${href}#${update.id}`} />
          {"components" in update ? (
            <Named components={update.components} most={named} isCut={isCut} />
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
  most: number;
  isCut: boolean | undefined;
}) {
  const { components, most, isCut } = props;
  if (components.length === 0) return null;
  const more = moreThan(components.length, most, isCut).trim();
  return (
    <ul class="named">
      {components.slice(0, most).map(({ id, name, new_status: status }) => (
        <li key={id}>
          <bdi>{name}</bdi> <StatusLabel status={status} />
        </li>
      ))}
      {more === "" ? null : <li class="muted">{more}</li>}
    </ul>
  );
}
