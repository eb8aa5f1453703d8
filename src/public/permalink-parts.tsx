import type { ComponentChildren } from "preact";
import type { Incident } from "../features/incidents/wire";
import type { Maintenance } from "../features/maintenance/model";
import type { PageContext } from "./page-context";
import type { TextBudget } from "./text-budget";
import { type ShownUpdate, UpdateList } from "./update-list";

/** Maximum number of updates on one page, and its budget of user text in bytes of HTML. */
export const UPDATES_MAX = 100;
export const PERMALINK_BYTES = 500_000;
/** Maximum number of components shown of one update. */
const NAMED_SHOWN = 100;

/** Part of an incident's or maintenance's updates that a page shows. */
export interface UpdatePart {
  /** Id of the update that these follow; undefined for the newest updates. */
  before?: string | undefined;
  /** True if there are older ones. */
  isMore: boolean;
}

/** All updates, starting with the newest. */
export const ALL_UPDATES: UpdatePart = { isMore: false };

interface UpdatePartProps {
  updates: Incident["updates"] | Maintenance["updates"];
  part: UpdatePart;
  context: PageContext;
  budget: TextBudget;
  /** Returns the path of the updates before an update; without an id, of the newest ones. */
  pathOf(before?: string): string;
}

/** Updates, newest first, as far as the text budget allows, followed by a link to older ones. */
export function Updates({ updates, part, context, budget, pathOf }: UpdatePartProps) {
  const shown: ShownUpdate[] = [];
  for (const update of updates.slice(0, UPDATES_MAX)) {
    const text = shown.length === 0 ? budget.force(update) : budget.fit(update);
    if (!text) break;
    shown.push({ update, text });
  }
  const last = shown.at(-1)?.update;
  const isMore = part.isMore || shown.length < updates.length;
  return (
    <section aria-labelledby="updates">
      <h2 class="section-title" id="updates">
        {part.before ? "Earlier updates" : "Updates"}
      </h2>
      <div class="card story">
        <UpdateList shown={shown} times={context.times} named={NAMED_SHOWN} href={pathOf()} />
        {isMore && last ? (
          <p class="more">
            <a href={pathOf(last.id)}>Earlier updates</a>
          </p>
        ) : null}
      </div>
      {part.before ? (
        <p class="more">
          <a href={pathOf()}>Newest updates</a>
        </p>
      ) : null}
    </section>
  );
}

/** List of names and values, without those that are null. */
export function Facts(props: { items: readonly { label: string; value: ComponentChildren }[] }) {
  return (
    <dl class="facts">
      {props.items
        .filter(({ value }) => value !== null)
        .map(({ label, value }) => (
          <div key={label}>
            <dt class="muted">{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
