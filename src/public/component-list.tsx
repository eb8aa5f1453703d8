import type { ComponentChildren } from "preact";
import type { Sparkline } from "../features/monitors";
import { type Snapshot, UPTIME_DAYS } from "../features/status";
import { worstStatus } from "../kernel/component-status";
import { type DayRun, DayChart, DayTable, runsOf, StatusLabel } from "../ui";
import { LatencyLine } from "./latency-line";
import type { PageTimes } from "./page-times";
import { createDrawDays } from "./status-days";
import { uptimeText } from "./words";

type Component = Snapshot["document"]["components"][number];
type Group = Snapshot["document"]["groups"][number];

interface ComponentsProps {
  snapshot: Snapshot;
  /** By the id of a component. */
  latency: ReadonlyMap<string, Sparkline>;
  times: PageTimes;
}

/** The components of a page, those without a group first, each with what its days were like. */
export function Components({ snapshot, latency, times }: ComponentsProps) {
  const { document, days } = snapshot;
  const shown = document.components.filter(isShown);
  if (shown.length === 0) return null;
  const drawDays = createDrawDays();
  const runsFor = (component: Component) =>
    component.showcase ? runsOf(drawDays(days.get(component.id) ?? []), times) : [];
  const byGroup = Map.groupBy(shown, (component) => component.group_id);
  const rowsOf = (components: readonly Component[]) =>
    components.map((component) => (
      <ComponentRow
        key={component.id}
        component={component}
        days={document.page.history_days}
        runs={runsFor(component)}
        latency={latency.get(component.id)}
      />
    ));
  const ungrouped = byGroup.get(null) ?? [];
  return (
    <section aria-labelledby="components">
      <h2 class="section-title" id="components">
        Components
      </h2>
      {ungrouped.length > 0 ? <ul class="card">{rowsOf(ungrouped)}</ul> : null}
      {document.groups.map((group) => {
        const own = byGroup.get(group.id) ?? [];
        return own.length === 0 ? null : (
          <ComponentGroup key={group.id} group={group} components={own}>
            {rowsOf(own)}
          </ComponentGroup>
        );
      })}
      {shown.some(({ showcase }) => showcase) ? <Method /> : null}
    </section>
  );
}

interface ComponentGroupProps {
  group: Group;
  components: readonly Component[];
  children: ComponentChildren;
}

function ComponentGroup({ group, components, children }: ComponentGroupProps) {
  const worst = worstStatus(components.map(({ status }) => status));
  const isOpen =
    group.collapse === "expanded" ||
    (group.collapse === "collapsed_unless_incident" && worst !== "operational");
  return (
    <details class="card group" open={isOpen}>
      <summary>
        <h3>{group.name}</h3>
        <StatusLabel status={worst} />
      </summary>
      {group.description ? <p class="muted group-text">{group.description}</p> : null}
      <ul>{children}</ul>
    </details>
  );
}

interface ComponentDaysProps {
  component: Component;
  /** How many days are drawn. */
  days: number;
  runs: readonly DayRun[];
}

function ComponentRow({
  component,
  days,
  runs,
  latency,
}: ComponentDaysProps & { latency: Sparkline | undefined }) {
  const { name, description, status, showcase } = component;
  return (
    <li class="component">
      <div class="component-head">
        <strong class="row-text">{name}</strong>
        <StatusLabel status={status} />
      </div>
      {description ? <p class="muted">{description}</p> : null}
      {showcase ? <ComponentDays component={component} days={days} runs={runs} /> : null}
      {latency ? <LatencyLine line={latency} /> : null}
    </li>
  );
}

function ComponentDays({ component, days, runs }: ComponentDaysProps) {
  const { name, uptime_90d: uptime } = component;
  return (
    <div class="days" data-days>
      <DayChart label={`${name}, day by day`} runs={runs} />
      <details class="day-table">
        <summary>
          <span>{days} days ago</span>
          <span data-day-note>{uptime === null ? "No data yet" : uptimeText(uptime)}</span>
          <span>Today</span>
          <span class="unseen">: the days of {name} as a table</span>
        </summary>
        <DayTable runs={runs} />
      </details>
    </div>
  );
}

function Method() {
  return (
    <details class="method muted">
      <summary>How uptime is counted</summary>
      <p>
        Over the last {UPTIME_DAYS} days, today included, in time: 1 − (major outage + 0.3 × partial
        outage) ÷ (known time − maintenance). Degraded performance counts as up; time of which
        nothing is known counts neither way. Days begin at midnight UTC. The higher a bar, the more
        of its day was operational.
      </p>
    </details>
  );
}

function isShown(component: Component): boolean {
  return !component.only_show_if_degraded || component.status !== "operational";
}
