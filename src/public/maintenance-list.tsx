import { isUnderWay } from "../features/maintenance/rules";
import type { Maintenance } from "../features/maintenance/model";
import { Icon } from "../ui/icons";
import { ClockTime } from "./page-times";
import type { PageContext } from "./page-context";
import { MaintenanceState } from "./state";
import type { TextBudget } from "./text-budget";
import { Affects, Text } from "./text";
import { newestOf, type ShownUpdate, UpdateList } from "./update-list";

const MAINTENANCE_NAMES_SHOWN = 8;
/** Number of maintenances that are shown without unfolding. */
const SHOWN = 5;

interface MaintenanceListProps {
  maintenance: readonly Maintenance[];
  context: PageContext;
  budget: TextBudget;
}

/** Maintenance in progress and upcoming, as far as the text budget allows. */
export function MaintenanceList({ maintenance, context, budget }: MaintenanceListProps) {
  if (maintenance.length === 0) return <section id="maintenance" />;
  const rows = maintenance.map((one) => (
    <MaintenanceRow key={one.id} maintenance={one} context={context} budget={budget} />
  ));
  const others = rows.slice(SHOWN);
  return (
    <section id="maintenance" aria-labelledby="maintenance-title">
      <div class="section-head">
        <h2 id="maintenance-title">Maintenance</h2>
        {context.page.visibility === "public" ? (
          <a href={context.paths.calendar}>Add to calendar</a>
        ) : null}
      </div>
      <ul class="card">{rows.slice(0, SHOWN)}</ul>
      {others.length > 0 ? (
        <details class="fold">
          <summary>
            <Icon name="chevron-right" />
            {others.length} more
          </summary>
          <ul class="card">{others}</ul>
        </details>
      ) : null}
    </section>
  );
}

function MaintenanceRow(props: {
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
  const { month, day } = times.tile(at);
  return (
    <li class="plan">
      <span class="date" aria-hidden="true">
        {month}
        <b>{day}</b>
      </span>
      <div>
        <h3>
          <a href={href}>{name}</a>
        </h3>
        <p class="meta">
          <ClockTime at={at} until={until} times={times} />
          <Affects components={components} max={MAINTENANCE_NAMES_SHOWN} isTruncated={truncated} />
        </p>
      </div>
      <MaintenanceState maintenance={maintenance} />
      {isUnderWay(maintenance.status) ? (
        <UpdateList shown={shown} times={times} named={0} href={href} />
      ) : (
        shown.map(({ text }) => <Text text={text} href={href} />)
      )}
    </li>
  );
}

/** Returns the shown updates of a maintenance: only the newest if it has not started. */
export function textsOf({ status, updates }: Maintenance, budget: TextBudget): ShownUpdate[] {
  if (isUnderWay(status)) return newestOf(updates, budget);
  return updates.slice(0, 1).map((update) => ({ update, text: budget.fitOrBegin(update) }));
}
