import { beforeAll, describe, expect, test } from "bun:test";
import { isForPeople } from "../../src/base/webhook";
import type { PresetName } from "../../src/features/webhooks/presets";
import { validateDestination } from "../../src/features/webhooks/formats";
import type { FoundWebhook } from "../../src/imports/found";
import { NOTIFICATION_TYPES } from "../../src/imports/uptime-kuma/notifications";
import { BY_TEMPLATE } from "../../src/imports/uptime-kuma/receivers";
import { documentedBy, expectDocumented, requestOf } from "../support/documented-requests";
import { findInRows } from "../support/kuma-monitor";
import { collectEvents, type EventsByType } from "../support/webhook-events";

let events: EventsByType;
beforeAll(async () => {
  events = await collectEvents();
});

/** Reads notifications as Uptime Kuma stores them. */
function readNotification(type: string, config: object) {
  return findInRows({
    notification: [
      { id: 1, name: "Ours", active: 1, config: JSON.stringify({ type, name: "Ours", ...config }) },
    ],
  });
}

/** Returns the webhook that a notification becomes. Throws without one. */
function webhookOf(type: string, config: object): FoundWebhook {
  const [webhook] = readNotification(type, config).webhooks;
  if (!webhook) throw new Error(`${type} becomes no webhook`);
  return webhook;
}

const SID = "AC0123456789abcdef0123456789abcdef";

/** A notification of each type, with the secrets of the documented request of its service. */
const NOTIFICATIONS: Record<keyof typeof BY_TEMPLATE, [preset: PresetName, config: object]> = {
  PagerDuty: [
    "pagerduty",
    {
      pagerdutyIntegrationKey: "0123456789abcdef0123456789abcdef",
      pagerdutyIntegrationUrl: "https://events.pagerduty.com/v2/enqueue",
      pagerdutyPriority: "error",
      pagerdutyAutoResolve: "resolve",
    },
  ],
  Opsgenie: [
    "opsgenie",
    {
      opsgenieApiKey: "eb243592-faa2-4ba2-a551q-1afdf565c889",
      opsgenieRegion: "us",
      opsgeniePriority: 2,
    },
  ],
  GrafanaOncall: [
    "grafana-oncall",
    {
      GrafanaOncallURL:
        "https://oncall.example.com/integrations/v1/formatted_webhook/m12xmIjOcgwH74UF8CN4dk0Dh/",
    },
  ],
  GoogleChat: [
    "google-chat",
    {
      googleChatWebhookURL:
        "https://chat.googleapis.com/v1/spaces/AAAAGCYeSRY/messages?key=AIzaSyDdI0hCZtE6vySjMm-WEfRq3CPzqKqqsHI&token=kVJnCQjwX5aJ2NbBvKDjvlOY%3D",
    },
  ],
  mattermost: [
    "mattermost",
    {
      mattermostWebhookUrl: "https://mattermost.example.com/hooks/xxx-generatedkey-xxx",
      mattermostchannel: "town-square",
    },
  ],
  "rocket.chat": [
    "rocket-chat",
    { rocketwebhookURL: "https://chat.example.com/hooks/5a4f2c/kXyZ", rocketchannel: "#ops" },
  ],
  matrix: [
    "matrix",
    {
      homeserverUrl: "https://matrix.example.com/",
      internalRoomId: "!636q39766251:example.com",
      accessToken: "syt_abc",
    },
  ],
  pushover: [
    "pushover",
    {
      pushoveruserkey: "uQiRzpo4DXghDmr9QzzfQu27cmVRsG",
      pushoverapptoken: "azGDORePK8gMaC0QOYAMyEEuzJnyUi",
      pushoverpriority: "1",
      pushoversounds: "siren",
      pushoverdevice: "my phone",
      pushoverttl: 3600,
    },
  ],
  signal: [
    "signal",
    {
      signalURL: "http://signal.example.com:8080/v2/send",
      signalNumber: "+431212131491291",
      signalRecipients: "+4354546464654",
    },
  ],
  HomeAssistant: [
    "home-assistant",
    {
      homeAssistantUrl: "http://homeassistant.example.com:8123/",
      longLivedAccessToken: "ABCDEFGH",
      notificationService: "",
    },
  ],
  twilio: [
    "twilio",
    {
      twilioAccountSID: SID,
      twilioAuthToken: "your_auth_token",
      twilioToNumber: "+14155552345",
      twilioFromNumber: "+14155552344",
      twilioMessagingServiceSID: "MG01",
    },
  ],
  Splunk: [
    "splunk-on-call",
    {
      splunkRestURL:
        "https://alert.victorops.com/integrations/generic/20131114/alert/558e7ebc-XXXX/database",
      splunkSeverity: "CRITICAL",
      splunkAutoResolve: "RECOVERY",
    },
  ],
  pushbullet: ["pushbullet", { pushbulletAccessToken: "o.abc" }],
  alerta: [
    "alerta",
    {
      alertaApiEndpoint: "https://alerta.example.com/api/alert",
      alertaApiKey: "demo-key",
      alertaEnvironment: "Development",
      alertaAlertState: "critical",
      alertaRecoverState: "normal",
    },
  ],
  PagerTree: [
    "pagertree",
    {
      pagertreeIntegrationUrl: "https://api.pagertree.com/integration/int_xxxxxxxxxx",
      pagertreeAutoResolve: "resolve",
      pagertreeUrgency: "high",
    },
  ],
  Bark: [
    "bark",
    {
      barkEndpoint: "https://api.day.app/ynJ5Ft4atkMkWeo2PAvFhF/",
      barkGroup: "Kuma",
      barkSound: "bell",
    },
  ],
  squadcast: [
    "squadcast",
    { squadcastWebhookURL: "https://api.squadcast.com/v2/incidents/api/0123456789abcdef" },
  ],
  Feishu: [
    "feishu",
    { feishuWebHookUrl: "https://open.feishu.cn/open-apis/bot/v2/hook/webhook-id" },
  ],
  WeCom: ["wecom", { weComBotKey: "693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa" }],
  line: ["line", { lineChannelAccessToken: "token", lineUserID: "U4af4980629" }],
  SIGNL4: ["signl4", { webhookURL: "https://connect.signl4.com/webhook/teamsecret" }],
  GoAlert: [
    "goalert",
    { goAlertBaseURL: "https://goalert.example.com/", goAlertToken: "key-here" },
  ],
  "46elks": [
    "46elks",
    {
      elksUsername: "u2c11ef6",
      elksAuthToken: "pass",
      elksFromNumber: "CurlyElk",
      elksToNumber: "+46766861004",
    },
  ],
};

