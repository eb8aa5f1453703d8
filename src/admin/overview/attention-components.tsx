import { roleAllows } from "../../domain/role";
import { STATUS_TONES, worstTone } from "../../domain/tone";
import { listOpenCausesOf } from "../../features/components";
import type { OpenIncident } from "../../features/incidents";
import { findMonitor } from "../../features/monitors";
import { STATUS_WORDS } from "../../ui";
import { componentPath, incidentPath, monitorPath } from "../paths";
import type { AttentionEntry, AttentionRow, AttentionSource } from "./attention-source";
import type { ShownComponent } from "./current-state";
import { Elapsed, LastUpdate, Links } from "./parts";

/**
 * Entries of components that are not operational for another reason than maintenance and the
 * monitors that have entries. Several components of one incident share an entry.
 */
export function componentRows(source: AttentionSource): AttentionEntry[] {
  const { components, named, reader, now } = source;
  const troubled = components.filter(
    ({ id, status }) =>
      status !== "operational" && status !== "under_maintenance" && !named.has(id),
  );
  if (troubled.length === 0) return [];
  const causes = listOpenCausesOf(reader, { ids: JSON.stringify(troubled.map(({ id }) => id)) });
  const starts = new Map<string, number>();
  const statuses = new Map(troubled.map(({ id, status }) => [id, status]));
  for (const { componentId, status, startedAt } of causes) {
    if (status !== statuses.get(componentId)) continue;
    starts.set(componentId, Math.min(startedAt, starts.get(componentId) ?? startedAt));
  }
  const sinceOf = ({ id, updated_at }: ShownComponent) => starts.get(id) ?? Date.parse(updated_at);
  const byIncident = Map.groupBy(troubled, (component) => incidentOf(source, component)?.id);
  return Array.from(byIncident, ([incidentId, group]): AttentionEntry[] => {
    const incident = incidentId === undefined ? undefined : source.incidents.get(incidentId);
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

function componentRow(
  source: AttentionSource,
  component: ShownComponent,
  incident: OpenIncident | undefined,
  since: number,
): AttentionRow {
  const { role, now, pageNames } = source;
  const { id, name, status, page_id: pageId } = component;
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
function Reason({ source: { reader, now }, component, incident }: ReasonProps) {
  if (incident) {
    return (
      <>
        Reported in <a href={incidentPath(incident.id)}>{incident.name}</a>
        <LastUpdate at={incident.updateAt} now={now} />.
      </>
    );
  }
  const [cause] = component.causes.filter(({ status }) => status === component.status);
  if (cause?.source === "monitor") {
    const monitor = findMonitor(reader, { id: cause.id });
    return (
      <>
        Marked by the monitor{" "}
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
function incidentOf(
  { incidents }: AttentionSource,
  { causes, status }: ShownComponent,
): OpenIncident | undefined {
  const cause = causes.find((each) => each.source === "incident" && each.status === status);
  return cause && incidents.get(cause.id);
}

/** Action for an incident that is published. */
export function updateOf({ id }: Pick<OpenIncident, "id">): AttentionRow["action"] {
  return { href: incidentPath(id), label: "Post update" };
}
