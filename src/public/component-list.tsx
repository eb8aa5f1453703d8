import type { Sparkline } from "../features/monitors";
import { type Snapshot, UPTIME_DAYS } from "../features/status";
import { worstStatus } from "../domain/component-status";
import { StatusLabel } from "../ui";
import type { ComponentRowProps, RenderRow } from "./component-row";
import type { PageTimes } from "./page-times";

type Component = Snapshot["document"]["components"][number];
type Group = Snapshot["document"]["groups"][number];

interface ComponentsProps {
  snapshot: Snapshot;
  /** Response times by component id. */
  latency: ReadonlyMap<string, Sparkline>;
  times: PageTimes;
  renderRow: RenderRow;
}

/** Components of a page with their days, those without a group first. */
export function Components({ snapshot, latency, times, renderRow }: ComponentsProps) {
  const { document } = snapshot;
  const shown = shownComponents(snapshot);
  if (shown.length === 0) return null;
  const byGroup = Map.groupBy(shown, (component) => component.group_id);
  const rowOf = (component: Component) =>
    renderRow(rowPropsOf(component, { snapshot, latency, times }));
  // Rows are text, since they are most of a large page and cached rows need no elements.
  const rowsOf = (components: readonly Component[]) => ({
    __html: components.map(rowOf).join(""),
  });
  const ungrouped = byGroup.get(null) ?? [];
  return (
    <section aria-labelledby="components">
      <h2 class="section-title" id="components">
        Components
      </h2>
      {ungrouped.length > 0 ? (
        <ul class="card" dangerouslySetInnerHTML={rowsOf(ungrouped)} />
      ) : null}
      {document.groups.map((group) => {
        const own = byGroup.get(group.id) ?? [];
        return own.length === 0 ? null : (
          <ComponentGroup key={group.id} group={group} components={own} rows={rowsOf(own)} />
        );
      })}
      {shown.some(({ showcase }) => showcase) ? <Method /> : null}
    </section>
  );
}

interface ComponentGroupProps {
  group: Group;
  components: readonly Component[];
  rows: { __html: string };
}

function ComponentGroup({ group, components, rows }: ComponentGroupProps) {
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
      <ul dangerouslySetInnerHTML={rows} />
    </details>
  );
}

function Method() {
  return (
    <details class="method muted">
      <summary>How uptime is calculated</summary>
      <p>
        Over the last {UPTIME_DAYS} days, today included, in time: 1 − (major outage + 0.3 × partial
        outage) ÷ (known time − maintenance). Degraded performance counts as up; time of which
        nothing is known counts neither way. Days begin at midnight UTC. The higher a bar, the more
        of its day was operational.
      </p>
    </details>
  );
}

/** Returns the components that a page shows, in order. */
export function shownComponents({ document }: Snapshot): Component[] {
  return document.components.filter(
    (component) => !component.only_show_if_degraded || component.status !== "operational",
  );
}

/** Returns the properties of a component's row. */
export function rowPropsOf(
  component: Component,
  { snapshot, latency, times }: Omit<ComponentsProps, "renderRow">,
): ComponentRowProps {
  const { id, name, description, status, showcase, uptime_90d } = component;
  return {
    component: { name, description, status, showcase, uptime_90d },
    days: snapshot.daysOf(id),
    latency: latency.get(id),
    times,
  };
}
