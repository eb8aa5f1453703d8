import type { ComponentChildren } from "preact";
import { STATUS_TONES, type Tone, worstStatus } from "../base/status";
import type { SparklineData } from "../features/monitors/sparklines";
import type { EntryNames } from "../features/status/entry-names";
import type { Snapshot } from "../features/status/snapshot";
import { UPTIME_DAYS } from "../features/status/component-histories";
import { sum } from "../base/numbers";
import { plural } from "../base/text";
import { Icon } from "../ui/icons";
import { Shape, STATUS_WORDS } from "../ui/labels";
import {
  type ComponentRowProps,
  type RenderRow,
  type RowHtml,
  shownUptime,
  Uptime,
} from "./component-row";
import type { PageContext } from "./page-context";

/** Number of components from which rows out of sight are laid out later. */
const MANY = 60;

type Component = Snapshot["document"]["components"][number];
type Group = Snapshot["document"]["groups"][number];

interface ComponentsProps {
  snapshot: Snapshot;
  /** Response times by component id. */
  latency: ReadonlyMap<string, SparklineData>;
  /** Names of the incidents and maintenances in the charts. */
  names: EntryNames;
  context: Pick<PageContext, "paths" | "times">;
  renderRow: RenderRow;
}

/** Components of a page with their days, those without a group first. */
export function Components({ renderRow, ...props }: ComponentsProps) {
  const { snapshot } = props;
  const { document } = snapshot;
  const shown = shownComponents(snapshot);
  if (shown.length === 0) return <section id="components" />;
  const byGroup = Map.groupBy(shown, (component) => component.group_id);
  const rowsOf = (components: readonly Component[]) =>
    components.map((component) => renderRow(rowPropsOf(component, props)));
  const ungrouped = byGroup.get(null) ?? [];
  const drawn = shown.filter(({ showcase }) => showcase);
  return (
    <section
      id="components"
      class={shown.length > MANY ? "many" : undefined}
      aria-labelledby="components-title"
    >
      <div class="section-head">
        <h2 id="components-title">Components</h2>
        {drawn.length > 0 ? <span>{spanOf(drawn, snapshot)}</span> : null}
      </div>
      {ungrouped.length > 0 ? (
        <div class="card" data-days>
          <Rows components={ungrouped} rows={rowsOf(ungrouped)} snapshot={snapshot} />
        </div>
      ) : null}
      {document.groups.map((group) => {
        const own = byGroup.get(group.id) ?? [];
        return own.length === 0 ? null : (
          <ComponentGroup key={group.id} group={group} components={own} snapshot={snapshot}>
            <Rows components={own} rows={rowsOf(own)} snapshot={snapshot} group={group.name} />
          </ComponentGroup>
        );
      })}
      {drawn.length > 0 ? (
        <>
          <Key />
          <Method />
        </>
      ) : null}
    </section>
  );
}

interface ComponentGroupProps {
  group: Group;
  components: readonly Component[];
  snapshot: Snapshot;
  children: ComponentChildren;
}

function ComponentGroup({ group, components, snapshot, children }: ComponentGroupProps) {
  const worst = worstStatus(components.map(({ status }) => status));
  const isOpen =
    group.collapse === "expanded" ||
    (group.collapse === "collapsed_unless_incident" && worst !== "operational");
  const uptimes = components
    .filter(({ showcase }) => showcase)
    .map((component) => shownUptime(component, snapshot.daysOf(component.id)))
    .filter((uptime) => uptime !== null);
  return (
    <details class="card group" open={isOpen} data-days>
      <summary>
        <Icon name="chevron-right" />
        <h3>
          {group.name} <small>{plural(components.length, "component")}</small>
        </h3>
        <span class="up">
          {uptimes.length > 0 ? <Uptime uptime={sum(uptimes) / uptimes.length} /> : null}
        </span>
        <Shape tone={STATUS_TONES[worst]} />
        <span class="unseen">{STATUS_WORDS[worst]}</span>
      </summary>
      {group.description ? <p class="muted group-text">{group.description}</p> : null}
      {children}
    </details>
  );
}

interface RowsProps {
  components: readonly Component[];
  /** Rows of these components. They are text, since cached rows need no elements. */
  rows: readonly RowHtml[];
  snapshot: Snapshot;
  /** Name of the group, if the components are in one. */
  group?: string;
}

/**
 * Rows of components above a common axis, which opens the tables of their days. The text of a day lies on
 * the axis and not in it, since it may have links.
 */
function Rows({ components, rows, snapshot, group }: RowsProps) {
  const drawn = components.filter(({ showcase }) => showcase);
  const tables = rows.map(({ table }) => table).join("");
  return (
    <>
      <ul dangerouslySetInnerHTML={{ __html: rows.map(({ row }) => row).join("") }} />
      {drawn.length === 0 ? null : (
        <div class="axis">
          <details class="day-table">
            <summary>
              <span class="open-days">
                Days as a table
                {group === undefined ? null : <span class="unseen">: {group}</span>}
              </span>
              <span class="ends">
                <span>{isNew(drawn, snapshot) ? "" : `${daysOf(drawn, snapshot)} days ago`}</span>
                <span>{isNew(drawn, snapshot) ? "Since today" : "Today"}</span>
              </span>
              <span>Uptime</span>
            </summary>
            <div dangerouslySetInnerHTML={{ __html: tables }} />
          </details>
          <p data-day-note />
        </div>
      )}
    </>
  );
}

/** Returns the number of days in the charts of components. */
function daysOf([first]: readonly Component[], snapshot: Snapshot): number {
  return first ? snapshot.daysOf(first.id).length : 0;
}

/** Returns true if these components have no data from before today. */
export function isNew(components: readonly Component[], snapshot: Snapshot): boolean {
  return components.every(({ id }) =>
    snapshot
      .daysOf(id)
      .slice(0, -1)
      .every(({ known, noData }) => known + noData === 0),
  );
}

/** Returns "Last 90 days", or "Since today" if the components are new. */
function spanOf(components: readonly Component[], snapshot: Snapshot): string {
  return isNew(components, snapshot) ? "Since today" : `Last ${daysOf(components, snapshot)} days`;
}

const KEY: readonly { tone: Tone; word: string }[] = [
  { tone: "ok", word: "Operational" },
  { tone: "maint", word: "Maintenance" },
  { tone: "degraded", word: "Degraded" },
  { tone: "partial", word: "Partial outage" },
  { tone: "major", word: "Major outage" },
];

function Key() {
  return (
    <ul class="key" aria-label="Key">
      {KEY.map(({ tone, word }) => (
        <li>
          <Shape tone={tone} />
          {word}
        </li>
      ))}
    </ul>
  );
}

function Method() {
  return (
    <details class="fold method">
      <summary>
        <Icon name="chevron-right" />
        How uptime is calculated
      </summary>
      <p>
        Over the last {UPTIME_DAYS} days, today included, in time: 1 − (major outage + 0.3 × partial
        outage) ÷ (known time − maintenance). Degraded performance counts as up; time without data
        is excluded. The uptime of a group is the mean of its components. Days begin at midnight
        UTC. The cap of a bar is the part of the day that was not operational, in the colour of the
        worst status.
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
  { snapshot, latency, names, context }: Omit<ComponentsProps, "renderRow">,
): ComponentRowProps {
  const { id, name, description, status, showcase, uptime_90d } = component;
  return {
    component: { name, description, status, showcase, uptime_90d },
    days: snapshot.daysOf(id),
    entries: snapshot.entriesOf(id),
    names,
    latency: latency.get(id),
    paths: context.paths,
    times: context.times,
  };
}
