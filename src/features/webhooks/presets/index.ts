/* Requests of services for the format `template`: data that fills the form of a webhook, and that imports use. */
import type { CreateWebhookBody } from "../wire";
import alerta from "./alerta.json";
import apprise from "./apprise.json";
import bark from "./bark.json";
import elks from "./46elks.json";
import feishu from "./feishu.json";
import goalert from "./goalert.json";
import googleChat from "./google-chat.json";
import grafanaOncall from "./grafana-oncall.json";
import homeAssistant from "./home-assistant.json";
import jiraServiceManagement from "./jira-service-management.json";
import line from "./line.json";
import matrix from "./matrix.json";
import mattermost from "./mattermost.json";
import opsgenie from "./opsgenie.json";
import pagerduty from "./pagerduty.json";
import pagertree from "./pagertree.json";
import pushbullet from "./pushbullet.json";
import pushover from "./pushover.json";
import rocketChat from "./rocket-chat.json";
import signal from "./signal.json";
import signl4 from "./signl4.json";
import splunkOnCall from "./splunk-on-call.json";
import squadcast from "./squadcast.json";
import twilio from "./twilio.json";
import wecom from "./wecom.json";
import zulip from "./zulip.json";

/** A preset as its file has it. */
export interface Preset {
  /** Name of the service, and a hint about its side. */
  label: string;
  hint: string;
  url: string;
  /** Types of events that the form selects; all if omitted. */
  events?: readonly string[];
  method: string;
  headers: Readonly<Record<string, string>>;
  /** Text, or an object for JSON. */
  body: string | object;
  /** Parts of the request for the end that differ. */
  resolve?: { url?: string; body?: string | object };
  title_limit?: number;
  text_limit?: number;
  /** Hints about the secrets by name. */
  secrets: Readonly<Record<string, string>>;
}

/** Every preset by its name, in alphabetical order. */
export const PRESETS = {
  "46elks": elks,
  alerta,
  apprise,
  bark,
  feishu,
  goalert,
  "google-chat": googleChat,
  "grafana-oncall": grafanaOncall,
  "home-assistant": homeAssistant,
  "jira-service-management": jiraServiceManagement,
  line,
  matrix,
  mattermost,
  opsgenie,
  pagerduty,
  pagertree,
  pushbullet,
  pushover,
  "rocket-chat": rocketChat,
  signal,
  signl4,
  "splunk-on-call": splunkOnCall,
  squadcast,
  twilio,
  wecom,
  zulip,
} satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof PRESETS;

export function presetNamed(name: string): Preset | undefined {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name as PresetName] : undefined;
}

/** Returns the settings of the format `template` that a preset stands for, without secrets. */
export function presetSettings(preset: Preset): NonNullable<CreateWebhookBody["settings"]> {
  const { method, headers, body, resolve = {}, title_limit, text_limit } = preset;
  const settings = {
    method,
    headers,
    body: textOf(body),
    resolve_url: resolve.url,
    resolve_body: resolve.body === undefined ? undefined : textOf(resolve.body),
    title_limit,
    text_limit,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function textOf(body: string | object): string {
  return typeof body === "string" ? body : JSON.stringify(body, undefined, 2);
}
