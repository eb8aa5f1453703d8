import type { WebhookFormat } from "../../../base/webhook";
import { mailtoOf } from "../../webhooks/recipient";
import { anything, flag, type Table, text, whole } from "./fields";

/** Receiver of messages, with the settings that its format needs. */
export interface Receiver {
  url: string;
  settings?: Record<string, unknown>;
}

export interface ProviderRow {
  /** Name for people. */
  label: string;
  format: WebhookFormat;
  fields: Table;
  /** Fields whose values are secrets. */
  secrets: readonly string[];
  /** Fields without counterpart, which the report names. */
  dropped: readonly string[];
  /** Returns the receivers, or the reason, in one sentence, for which there is none. */
  receiversOf(config: ProviderConfig): Receiver[] | string;
}

/** Fields of a provider by name. Numbers and flags are not used. */
export type ProviderConfig = Readonly<Record<string, unknown>>;

const title = text("Not moved: messages have titles of their own.");
const priority = whole("Not moved: messages have priorities of their own.");
const client = anything("Not moved.");

function textIn(config: ProviderConfig, name: string): string {
  const value = config[name];
  return typeof value === "string" ? value : "";
}

/** Returns the row of a provider that needs nothing but a URL. */
function byUrl(label: string, format: WebhookFormat, dropped: Table): ProviderRow {
  return {
    label,
    format,
    fields: { "webhook-url": text("`url`"), ...dropped },
    secrets: ["webhook-url"],
    dropped: Object.keys(dropped),
    receiversOf(config) {
      const url = textIn(config, "webhook-url");
      return url === "" ? "It has no webhook-url." : [{ url }];
    },
  };
}

/** Providers of alerts that become webhooks. Their fields may be overridden by group. */
export const PROVIDERS: Readonly<Record<string, ProviderRow>> = {
  slack: byUrl("Slack", "slack", { title }),
  discord: byUrl("Discord", "discord", {
    title,
    "message-content": text("Not moved: messages mention nobody."),
  }),
  "teams-workflows": byUrl("Microsoft Teams", "teams", { title }),
  telegram: {
    label: "Telegram",
    format: "telegram",
    fields: {
      token: text("`settings.bot_token`"),
      id: text("`settings.chat_id`"),
      "topic-id": text("`settings.message_thread_id`"),
      "api-url": text("`url`, https://api.telegram.org by default."),
      client,
    },
    secrets: ["token"],
    dropped: ["client"],
    receiversOf(config) {
      const [token, id, topic] = ["token", "id", "topic-id"].map((name) => textIn(config, name));
      if (!token || !id) return "It has no token or no id.";
      const thread = Number(topic);
      return [
        {
          url: textIn(config, "api-url") || "https://api.telegram.org",
          settings: {
            bot_token: token,
            chat_id: id,
            ...(topic && { message_thread_id: thread }),
          },
        },
      ];
    },
  },
  ntfy: {
    label: "ntfy",
    format: "ntfy",
    fields: {
      url: text("`url` with the topic, https://ntfy.sh by default."),
      topic: text("`url` with the topic."),
      token: text("`settings.token`"),
      priority,
      email: text("Not moved."),
      click: text("Not moved: messages lead to the status page."),
      "disable-firebase": flag("Not moved."),
      "disable-cache": flag("Not moved."),
    },
    secrets: ["token"],
    dropped: ["priority", "email", "click", "disable-firebase", "disable-cache"],
    receiversOf(config) {
      const [topic, token] = [textIn(config, "topic"), textIn(config, "token")];
      if (topic === "") return "It has no topic.";
      const server = (textIn(config, "url") || "https://ntfy.sh").replace(/\/+$/, "");
      return [{ url: `${server}/${topic}`, ...(token !== "" && { settings: { token } }) }];
    },
  },
  gotify: {
    label: "Gotify",
    format: "gotify",
    fields: {
      "server-url": text("`url`"),
      token: text("`settings.token`"),
      priority,
      title,
    },
    secrets: ["token"],
    dropped: ["priority", "title"],
    receiversOf(config) {
      const [url, token] = [textIn(config, "server-url"), textIn(config, "token")];
      return url === "" || token === ""
        ? "It has no server-url or no token."
        : [{ url, settings: { token } }];
    },
  },
  email: {
    label: "Mail",
    format: "email",
    fields: {
      to: text("`url`: a webhook of the format `email` for each address, where mail is set up."),
      from: text("Not moved: mails have the sender of this server."),
      host: text("Not moved: mails go through the relay of this server."),
      port: whole("Not moved."),
      username: text("Not moved."),
      password: text("Not moved."),
      client,
    },
    secrets: ["password"],
    dropped: ["from", "host", "port", "username", "password", "client"],
    receiversOf(config) {
      const addresses = textIn(config, "to")
        .split(",")
        .map((address) => address.trim());
      const known = [...new Set(addresses)].filter((address) => address !== "");
      return known.length === 0 ? "It has no address." : known.map((to) => ({ url: mailtoOf(to) }));
    },
  },
};

/** Providers that have no counterpart. */
export const OTHER_PROVIDERS = [
  "aws-ses",
  "clickup",
  "custom",
  "datadog",
  "gitea",
  "github",
  "gitlab",
  "googlechat",
  "homeassistant",
  "ifttt",
  "ilert",
  "incident-io",
  "line",
  "matrix",
  "mattermost",
  "messagebird",
  "n8n",
  "newrelic",
  "opsgenie",
  "pagerduty",
  "plivo",
  "pushover",
  "rocketchat",
  "sendgrid",
  "signal",
  "signl4",
  "splunk",
  "squadcast",
  "teams",
  "twilio",
  "vonage",
  "webex",
  "zapier",
  "zulip",
] as const;
