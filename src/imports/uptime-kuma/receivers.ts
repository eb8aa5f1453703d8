/* Notifications that become webhooks by a template: each by the preset of its service. */
import type { WebhookFormat } from "../../base/webhook";
import { PRESETS, type Preset, presetSettings } from "../../features/webhooks/presets";
import { textOf } from "./database";
import type { Mapping } from "./tables";

/** Settings of a notification. */
export type NotificationConfig = Readonly<Record<string, unknown>>;

/** Address of a receiver here, with its settings, or the reason for which it cannot be moved. */
export type Receiver = { url: string; settings?: Record<string, unknown> } | { reason: string };

export interface NotificationMapping extends Mapping {
  to: WebhookFormat;
  /** Returns the receivers; several only for addresses of mail. */
  read: (config: NotificationConfig) => readonly Receiver[];
  /** Fields about the look of messages, which have no counterpart. */
  look: readonly string[];
}

export const field = (config: NotificationConfig, name: string) => textOf(config[name]).trim();

/** Returns an object without empty texts. */
export function filled(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ""));
}

type Read = (config: NotificationConfig) => Receiver;

/** Returns the mapping of a type to a preset. `fields` are those that it takes over. */
function byPreset(
  preset: Preset,
  fields: string,
  look: readonly string[],
  read: Read,
): NotificationMapping {
  const rule = `The preset ${preset.label}, with ${fields}.`;
  return { to: "template", rule, look, read: (config) => [read(config)] };
}

/** Returns the receiver that a preset describes, with its secrets and what differs from the preset. */
function receiver(
  preset: Preset,
  secrets: Readonly<Record<string, string>>,
  differences: Partial<Pick<Preset, "url" | "headers" | "body" | "resolve">> = {},
): Receiver {
  const own = { ...preset, ...differences };
  return { url: own.url, settings: { ...presetSettings(own), secrets } };
}

/** Returns a preset without a request for the end. */
function withoutEnd(preset: Preset): Preset {
  const { resolve: _resolve, ...others } = preset;
  return others;
}

/**
 * Returns an address whose last parts are secrets with a placeholder for each, and these secrets; undefined for an address
 * of another shape.
 */
function partsOf(
  address: string,
  names: readonly string[],
): { url: string; secrets: Record<string, string> } | undefined {
  const url = URL.parse(address);
  if (!url || url.search !== "" || url.hash !== "") return undefined;
  const [, path = "", slash = ""] = /^(.*?)(\/?)$/.exec(url.pathname) ?? [];
  const parts = path.split("/");
  const values = parts.slice(-names.length);
  if (parts.length <= names.length || values.includes("")) return undefined;
  const open = [...parts.slice(0, -names.length), ...names.map((name) => `{secret.${name}}`)];
  return {
    url: url.origin + open.join("/") + slash,
    secrets: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])),
  };
}

/** Returns the receiver of a preset at an address whose last parts are its secrets. */
function receiverAt(
  preset: Preset,
  address: string,
  differences: Parameters<typeof receiver>[2] = {},
): Receiver {
  const parts = partsOf(address, Object.keys(preset.secrets));
  if (!parts) return { reason: `Its address is not one of ${preset.label}.` };
  return receiver(preset, parts.secrets, { ...differences, url: parts.url });
}

/** Returns an address without slashes at its end. */
function base(config: NotificationConfig, name: string): string {
  return field(config, name).replace(/\/+$/, "");
}

/** Returns fields of a form as they follow others. */
function further(fields: Readonly<Record<string, string>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== "");
  return given.map(([name, value]) => `&\n${name}=${encodeURIComponent(value)}`).join("");
}

