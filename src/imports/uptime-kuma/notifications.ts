import type { ForeignObject } from "../../base/import-report";
import { oneLine, plural } from "../../base/text";
import {
  type ForeignKey,
  type Found,
  type FoundMonitor,
  type FoundWebhook,
  keyOf,
  type LeftOut,
} from "../found";
import {
  byId,
  flag,
  groupedBy,
  idOf,
  type KumaData,
  type MonitorRow,
  object,
  type Row,
  text,
  textOf,
} from "./database";
import { foreignMonitor, isGroup, type MonitorTree } from "./monitors";
import {
  BY_TEMPLATE,
  field,
  filled,
  type NotificationConfig,
  type NotificationMapping,
  type Receiver,
} from "./receivers";
import { cutName, Notes } from "../kit";

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

/** Finds the webhooks that notifications become. Those without a counterpart are left out. */
export function findWebhooks(
  data: KumaData,
  tree: MonitorTree,
  domains: readonly DomainMonitor[],
  found: Found,
): void {
  const monitors = byId(data.monitor);
  const assigned = groupedBy(data.monitor_notification, "notification_id");
  const all = data.monitor.filter((monitor) => isChecked(monitor));
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
    for (const receiver of receivers) {
      if ("reason" in receiver) {
        const reason = `${receiver.reason} ${usageOf(reached)}`;
        found.leftOut.push({ ...receiver, reason });
      } else found.webhooks.push(receiver);
    }
  }
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

/** Notifications by their type. A type that is missing here is not moved. */
export const NOTIFICATION_TYPES = {
  slack: {
    to: "slack",
    rule: "`slackwebhookURL`. The channel is that of the webhook.",
    look: ["slackchannel", "slackusername", "slackiconemo", "slackchannelnotify", "slackTemplate"],
    read: (config) => [{ url: field(config, "slackwebhookURL") }],
  },
  discord: {
    to: "discord",
    rule: "`discordWebhookUrl`, with `threadId`. Not moved if it creates posts in a forum.",
    look: ["discordUsername", "discordPrefixMessage", "discordMessageTemplate"],
    read: (config) => [discordReceiver(config)],
  },
  telegram: {
    to: "telegram",
    rule: "`telegramBotToken`, `telegramChatID`, `telegramMessageThreadID`, `telegramServerUrl`.",
    look: ["telegramTemplate", "telegramSendSilently", "telegramProtectContent"],
    read: (config) => {
      const thread = Number(field(config, "telegramMessageThreadID"));
      const settings = {
        bot_token: field(config, "telegramBotToken"),
        chat_id: field(config, "telegramChatID"),
        message_thread_id: Number.isInteger(thread) && thread > 0 ? thread : "",
      };
      const url = field(config, "telegramServerUrl") || "https://api.telegram.org";
      return [{ url, settings: filled(settings) }];
    },
  },
  gotify: {
    to: "gotify",
    rule: "`gotifyserverurl`, `gotifyapplicationToken`.",
    look: ["gotifyPriority"],
    read: (config) => [
      {
        url: field(config, "gotifyserverurl"),
        settings: { token: field(config, "gotifyapplicationToken") },
      },
    ],
  },
  ntfy: {
    to: "ntfy",
    rule: "`ntfyserverurl` and `ntfytopic`, with `ntfyaccesstoken`, or the user and the password.",
    look: [
      "ntfyPriority",
      "ntfyPriorityDown",
      "ntfyIcon",
      "ntfyCall",
      "ntfyCustomTitle",
      "ntfyCustomMessage",
    ],
    read: (config) => {
      const url = `${field(config, "ntfyserverurl").replace(/\/+$/, "")}/${field(config, "ntfytopic")}`;
      return [{ url, settings: ntfySettings(config) }];
    },
  },
  teams: {
    to: "teams",
    rule: "`webhookUrl` of a workflow. The retired connectors of Office are not moved.",
    look: [],
    read: (config) => {
      const url = field(config, "webhookUrl");
      const host = URL.parse(url)?.hostname ?? "";
      return /(?:^|\.)(?:webhook\.office|outlook\.office(?:365)?)\.com$/.test(host)
        ? [{ reason: "Microsoft has retired connectors of Office. Create a workflow instead." }]
        : [{ url }];
    },
  },
  webhook: {
    to: "uptime-kuma",
    rule: "`webhookURL` and `webhookAdditionalHeaders`, with the same JSON. Forms, templates and GET are not moved.",
    look: [],
    read: (config) => [webhookReceiver(config)],
  },
  smtp: {
    to: "email",
    rule: "Team mail to each address of `smtpTo`, `smtpCC` and `smtpBCC`, by the relay here.",
    look: ["customSubject", "customBody"],
    read: (config) => {
      const addresses = ["smtpTo", "smtpCC", "smtpBCC"]
        .flatMap((name) => field(config, name).split(/[,;]/))
        .flatMap((address) => /<([^<>]+)>\s*$/.exec(address)?.[1] ?? address)
        .map((address) => address.trim())
        .filter(Boolean);
      if (addresses.length === 0) return [{ reason: "It names no address." }];
      return [...new Set(addresses)].map((address) => ({ url: `mailto:${address}` }));
    },
  },
  ...BY_TEMPLATE,
} as const satisfies Readonly<Record<string, NotificationMapping>>;

function discordReceiver(config: NotificationConfig): Receiver {
  const kind = field(config, "discordChannelType");
  if (kind === "createNewForumPost") {
    return { reason: "It creates a post in a forum for each message." };
  }
  const thread = field(config, "threadId");
  const url = URL.parse(field(config, "discordWebhookUrl"));
  if (!url) return { reason: "Its address cannot be read." };
  if (kind === "postToThread" && thread !== "") url.searchParams.set("thread_id", thread);
  return { url: url.href };
}

function webhookReceiver(config: NotificationConfig): Receiver {
  const content = field(config, "webhookContentType") || "json";
  const method = field(config, "httpMethod").toLowerCase() || "post";
  if (method !== "post") return { reason: "It sends GET requests, or others than POST." };
  if (content !== "json") {
    const way = content === "custom" ? "by a template of its own" : "as a form";
    return { reason: `It writes messages ${way}.` };
  }
  const written = field(config, "webhookAdditionalHeaders");
  const fields = object(written);
  // Invalid ones are kept, so that the report names them.
  const headers = fields
    ? JSON.stringify(
        Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)])),
      )
    : written;
  return { url: field(config, "webhookURL"), settings: filled({ headers }) };
}

function ntfySettings(config: NotificationConfig): Record<string, unknown> {
  switch (field(config, "ntfyAuthenticationMethod")) {
    case "accessToken":
      return filled({ token: field(config, "ntfyaccesstoken") });
    case "usernamePassword": {
      const [user, password] = ["ntfyusername", "ntfypassword"].map((name) => textOf(config[name]));
      const encoded = Buffer.from(`${user}:${password}`).toString("base64");
      return { authorization: `Basic ${encoded}` };
    }
    default:
      return {};
  }
}

/** Returns the mapping of a type of notifications; undefined for one without a counterpart. */
function notificationOf(type: string): NotificationMapping | undefined {
  return Object.hasOwn(NOTIFICATION_TYPES, type)
    ? NOTIFICATION_TYPES[type as keyof typeof NOTIFICATION_TYPES]
    : undefined;
}