test("at least 25 types of notifications of Uptime Kuma become webhooks", () => {
  expect(Object.keys(NOTIFICATION_TYPES).length).toBeGreaterThanOrEqual(25);
});

describe.each(Object.entries(NOTIFICATIONS))(
  "a notification of the type %s",
  (type, [preset, config]) => {
    test("becomes a webhook whose requests are those that the service documents", async () => {
      const { body, changes } = webhookOf(type, config);
      const { url, settings = {}, format } = body;
      expect([format, changes.map(({ field }) => field)]).toEqual([
        "template",
        type === "PagerTree" ? ["pagertreeUrgency"] : [],
      ]);
      expect(validateDestination("template", url, settings)).toEqual([]);
      const { begin, end = begin } = await documentedBy(preset);
      expectDocumented(requestOf(url, settings, events["monitor.down"]), begin);
      expectDocumented(requestOf(url, settings, events["monitor.up"]), end);
    });

    test("has its credentials as secrets alone", async () => {
      const { body } = webhookOf(type, config);
      const { secrets, ...open } = body.settings as { secrets: Record<string, string> };
      const documented = await documentedBy(preset);
      const all = Object.values(documented.secrets);
      const known = Object.values(secrets).map((text) => decodeURIComponent(text));
      expect(known.toSorted()).toEqual(all.map((text) => decodeURIComponent(text)).toSorted());
      const readable = JSON.stringify([body.url, open]);
      for (const secret of all.filter(({ length }) => length > 3)) {
        expect(readable).not.toContain(JSON.stringify(secret).slice(1, -1));
      }
    });

    test("without its settings is named with the reason, or rejected by its destination", () => {
      const { webhooks, leftOut } = readNotification(type, {});
      const [webhook] = webhooks;
      if (!webhook)
        return expect(leftOut[0]?.reason).toMatch(/^Its address is not one of .+\. No /);
      const { url, settings = {} } = webhook.body;
      expect(validateDestination("template", url, settings)).not.toEqual([]);
    });
  },
);

