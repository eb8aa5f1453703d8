import type { ImportChange } from "../../base/import-report";
import { firstNames, oneLine, plural } from "../../base/text";
import type { WebhookFormat } from "../../base/webhook";
import { mailtoOf } from "../../features/webhooks/recipient";
import { type Found, type FoundWebhook, keyOf, type LeftOut } from "../found";
import type { DefaultAlerts, Entry } from "./endpoints";
import type { Secrets } from "./secrets";
import {
  type Alert,
  ALERT,
  anything,
  flag,
  list,
  map,
  type Place,
  readTable,
  type Table,
  text,
  whole,
  WrongField,
} from "./tables";
import { isYamlMap, type Yaml } from "./yaml";

/** Receiver of messages, with the settings that its format needs. */
interface Receiver {
  url: string;
  settings?: Record<string, unknown>;
}

interface ProviderRow {
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
type ProviderConfig = Readonly<Record<string, unknown>>;

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

const TYPE = "alerting";
const DROPPED = "Messages have texts and settings of their own.";

/** A provider of alerts, as the file has it. */
interface Provider {
  name: string;
  row: ProviderRow;
  config: ProviderConfig;
  overrides: readonly { group: string; config: ProviderConfig }[];
}

/** Providers of a configuration, and what of them cannot be moved. */
interface Alerting {
  providers: Provider[];
  defaults: DefaultAlerts;
  /** Configured providers without counterpart. */
  others: string[];
  leftOut: LeftOut[];
}

/** Names of the endpoints that a reason lists. */
const NAMED_MAX = 10;

/** Reads the providers of alerts. */
export function readAlerting(value: Yaml | undefined, place: Place, secrets: Secrets): Alerting {
  const providers: Provider[] = [];
  const defaults = new Map<string, Alert>();
  const leftOut: LeftOut[] = [];
  const others: string[] = [];
  for (const [name, own] of Object.entries(isYamlMap(value) ? value : {})) {
    const here = { ...place, path: `${place.path}.${name}` };
    const row = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
    if (own === null) continue;
    try {
      const usual = isYamlMap(own) ? own["default-alert"] : undefined;
      if (usual) {
        defaults.set(
          name,
          readTable(ALERT, usual, { ...here, path: `${here.path}.default-alert` }),
        );
      }
      if (row) providers.push(readProvider(name, row, own, here, secrets));
      else if (isOther(name)) others.push(name);
      else place.notRead.add(here.path);
    } catch (error) {
      if (!(error instanceof WrongField)) throw error;
      leftOut.push({ foreign: { type: TYPE, id: name, name }, reason: `${error.message}.` });
    }
  }
  return { providers, defaults, others, leftOut };
}

function readProvider(
  name: string,
  row: ProviderRow,
  value: Yaml,
  place: Place,
  secrets: Secrets,
): Provider {
  const table = {
    ...row.fields,
    "default-alert": map(ALERT, "Default of the alerts that name the provider."),
    overrides: list("A webhook of its own for the endpoints of a group."),
  };
  const { "default-alert": _alert, overrides, ...config } = readTable(table, value, place);
  const here = { ...place, path: `${place.path}.overrides[]` };
  const own = ((overrides ?? []) as readonly Yaml[]).map((each) => {
    const fields = { ...row.fields, group: text("Group of the endpoints.") };
    const { group = "", ...rest } = readTable(fields, each, here) as ProviderConfig;
    return { group: String(group), config: { ...config, ...withoutNone(rest) } };
  });
  for (const each of [config, ...own.map((override) => override.config)]) {
    for (const field of row.secrets) {
      for (const secret of String((each as ProviderConfig)[field] ?? "").split(",")) {
        secrets.add(secret);
      }
    }
  }
  return { name, row, config, overrides: own };
}

/** Returns the fields of an override that have a value. */
function withoutNone(config: ProviderConfig): ProviderConfig {
  const given = Object.entries(config).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given);
}

/** Alerts of one receiver. */
interface Use {
  entry: Entry;
  alert: Alert;
}

