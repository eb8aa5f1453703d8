import type { WebhookFormat } from "../../../base/webhook";
import type { Mapping } from "./mapping";
import { object, textOf } from "./values";

/** Settings of a notification. */
export type NotificationConfig = Readonly<Record<string, unknown>>;

/** Address of a receiver here, with its settings, or the reason for which it cannot be moved. */
export type Receiver = { url: string; settings?: Record<string, unknown> } | { reason: string };

interface NotificationMapping extends Mapping {
  to: WebhookFormat;
  /** Returns the receivers; several only for addresses of mail. */
  read: (config: NotificationConfig) => readonly Receiver[];
  /** Fields about the look of messages, which have no counterpart. */
  look: readonly string[];
}

const field = (config: NotificationConfig, name: string) => textOf(config[name]).trim();

/** Returns an object without empty texts. */
function filled(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ""));
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
export function notificationOf(type: string): NotificationMapping | undefined {
  return Object.hasOwn(NOTIFICATION_TYPES, type)
    ? NOTIFICATION_TYPES[type as keyof typeof NOTIFICATION_TYPES]
    : undefined;
}