describe("what a notification says about the end of an outage", () => {
  test.each([
    ["PagerDuty", "pagerdutyAutoResolve"],
    ["Splunk", "splunkAutoResolve"],
    ["PagerTree", "pagertreeAutoResolve"],
  ] as const)("the end of %s that is not reported there is not here", (type, field) => {
    const [, config] = NOTIFICATIONS[type];
    const settingsOf = (value: string) =>
      webhookOf(type, { ...config, [field]: value }).body.settings;
    expect(settingsOf("0")).not.toHaveProperty("resolve_body");
    expect(settingsOf("")).toHaveProperty("resolve_body");
  });

  test("an end that is only acknowledged is so here", () => {
    const [, config] = NOTIFICATIONS.PagerDuty;
    const { settings } = webhookOf("PagerDuty", {
      ...config,
      pagerdutyAutoResolve: "acknowledge",
    }).body;
    expect(JSON.parse(String(settings?.["resolve_body"]))).toMatchObject({
      event_action: "acknowledge",
    });
  });
});

describe("the parts of a notification", () => {
  const requestFor = (type: keyof typeof NOTIFICATIONS, more: object) => {
    const { url, settings = {} } = webhookOf(type, { ...NOTIFICATIONS[type][1], ...more }).body;
    return requestOf(url, settings, events["monitor.down"]);
  };

  test("an account of Opsgenie in Europe has that address for both requests", () => {
    const { url, settings } = webhookOf("Opsgenie", {
      ...NOTIFICATIONS.Opsgenie[1],
      opsgenieRegion: "eu",
    }).body;
    expect([url, settings?.["resolve_url"]]).toEqual([
      "https://api.eu.opsgenie.com/v2/alerts",
      "https://api.eu.opsgenie.com/v2/alerts/{key}/close?identifierType=alias",
    ]);
  });

  test("several recipients of Signal all get the message", () => {
    expect(requestFor("signal", { signalRecipients: "+1, +2,+3" }).body).toMatchObject({
      recipients: ["+1", "+2", "+3"],
    });
  });

  test("a message of Pushover that must be acknowledged is repeated", () => {
    expect(requestFor("pushover", { pushoverpriority: "2" }).body).toMatchObject({
      priority: "2",
      retry: "30",
      expire: "3600",
      device: "my phone",
    });
  });

  test("an API key of Twilio takes the place of the account's credentials", () => {
    expect(requestFor("twilio", { twilioApiKey: "SK1" }).headers["authorization"]).toBe(
      `Basic ${btoa("SK1:your_auth_token")}`,
    );
  });

  test("an action of Home Assistant is the last part of the address", () => {
    const { url } = requestFor("HomeAssistant", { notificationService: "mobile_app_phone" });
    expect(url).toEndWith("/api/services/notify/mobile_app_phone");
  });

  test.each([
    "https://mattermost.example.com/",
    "https://mattermost.example.com/hooks/a?b=c",
    "https://mattermost.example.com/hooks/a//",
    "no address",
  ])("the address %s of Mattermost is left out with its reason", (mattermostWebhookUrl) => {
    const { webhooks, leftOut } = readNotification("mattermost", { mattermostWebhookUrl });
    expect(webhooks).toEqual([]);
    expect(leftOut[0]?.reason).toBe("Its address is not one of Mattermost. No monitor uses it.");
  });

  test("only messages of programs keep the words of Uptime Kuma", () => {
    const kept = Object.values(NOTIFICATION_TYPES).filter(({ to }) => !isForPeople(to));
    expect(kept.map(({ to }) => to)).toEqual(["uptime-kuma"]);
  });
});
