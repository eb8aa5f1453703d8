import { isUnderWay, type Maintenance } from "../features/maintenance";
import { ClockTime } from "./page-times";
import type { PageContext } from "./page-context";
import { MaintenanceState } from "./state";
import type { TextBudget } from "./text-budget";
import { Affects, Text } from "./text";
import { newestOf, type ShownUpdate, UpdateList } from "./update-list";

const NAMES_SHOWN = 8;

interface MaintenanceListProps {
  maintenance: readonly Maintenance[];
  context: PageContext;
  budget: TextBudget;
}

/** Maintenance in progress and upcoming, as far as the text budget allows. */
export function MaintenanceList({ maintenance, context, budget }: MaintenanceListProps) {
  if (maintenance.length === 0) return null;
  return (
    <section aria-labelledby="maintenance">
      <div class="section-head">
        <h2 class="section-title" id="maintenance">
          Maintenance
        </h2>
        {context.page.visibility === "public" ? (
          <a class="top-link" href={context.paths.calendar}>
            Add to calendar
          </a>
        ) : null}
      </div>
      {maintenance.map((one) => (
        <MaintenanceCard key={one.id} maintenance={one} context={context} budget={budget} />
      ))}
    </section>
  );
}

function MaintenanceCard(props: {
  maintenance: Maintenance;
  context: PageContext;
  budget: TextBudget;
}) {
  const { maintenance, context, budget } = props;
  const { id, name, components, truncated } = maintenance;
  const { scheduled_for: at, scheduled_until: until } = maintenance;
  const { paths, times } = context;
  const href = paths.maintenance(id);
  const shown = textsOf(maintenance, budget);
  return (
    <article class="card story">
      <div class="story-head">
        <h3>
          <a href={href}>{name}</a>
        </h3>
        <MaintenanceState maintenance={maintenance} />
      </div>
      <p class="muted">
        <ClockTime at={at} until={until} times={times} />
        <Affects components={components} max={NAMES_SHOWN} isTruncated={truncated} />
      </p>
      {isUnderWay(maintenance.status) ? (
        <UpdateList shown={shown} times={times} named={0} href={href} />
      ) : (
        shown.map(({ text }) => <Text text={text} href={href} />)
      )}
    </article>
  );
}

/** Returns the shown updates of a maintenance: only the newest if it has not started. */
export function textsOf({ status, updates }: Maintenance, budget: TextBudget): ShownUpdate[] {
  if (isUnderWay(status)) return newestOf(updates, budget);
  return updates.slice(0, 1).map((update) => ({ update, text: budget.fitOrBegin(update) }));
}
