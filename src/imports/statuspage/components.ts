import type { ForeignObject, ImportChange } from "../../base/import-report";
import { COMPONENT_STATUSES, type ComponentStatus } from "../../base/status";
import { parseDay, toIso } from "../../base/time";
import { cutName, textChange } from "../options";
import { type ForeignKey, type FoundComponent, type FoundGroup, keyOf } from "../source";
import { namedStatusOf, type SourceComponent, timeOf } from "./document";

/** Returns the identity of a component or of a group. */
export function foreignOfComponent({ id, name, group }: SourceComponent): ForeignObject {
  const type = group ? "group" : "component";
  return { type, id, name: cutName(name, `Unnamed ${type}`) };
}

/**
 * Returns groups and components in the order of their positions, which at Statuspage count within a group. `given` are the statuses that open
 * incidents give to components, by id.
 */
export function sortComponents(
  list: readonly SourceComponent[],
  page: ForeignKey,
  given: ReadonlyMap<string, ComponentStatus>,
): { groups: FoundGroup[]; components: FoundComponent[] } {
  const ordered = list.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
  const groups = ordered.filter(({ group }) => group);
  const groupIds = new Set(groups.map(({ id }) => id));
  const components = ordered.filter(({ group }) => !group);
  return {
    groups: groups.map((group) => groupOf(group, page)),
    components: components.map((one) => componentOf(one, page, groupIds, given.get(one.id))),
  };
}

function groupOf(group: SourceComponent, page: ForeignKey): FoundGroup {
  const { name, description = null } = group;
  return {
    foreign: foreignOfComponent(group),
    page,
    body: { name, description },
    changes: [],
    number: null,
  };
}

function componentOf(
  component: SourceComponent,
  page: ForeignKey,
  groupIds: ReadonlySet<string>,
  given: ComponentStatus = "operational",
): FoundComponent {
  const { group_id: groupId } = component;
  const { baseline, changes: ofStatus } = baselineOf(component, given);
  const isInGroup = Boolean(groupId) && groupIds.has(groupId ?? "");
  return {
    foreign: foreignOfComponent(component),
    page,
    group: isInGroup ? keyOf({ type: "group", id: groupId ?? "" }) : null,
    body: {
      name: component.name,
      description: component.description ?? null,
      showcase: component.showcase ?? true,
      start_date: startOf(component),
      only_show_if_degraded: component.only_show_if_degraded ?? false,
    },
    changes: [
      ...ofStatus,
      ...textChange(
        "group_id",
        (!isInGroup && groupId) || "",
        "",
        "The source does not have this group.",
      ),
    ],
    number: null,
    key: null,
    baseline,
  };
}

/** Returns the day from which uptime is known. */
function startOf({ start_date: day, created_at: createdAt }: SourceComponent): string | null {
  if (day && parseDay(day) !== undefined) return day;
  const at = timeOf(createdAt);
  return at === undefined ? null : toIso(at).slice(0, 10);
}

/** Returns the status that people set: what is worse than that of open incidents. Maintenance gives its own. */
function baselineOf({ status }: SourceComponent, given: ComponentStatus) {
  const baseline = namedStatusOf(status) ?? null;
  const changes: ImportChange[] =
    !status || baseline !== null || status === "under_maintenance"
      ? []
      : textChange("status", status, "operational", "This status is not known.");
  return { baseline: baseline !== null && isWorse(baseline, given) ? baseline : null, changes };
}

/** Returns true if a status is worse than another. */
function isWorse(status: ComponentStatus, than: ComponentStatus): boolean {
  return COMPONENT_STATUSES.indexOf(status) > COMPONENT_STATUSES.indexOf(than);
}