/** Finds a webhook for each provider and override that alerts name. What cannot be moved is left out. */
export function findWebhooks(alerting: Alerting, entries: readonly Entry[], found: Found): void {
  const leaveOut = (type: string, id: string, name: string, reason: string) =>
    found.leftOut.push({ foreign: { type, id, name }, reason });
  const uses = entries.flatMap((entry) => entry.alerts.map((alert) => ({ entry, alert })));
  for (const one of alerting.leftOut) found.leftOut.push(one);
  for (const provider of alerting.providers) {
    const { name, overrides } = provider;
    const own = uses.filter(({ alert }) => alert.type === name);
    if (own.length === 0) leaveOut(TYPE, name, name, "No enabled alert uses it.");
    const [overridden = [], shared = []] = [true, false].map((isOverridden) =>
      own.filter(({ alert }) => (alert["provider-override"] !== undefined) === isOverridden),
    );
    for (const [index, { entry, alert }] of overridden.entries()) {
      const id = `${entry.key}:${alert.type}:${index}`;
      const of = `${alert.type} of ${entry.component.foreign.name}`;
      leaveOut("alert", id, of, "It has a provider-override. Create a webhook for it.");
    }
    const byGroup = Map.groupBy(shared, ({ entry }) =>
      overrides.some(({ group }) => group === entry.group) ? entry.group : null,
    );
    for (const [group, ofGroup] of byGroup) {
      const webhooks = webhooksOf(provider, group, ofGroup);
      if (Array.isArray(webhooks)) found.webhooks.push(...webhooks);
      else found.leftOut.push(webhooks);
    }
  }
  for (const one of missingProviders(alerting, uses)) found.leftOut.push(one);
}

/** Returns the webhooks of a provider for an overridden group, or for all others. */
function webhooksOf(
  { name, row, config, overrides }: Provider,
  group: string | null,
  uses: readonly Use[],
): FoundWebhook[] | LeftOut {
  const own = group === null ? config : overrides.find((each) => each.group === group)?.config;
  const id = group === null ? name : `${name}:group:${group}`;
  const label = group === null ? row.label : `${row.label} (${group})`;
  const receivers = row.receiversOf(own ?? {});
  if (typeof receivers === "string") {
    return { foreign: { type: TYPE, id, name: label }, reason: receivers };
  }
  const byEnd = Map.groupBy(uses, ({ alert }) => alert["send-on-resolved"] === true);
  return receivers.flatMap((receiver, index) =>
    [...byEnd].map(([tellsEnd, ofEnd]): FoundWebhook => {
      const parts = [id, ...(index > 0 ? [String(index + 1)] : []), ...(tellsEnd ? [] : ["down"])];
      const title = byEnd.size > 1 && !tellsEnd ? `${label}, without recoveries` : label;
      const reminds = ofEnd.some(({ alert }) => alert["minimum-reminder-interval"]);
      const monitors = ofEnd.flatMap(({ entry }) => entry.monitors);
      return {
        foreign: { type: TYPE, id: parts.join(":"), name: title },
        body: {
          url: receiver.url,
          description: title,
          events: [
            "monitor.down",
            ...(tellsEnd ? (["monitor.up"] as const) : []),
            ...(reminds ? (["monitor.reminder"] as const) : []),
          ],
          format: row.format,
          ...(receiver.settings && { settings: receiver.settings }),
        },
        changes: droppedIn(row, own ?? {}),
        monitors: [...new Set(monitors.map(({ foreign }) => keyOf(foreign)))],
      };
    }),
  );
}

function droppedIn({ dropped }: ProviderRow, config: ProviderConfig): ImportChange[] {
  return dropped.flatMap((field) =>
    config[field] === undefined ? [] : [{ field, from: "set", to: null, reason: DROPPED }],
  );
}

function isOther(name: string): boolean {
  return OTHER_PROVIDERS.some((other) => other === name);
}

/** Lists the providers that have no counterpart, and those that alerts name and the file does not configure. */
function missingProviders(
  { providers, others, leftOut }: Alerting,
  uses: readonly Use[],
): LeftOut[] {
  const done = new Set([
    ...providers.map(({ name }) => name),
    ...leftOut.map(({ foreign }) => foreign.id),
  ]);
  const named = uses.map(({ alert }) => alert.type ?? "");
  const missing = [...new Set([...others, ...named])].filter((type) => !done.has(type));
  return missing.map((type) => {
    const ofType = uses.filter(({ alert }) => (alert.type ?? "") === type);
    const names = [...new Set(ofType.map(({ entry }) => entry.component.foreign.name))];
    const why = isOther(type) ? "It has no counterpart here." : "It is not configured.";
    const tells = `It notifies about ${plural(names.length, "endpoint")}: ${firstNames(names, NAMED_MAX)}.`;
    const reason = names.length > 0 ? `${why} ${tells}` : why;
    return { foreign: { type: TYPE, id: type, name: oneLine(type) || "an alert" }, reason };
  });
}
