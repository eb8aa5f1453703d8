import { roleAllows } from "../../base/actor";
import { STATUS_TONES, worstTone } from "../../base/status";
import type { CauseRow } from "../../features/components/cause-store";
import type { OpenIncident } from "../../features/incidents/store";
import { findMonitor } from "../../features/monitors/store";
import { STATUS_WORDS } from "../../ui/blocks";
import { componentPath, incidentPath, monitorPath } from "../../ui/frame/paths";
import type { AttentionEntry, AttentionRow, AttentionSource } from "./attention-source";
import type { ShownComponent } from "./current-state";
import { Elapsed, LastUpdate, Links } from "./parts";

/**
 * Entries of components that are not operational, except those under maintenance and those that
 * the entry of a monitor names. Several components of one incident share an entry, and have none if all outages of
 * the incident have ended.
 */
export function componentRows(source: AttentionSource): AttentionEntry[] {
  const { components, named, now } = source;
  const troubled = components.filter(
    ({ id, status }) => status !== "under_maintenance" && !named.has(id),
  );
  if (troubled.length === 0) return [];
  const sinceOf = (component: ShownComponent) => {
    const starts = causesOf(source, component).map(({ startedAt }) => startedAt);
    return starts.length === 0 ? component.updatedAt : Math.min(...starts);
  };
  const byIncident = Map.groupBy(troubled, (component) => incidentOf(source, component)?.id);
  return Array.from(byIncident, ([incidentId, group]): AttentionEntry[] => {
    const incident = incidentId === undefined ? undefined : source.incidents.get(incidentId);
    // The entry of the incident offers to resolve it.
    if (incident && source.outageCounts.get(incident.id)?.open === 0) return [];
    if (incident) named.add(incident.id);
    if (incident && group.length > 1) {
      const since = Math.min(...group.map(sinceOf));
      const tone = worstTone(group.map(({ status }) => STATUS_TONES[status]));
      return [
        {
          kind: "component",
          tone,
          since,
          read: () => sharedRow(source, incident, group, since),
        },
      ];
    }
    return group.map((component) => ({
      kind: "component",
      tone: STATUS_TONES[component.status],
      since: sinceOf(component),
      read: () => componentRow(source, component, incident, sinceOf(component)),
    }));
  }).flat();

  function sharedRow(
    { role }: AttentionSource,
    incident: OpenIncident,
    group: readonly ShownComponent[],
    since: number,
  ): AttentionRow {
    return {
      name: incident.name,
      href: incidentPath(incident.id),
      state: (
        <>
          {group.length} components for <Elapsed since={since} now={now} />
        </>
      ),
      note: (
        <>
          Incident ·{" "}
          <Links
            items={group.map(({ id, name, status }) => ({
              href: componentPath(id),
              name: `${name} (${STATUS_WORDS[status].toLowerCase()})`,
            }))}
          />
          <LastUpdate at={incident.updateAt} now={now} />.
        </>
      ),
      action: roleAllows(role, "editor") ? updateOf(incident) : undefined,
    };
  }
}

/** Returns the open causes that give a component its status. */
function causesOf({ causes }: AttentionSource, { id, status }: ShownComponent): CauseRow[] {
  return (causes.get(id) ?? []).filter((cause) => cause.status === status);
}

function componentRow(
  source: AttentionSource,
  component: ShownComponent,
  incident: OpenIncident | undefined,
  since: number,
): AttentionRow {
  const { role, now, pageNames } = source;
  const { id, name, status, pageId } = component;
  const path = componentPath(id);
  const pageName = pageNames?.get(pageId);
  const action = incident ? updateOf(incident) : { href: path, label: "Set status" };
  return {
    name,
    href: path,
    state: (
      <>
        {STATUS_WORDS[status]} for <Elapsed since={since} now={now} />
      </>
    ),
    note: (
      <>
        Component{pageName === undefined ? "" : ` of ${pageName}`} ·{" "}
        <Reason source={source} component={component} incident={incident} />
      </>
    ),
    action: roleAllows(role, "editor") ? action : undefined,
  };
}

interface ReasonProps {
  source: AttentionSource;
  component: ShownComponent;
  incident: OpenIncident | undefined;
}

/** Reason of a component's status, as a sentence. */
function Reason({ source, component, incident }: ReasonProps) {
  const { reader, now } = source;
  if (incident) {
    return (
      <>
        Reported in <a href={incidentPath(incident.id)}>{incident.name}</a>
        <LastUpdate at={incident.updateAt} now={now} />.
      </>
    );
  }
  const [cause] = causesOf(source, component);
  if (cause?.source === "monitor") {
    const monitor = findMonitor(reader, { id: cause.sourceId });
    return (
      <>
        Set by the monitor{" "}
        {monitor ? <a href={monitorPath(monitor.id)}>{monitor.name}</a> : "that was deleted"}, which
        has no newer result.
      </>
    );
  }
  if (cause?.source === "api") return <>Set by the API. No open incident reports this.</>;
  if (cause?.source === "import") return <>Imported. No open incident reports this.</>;
  return <>Set by hand. No open incident reports this.</>;
}

/** Finds the open incident that gives a component its status. */
function incidentOf(source: AttentionSource, component: ShownComponent): OpenIncident | undefined {
  const cause = causesOf(source, component).find((each) => each.source === "incident");
  return cause && source.incidents.get(cause.sourceId);
}

/** Returns the action for a published incident. */
export function updateOf({ id }: Pick<OpenIncident, "id">): AttentionRow["action"] {
  return { href: incidentPath(id), label: "Post update" };
}
