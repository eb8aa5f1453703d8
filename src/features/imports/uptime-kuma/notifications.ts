import type { ForeignObject } from "../../../base/import-report";
import { oneLine, plural } from "../../../base/text";
import type { FoundMonitor, FoundWebhook, ForeignKey, LeftOut } from "../source";
import { keyOf } from "../source";
import { cutName } from "../texts";
import type { MonitorRow } from "./checked";
import { byId, groupedBy, idOf, type KumaData } from "./data";
import { foreignMonitor } from "./monitors";
import { Notes } from "./notes";
import { notificationOf, type NotificationConfig } from "./notification-types";
import { isGroup, type MonitorTree } from "./tree";
import { flag, object, type Row, text, textOf } from "./values";

/** Events about which Uptime Kuma notifies. */
const EVENTS = [
  "monitor.down",
  "monitor.up",
  "monitor.reminder",
  "monitor.certificate_expiring",
] as const;

/** Maximum number of monitors that are named in a reason, and of characters of a type. */
const NAMED_MAX = 5;
const TYPE_MAX = 50;

/** Monitor of a domain, with the monitors that watch it in Uptime Kuma. */
export interface DomainMonitor {
  monitor: FoundMonitor;
  watchedBy: readonly MonitorRow[];
}

/** Returns the webhooks that notifications become, and the notifications that have no counterpart. */
export function findWebhooks(
  data: KumaData,
  tree: MonitorTree,
  domains: readonly DomainMonitor[],
): { webhooks: FoundWebhook[]; leftOut: LeftOut[] } {
  const monitors = byId(data.monitor);
  const assigned = groupedBy(data.monitor_notification, "notification_id");
  const all = data.monitor.filter((monitor) => isChecked(monitor));
  const webhooks: FoundWebhook[] = [];
  const leftOut: LeftOut[] = [];
  for (const row of data.notification) {
    const own = (assigned.get(idOf(row)) ?? []).flatMap(
      (each) => monitors.get(idOf(each, "monitor_id")) ?? [],
    );
    const reached = new Set(own.flatMap((monitor) => tree.membersOf(monitor)).filter(isChecked));
    const isForAll = flag(row["is_default"]) && all.every((monitor) => reached.has(monitor));
    const watched = domains.filter(({ watchedBy }) => watchedBy.some((each) => reached.has(each)));
    const keys: ForeignKey[] = [
      ...[...reached].map((monitor) => keyOf(foreignMonitor(monitor))),
      ...watched.map(({ monitor }) => keyOf(monitor.foreign)),
    ];
    const receivers = receiversOf(row, ofGroups(own, tree), isForAll ? "all" : keys);
    for (const found of receivers) {
      if ("reason" in found) {
        leftOut.push({ ...found, reason: `${found.reason} ${usageOf(reached)}` });
      } else webhooks.push(found);
    }
  }
  return { webhooks, leftOut };
}

/** Returns true for monitors that become monitors. */
function isChecked(monitor: MonitorRow): boolean {
  return !isGroup(monitor) && text(monitor.type) !== "manual";
}

/** Notes that the notification of a group is for its members, unless they all have it themselves. */
function ofGroups(own: readonly MonitorRow[], tree: MonitorTree): Notes {
  const notes = new Notes();
  const direct = new Set(own);
  for (const group of own.filter((monitor) => isGroup(monitor))) {
    const members = tree.membersOf(group).filter(isChecked);
    if (members.every((member) => direct.has(member))) continue;
    const reason = "A group is not checked here, so its notifications are about its members.";
    notes.change("monitors", text(group.name), plural(members.length, "monitor"), reason);
  }
  return notes;
}

/** Returns the webhooks of a notification, or the reason for which it is not moved. */
function receiversOf(
  row: Row,
  notes: Notes,
  monitors: "all" | readonly ForeignKey[],
): (FoundWebhook | LeftOut)[] {
  const config = object(row["config"]) ?? {};
  const name = text(row["name"]);
  const foreign = { type: "notification", id: String(idOf(row)), name };
  const type = textOf(config["type"]);
  const mapping = notificationOf(type);
  if (!mapping) {
    return [
      {
        foreign,
        reason: `Notifications of the type ${cutName(type, "unknown", TYPE_MAX)} are not sent here.`,
      },
    ];
  }
  noteLook(config, mapping.look, notes);
  return mapping.read(config).map((receiver, index): FoundWebhook | LeftOut => {
    const own: ForeignObject =
      index === 0 ? foreign : { ...foreign, id: `${foreign.id}/${index + 1}` };
    if ("reason" in receiver) return { foreign: own, reason: receiver.reason };
    const { url, settings } = receiver;
    return {
      foreign: own,
      body: {
        url,
        format: mapping.to,
        description: name,
        events: [...EVENTS],
        enabled: flag(row["active"]),
        ...(settings && Object.keys(settings).length > 0 && { settings }),
      },
      changes: notes.changes,
      page: null,
      monitors,
    };
  });
}

/** Notes settings about the look of messages, on one line. */
function noteLook(config: NotificationConfig, look: readonly string[], notes: Notes): void {
  const used = look.filter((name) => {
    const value = textOf(config[name]);
    return value !== "" && value !== "false";
  });
  if (used.length > 0)
    notes.drop(used.join(", "), "Messages have the words and the look of Allclear.");
}

function usageOf(monitors: ReadonlySet<MonitorRow>): string {
  const names = [...monitors].slice(0, NAMED_MAX).map(({ name }) => oneLine(text(name)));
  const left = monitors.size - names.length;
  if (names.length === 0) return "No monitor uses it.";
  return `Used by ${names.join(", ")}${left > 0 ? ` and ${plural(left, "more monitor")}` : ""}.`;
}