/** Types by their names in Uptime Kuma. */
export const BY_TEMPLATE = {
  PagerDuty: byPreset(
    PRESETS.pagerduty,
    "`pagerdutyIntegrationKey`, `pagerdutyIntegrationUrl`, `pagerdutyPriority`, `pagerdutyAutoResolve`",
    [],
    (config) => {
      const preset = PRESETS.pagerduty;
      const end = field(config, "pagerdutyAutoResolve") || "resolve";
      const severity = field(config, "pagerdutyPriority") || "warning";
      return receiver(
        end === "0" ? withoutEnd(preset) : preset,
        { INTEGRATION_KEY: field(config, "pagerdutyIntegrationKey") },
        {
          url: field(config, "pagerdutyIntegrationUrl") || preset.url,
          body: { ...preset.body, payload: { ...preset.body.payload, severity } },
          ...(end !== "0" && { resolve: { body: { ...preset.resolve.body, event_action: end } } }),
        },
      );
    },
  ),
  Opsgenie: byPreset(
    PRESETS.opsgenie,
    "`opsgenieApiKey`, `opsgenieRegion`, `opsgeniePriority`",
    [],
    (config) => {
      const { url, body, resolve } = PRESETS.opsgenie;
      const isInEurope = field(config, "opsgenieRegion") === "eu";
      const regional = (text: string) =>
        isInEurope ? text.replace("//api.opsgenie", "//api.eu.opsgenie") : text;
      return receiver(
        PRESETS.opsgenie,
        { API_KEY: field(config, "opsgenieApiKey") },
        {
          url: regional(url),
          body: { ...body, priority: `P${field(config, "opsgeniePriority") || "3"}` },
          resolve: { ...resolve, url: regional(resolve.url) },
        },
      );
    },
  ),
  GrafanaOncall: byPreset(PRESETS["grafana-oncall"], "`GrafanaOncallURL`", [], (config) =>
    receiverAt(PRESETS["grafana-oncall"], field(config, "GrafanaOncallURL")),
  ),
  GoogleChat: byPreset(
    PRESETS["google-chat"],
    "`googleChatWebhookURL`",
    ["googleChatUseTemplate", "googleChatTemplate"],
    (config) => {
      const url = URL.parse(field(config, "googleChatWebhookURL"));
      const [, space] = /^\/v1\/spaces\/([^/]+)\/messages$/.exec(url?.pathname ?? "") ?? [];
      const [key, token] = ["key", "token"].map((name) => url?.searchParams.get(name));
      if (!space || !key || !token) return { reason: "Its address is not one of Google Chat." };
      return receiver(PRESETS["google-chat"], { SPACE: space, KEY: key, TOKEN: token });
    },
  ),
  mattermost: byPreset(
    PRESETS.mattermost,
    "`mattermostWebhookUrl`, `mattermostchannel`",
    [
      "mattermostusername",
      "mattermosticonemo",
      "mattermosticonurl",
      "mattermostIconEmojiOnline",
      "mattermostIconEmojiOffline",
    ],
    (config) => {
      const channel = field(config, "mattermostchannel");
      return receiverAt(PRESETS.mattermost, field(config, "mattermostWebhookUrl"), {
        body: { ...PRESETS.mattermost.body, ...filled({ channel }) },
      });
    },
  ),
  "rocket.chat": byPreset(
    PRESETS["rocket-chat"],
    "`rocketwebhookURL`, `rocketchannel`",
    ["rocketusername", "rocketiconemo", "rocketbutton"],
    (config) => {
      const channel = field(config, "rocketchannel");
      return receiverAt(PRESETS["rocket-chat"], field(config, "rocketwebhookURL"), {
        body: { ...PRESETS["rocket-chat"].body, ...filled({ channel }) },
      });
    },
  ),
  matrix: byPreset(
    PRESETS.matrix,
    "`homeserverUrl`, `internalRoomId`, `accessToken`",
    ["matrixUseTemplate", "matrixTemplate"],
    (config) =>
      receiver(
        PRESETS.matrix,
        { ROOM_ID: field(config, "internalRoomId"), ACCESS_TOKEN: field(config, "accessToken") },
        {
          url: PRESETS.matrix.url.replace(/^https:\/\/[^/]+/, () => base(config, "homeserverUrl")),
        },
      ),
  ),
  pushover: byPreset(
    PRESETS.pushover,
    "`pushoveruserkey`, `pushoverapptoken`, `pushoverpriority`, `pushoversounds`, `pushoverdevice`, `pushoverttl`",
    ["pushovertitle", "pushoversounds_up"],
    (config) => {
      const priority = field(config, "pushoverpriority");
      const [sound = "", device = "", ttl = ""] = [
        "pushoversounds",
        "pushoverdevice",
        "pushoverttl",
      ].map((name) => field(config, name));
      // A message that has to be acknowledged is repeated.
      const repeats: Record<string, string> =
        priority === "2" ? { retry: "30", expire: "3600" } : {};
      return receiver(
        PRESETS.pushover,
        {
          APP_TOKEN: field(config, "pushoverapptoken"),
          USER_KEY: field(config, "pushoveruserkey"),
        },
        { body: PRESETS.pushover.body + further({ priority, sound, device, ttl, ...repeats }) },
      );
    },
  ),
  signal: byPreset(
    PRESETS.signal,
    "`signalURL`, `signalNumber`, `signalRecipients`",
    ["signalUseTemplate", "signalTemplate"],
    (config) => {
      const numbers = field(config, "signalRecipients").replace(/\s/g, "").split(",");
      const nameOf = (index: number) => (index === 0 ? "RECIPIENT" : `RECIPIENT_${index + 1}`);
      const recipients = numbers.map((_, index) => `{secret.${nameOf(index)}}`);
      return receiver(
        PRESETS.signal,
        {
          NUMBER: field(config, "signalNumber"),
          ...Object.fromEntries(numbers.map((number, index) => [nameOf(index), number])),
        },
        { url: field(config, "signalURL"), body: { ...PRESETS.signal.body, recipients } },
      );
    },
  ),
  HomeAssistant: byPreset(
    PRESETS["home-assistant"],
    "`homeAssistantUrl`, `longLivedAccessToken`, `notificationService`",
    [],
    (config) => {
      const action = encodeURIComponent(field(config, "notificationService") || "notify");
      return receiver(
        PRESETS["home-assistant"],
        { ACCESS_TOKEN: field(config, "longLivedAccessToken") },
        { url: `${base(config, "homeAssistantUrl")}/api/services/notify/${action}` },
      );
    },
  ),
  twilio: byPreset(
    PRESETS.twilio,
    "`twilioAccountSID`, `twilioApiKey`, `twilioAuthToken`, `twilioToNumber`, `twilioFromNumber`, `twilioMessagingServiceSID`",
    [],
    (config) => {
      const { headers, body } = PRESETS.twilio;
      const key = field(config, "twilioApiKey");
      const service = field(config, "twilioMessagingServiceSID");
      return receiver(
        PRESETS.twilio,
        {
          ACCOUNT_SID: field(config, "twilioAccountSID"),
          AUTH_TOKEN: field(config, "twilioAuthToken"),
          TO: field(config, "twilioToNumber"),
          FROM: field(config, "twilioFromNumber"),
          ...(key !== "" && { API_KEY: key }),
        },
        {
          ...(key !== "" && {
            headers: { ...headers, authorization: "Basic {secret.API_KEY}:{secret.AUTH_TOKEN}" },
          }),
          body: body + further({ MessagingServiceSid: service }),
        },
      );
    },
  ),
  Splunk: byPreset(
    PRESETS["splunk-on-call"],
    "`splunkRestURL`, `splunkSeverity`, `splunkAutoResolve`",
    [],
    (config) => {
      const preset = PRESETS["splunk-on-call"];
      const end = field(config, "splunkAutoResolve") || "RECOVERY";
      const type = field(config, "splunkSeverity") || "CRITICAL";
      return receiverAt(end === "0" ? withoutEnd(preset) : preset, field(config, "splunkRestURL"), {
        body: { ...preset.body, message_type: type },
        ...(end !== "0" && { resolve: { body: { ...preset.resolve.body, message_type: end } } }),
      });
    },
  ),
  pushbullet: byPreset(PRESETS.pushbullet, "`pushbulletAccessToken`", [], (config) =>
    receiver(PRESETS.pushbullet, { ACCESS_TOKEN: field(config, "pushbulletAccessToken") }),
  ),
  alerta: byPreset(
    PRESETS.alerta,
    "`alertaApiEndpoint`, `alertaApiKey`, `alertaEnvironment`, `alertaAlertState`, `alertaRecoverState`",
    [],
    (config) => {
      const { body, resolve } = PRESETS.alerta;
      const environment = field(config, "alertaEnvironment") || body.environment;
      const [begin, end] = ["alertaAlertState", "alertaRecoverState"].map((name) =>
        field(config, name),
      );
      return receiver(
        PRESETS.alerta,
        { API_KEY: field(config, "alertaApiKey") },
        {
          url: field(config, "alertaApiEndpoint"),
          body: { ...body, environment, severity: begin || "critical" },
          resolve: { body: { ...resolve.body, environment, severity: end || "cleared" } },
        },
      );
    },
  ),
  PagerTree: byPreset(
    PRESETS.pagertree,
    "`pagertreeIntegrationUrl`, `pagertreeAutoResolve`",
    ["pagertreeUrgency"],
    (config) => {
      const preset = PRESETS.pagertree;
      const isResolved = field(config, "pagertreeAutoResolve") !== "0";
      return receiverAt(
        isResolved ? preset : withoutEnd(preset),
        field(config, "pagertreeIntegrationUrl"),
      );
    },
  ),
  Bark: byPreset(PRESETS.bark, "`barkEndpoint`, `barkGroup`, `barkSound`", [], (config) => {
    const parts = partsOf(field(config, "barkEndpoint"), ["DEVICE_KEY"]);
    if (!parts) return { reason: "Its address is not one of Bark." };
    const [group, sound] = [field(config, "barkGroup"), field(config, "barkSound")];
    return receiver(PRESETS.bark, parts.secrets, {
      url: parts.url.replace(/\{secret\.DEVICE_KEY\}\/?$/, "push"),
      body: { ...PRESETS.bark.body, ...filled({ group, sound }) },
    });
  }),
  squadcast: byPreset(PRESETS.squadcast, "`squadcastWebhookURL`", [], (config) =>
    receiverAt(PRESETS.squadcast, field(config, "squadcastWebhookURL")),
  ),
  Feishu: byPreset(PRESETS.feishu, "`feishuWebHookUrl`", [], (config) =>
    receiverAt(PRESETS.feishu, field(config, "feishuWebHookUrl")),
  ),
  WeCom: byPreset(PRESETS.wecom, "`weComBotKey`", ["weComMentionedMobileList"], (config) =>
    receiver(PRESETS.wecom, { KEY: field(config, "weComBotKey") }),
  ),
  line: byPreset(PRESETS.line, "`lineChannelAccessToken`, `lineUserID`", [], (config) =>
    receiver(PRESETS.line, {
      CHANNEL_ACCESS_TOKEN: field(config, "lineChannelAccessToken"),
      TO: field(config, "lineUserID"),
    }),
  ),
  SIGNL4: byPreset(PRESETS.signl4, "`webhookURL`", [], (config) =>
    receiverAt(PRESETS.signl4, field(config, "webhookURL")),
  ),
  GoAlert: byPreset(PRESETS.goalert, "`goAlertBaseURL`, `goAlertToken`", [], (config) =>
    receiver(
      PRESETS.goalert,
      { INTEGRATION_KEY: field(config, "goAlertToken") },
      {
        url: PRESETS.goalert.url.replace(/^https:\/\/[^/]+/, () => base(config, "goAlertBaseURL")),
      },
    ),
  ),
  "46elks": byPreset(
    PRESETS["46elks"],
    "`elksUsername`, `elksAuthToken`, `elksFromNumber`, `elksToNumber`",
    [],
    (config) =>
      receiver(PRESETS["46elks"], {
        API_USERNAME: field(config, "elksUsername"),
        API_PASSWORD: field(config, "elksAuthToken"),
        FROM: field(config, "elksFromNumber"),
        TO: field(config, "elksToNumber"),
      }),
  ),
} as const satisfies Readonly<Record<string, NotificationMapping>>;
