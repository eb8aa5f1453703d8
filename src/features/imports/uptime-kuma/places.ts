import { DESCRIPTION_MAX } from "../../../base/texts";
import type { FoundComponent, FoundGroup, FoundMonitor, ForeignKey, LeftOut } from "../source";
import { keyOf } from "../source";
import type { MonitorRow } from "./checked";
import { byId, idOf, type KumaData } from "./data";
import { Notes } from "./notes";
import { pageKey } from "./pages";
import { isGroup, type MonitorTree } from "./tree";
import { flag, number, type Row, text } from "./values";

/** A place of a monitor on a status page. */
interface Place {
  component: FoundComponent;
  monitor: MonitorRow;
}

/** Groups and components of status pages. */
export interface Places {
  groups: readonly FoundGroup[];
  components: readonly FoundComponent[];
  leftOut: readonly LeftOut[];
  /** Returns the components that a monitor watches: its own, and those of its groups. */
  componentsOf(monitor: MonitorRow): FoundMonitor["components"];
  /** Returns the components that stand for a monitor, and for the members of a group. */
  shownBy(monitor: MonitorRow): readonly FoundComponent[];
}

/** Statuses of monitors that people set, as statuses of components. Pending has none. */
const BASELINES: Readonly<Record<string, "major_outage" | null>> = { 0: "major_outage" };

const inOrder = (first: Row, second: Row) =>
  number(first["weight"], 0) - number(second["weight"], 0) || idOf(first) - idOf(second);

/** Reads the groups of the status pages in their order, with the monitors in them. */
export function findPlaces(data: KumaData, tree: MonitorTree): Places {
  const monitors = byId(data.monitor);
  const pages = byId(data.status_page);
  const members = Map.groupBy(data.monitor_group.toSorted(inOrder), (row) => idOf(row, "group_id"));
  const groups: FoundGroup[] = [];
  const places: Place[] = [];
  const leftOut: LeftOut[] = [];
  const numbered = new Set<MonitorRow>();
  for (const group of data.group.toSorted(inOrder)) {
    const name = text(group["name"]);
    const foreign = { type: "group", id: String(idOf(group)), name };
    if (!pages.has(idOf(group, "status_page_id"))) {
      leftOut.push({ foreign, reason: "It is on no status page." });
      continue;
    }
    const page = pageKey(group, "status_page_id");
    groups.push({ foreign, number: idOf(group), page, body: { name }, changes: [] });
    const counts = new Map<MonitorRow, number>();
    for (const row of members.get(idOf(group)) ?? []) {
      const monitor = monitors.get(idOf(row, "monitor_id"));
      if (!monitor) continue;
      const count = (counts.get(monitor) ?? 0) + 1;
      counts.set(monitor, count);
      const at = { page, group: keyOf(foreign), count };
      places.push({ monitor, component: componentOf(row, monitor, at, numbered) });
    }
  }
  const byMonitor = Map.groupBy(places, ({ monitor }) => monitor);
  const ownOf = (monitor: MonitorRow) =>
    (byMonitor.get(monitor) ?? []).map(({ component }) => component);
  const withGroups = (monitor: MonitorRow) =>
    [monitor, ...tree.groupsOf(monitor)].flatMap((each) => ownOf(each));
  return {
    groups,
    components: places.map(({ component }) => component),
    leftOut,
    componentsOf(monitor) {
      const keys = withGroups(monitor).map(({ foreign }) => keyOf(foreign));
      return keys.length > 0 ? keys : "internal";
    },
    shownBy: (monitor) => [
      ...new Set([monitor, ...tree.membersOf(monitor)].flatMap((each) => ownOf(each))),
    ],
  };
}

/**
 * Returns the component of a monitor in a group. It is known by both, since the ids of places change whenever a page
 * is saved; `count` tells several places of a monitor in one group apart.
 */
function componentOf(
  row: Row,
  monitor: MonitorRow,
  { page, group, count }: { page: ForeignKey; group: ForeignKey; count: number },
  numbered: Set<MonitorRow>,
): FoundComponent {
  const notes = new Notes();
  const name = text(monitor.name);
  const place = `${idOf(row, "group_id")}/${idOf(monitor)}`;
  const isManual = text(monitor.type) === "manual";
  // Monitors that become monitors have the number themselves.
  const hasNumber = (isManual || isGroup(monitor)) && !numbered.has(monitor);
  numbered.add(monitor);
  return {
    foreign: { type: "monitor_group", id: count === 1 ? place : `${place}/${count}`, name },
    number: hasNumber ? idOf(monitor) : null,
    page,
    group,
    key: null,
    baseline: isManual ? (BASELINES[text(monitor.manual_status)] ?? null) : null,
    body: { name, description: linkOf(row, monitor, notes), show_latency: true },
    changes: notes.changes,
  };
}

/** Returns the address that visitors see, without credentials; null if they see none. */
function linkOf(row: Row, monitor: MonitorRow, notes: Notes): string | null {
  if (!flag(row["send_url"])) return null;
  const url = URL.parse(text(row["custom_url"]) || text(monitor.url));
  if (!url?.host) return null;
  if (url.username !== "" || url.password !== "") {
    notes.drop("url", "The credentials in its address are not shown to visitors.");
    url.username = "";
    url.password = "";
  }
  return url.href.length <= DESCRIPTION_MAX ? url.href : null;
}
