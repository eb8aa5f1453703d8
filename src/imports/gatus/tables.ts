import { readGoDuration } from "../../base/go-duration";
import { cutName } from "../kit";
import { wholeNumber } from "./conditions";
import { isYamlList, isYamlMap, type Yaml } from "./yaml";

/*
 * Fields of Gatus' files by name, each with what becomes of it. The tables read the files, find the fields that this
 * version does not know, and are the text of the documentation.
 */

/** Place of a value, such as `endpoints[].client`, and the unknown places found so far. */
export interface Place {
  path: string;
  notRead: Set<string>;
}

interface Field<Value> {
  /** Its fate, in one phrase or more for people. */
  becomes: string;
  /** Reads a value that is not null. Throws a WrongField. */
  read(value: Yaml, place: Place): Value;
}

export type Table = Readonly<Record<string, Field<unknown>>>;

/** Values of a table. Absent fields and those that are null are undefined. */
export type Values<Fields extends Table> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Field<infer Value>
    ? Value | undefined
    : never;
};

/** A value of a wrong type, which Gatus would not accept either. */
export class WrongField extends Error {
  constructor({ path }: Place, detail: string) {
    super(`${path} ${detail}`);
  }
}

/** Maximum number of characters of an unknown field that are named. */
const FIELD_NAME_MAX = 50;

/** Reads a map by its table, and notes the fields that the table lacks. Throws a WrongField. */
export function readTable<Fields extends Table>(
  table: Fields,
  value: Yaml,
  place: Place,
): Values<Fields> {
  if (!isYamlMap(value)) throw new WrongField(place, "must be a map");
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(table, name)) {
      const shown = cutName(name, "a field", FIELD_NAME_MAX);
      place.notRead.add(place.path === "" ? shown : `${place.path}.${shown}`);
    }
  }
  const pairs = Object.entries(table).map(([name, field]) => {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    const path = place.path === "" ? name : `${place.path}.${name}`;
    return [
      name,
      own === undefined || own === null ? undefined : field.read(own, { ...place, path }),
    ];
  });
  return Object.fromEntries(pairs) as Values<Fields>;
}

function scalar(value: Yaml, place: Place): string {
  if (typeof value !== "string") throw new WrongField(place, "must be text");
  return value;
}

export function text(becomes: string): Field<string> {
  return { becomes, read: scalar };
}

const TRUE: ReadonlySet<string> = new Set(["true", "yes", "on", "y"]);

const FALSE: ReadonlySet<string> = new Set(["false", "no", "off", "n"]);

export function flag(becomes: string): Field<boolean> {
  return {
    becomes,
    read(value, place) {
      const word = scalar(value, place).toLowerCase();
      if (!TRUE.has(word) && !FALSE.has(word)) throw new WrongField(place, "must be true or false");
      return TRUE.has(word);
    },
  };
}

export function whole(becomes: string): Field<number> {
  return {
    becomes,
    read(value, place) {
      const number = wholeNumber(scalar(value, place));
      if (number === undefined) throw new WrongField(place, "must be a whole number");
      return number;
    },
  };
}

/** Duration in ms. */
function duration(becomes: string): Field<number> {
  return {
    becomes,
    read(value, place) {
      const read = readGoDuration(scalar(value, place));
      if ("error" in read) throw new WrongField(place, "must be a duration, such as 1m30s");
      return read.ms;
    },
  };
}

/** Value that is kept or left out as it is. */
export function anything(becomes: string): Field<Yaml> {
  return { becomes, read: (value) => value };
}

export function map<Fields extends Table>(fields: Fields, becomes: string): Field<Values<Fields>> {
  return { becomes, read: (value, place) => readTable(fields, value, place) };
}

/** Texts by name. */
function texts(becomes: string): Field<Readonly<Record<string, string>>> {
  return {
    becomes,
    read(value, place) {
      if (!isYamlMap(value)) throw new WrongField(place, "must be a map");
      const pairs = Object.entries(value).map(([name, each]) => [name, scalar(each ?? "", place)]);
      return Object.fromEntries(pairs);
    },
  };
}

/** List whose values are read one by one, so that a wrong one leaves the others. */
export function list(becomes: string): Field<readonly Yaml[]> {
  return {
    becomes,
    read(value, place) {
      if (!isYamlList(value)) throw new WrongField(place, "must be a list");
      return value;
    },
  };
}

function textList(becomes: string): Field<readonly string[]> {
  const { read } = list(becomes);
  return { becomes, read: (value, place) => read(value, place).map((each) => scalar(each, place)) };
}

/* Fields of a configuration of Gatus, and what becomes of each. Those of receivers are in `receivers.ts`. */
const NOTHING = "Nothing: pages show neither addresses nor conditions.";

export const MAINTENANCE = {
  enabled: flag("Whether the schedule is active."),
  start: text("Start of each occurrence, as a cron expression with `every`."),
  duration: duration("Duration of each occurrence, in minutes."),
  timezone: text("Time zone of the schedule."),
  every: textList("Days of the week of the cron expression."),
};

export type Maintenance = Values<typeof MAINTENANCE>;

export const ALERT = {
  type: text("The webhooks to which the monitor is added."),
  enabled: flag("An alert that is switched off counts for nothing."),
  "failure-threshold": whole("`failure_threshold`: the smallest of all alerts, 3 by default."),
  "success-threshold": whole("`success_threshold`: the smallest of all alerts, 2 by default."),
  "minimum-reminder-interval": duration("`reminder_seconds`: the smallest of all alerts."),
  description: text("The notes of the monitor, for colleagues."),
  "send-on-resolved": flag("Unless it is true, the webhook is not sent `monitor.up`."),
  "provider-override": anything("Not moved."),
};

export type Alert = Values<typeof ALERT>;

const OAUTH2 = {
  "token-url": text("`oauth2.token_url`"),
  "client-id": text("`oauth2.client_id`"),
  "client-secret": text("`oauth2.client_secret`"),
  scopes: textList("`oauth2.scopes`"),
};

const CLIENT_TLS = {
  "certificate-file": text("`client_certificate.certificate`: the file is read."),
  "private-key-file": text("`client_certificate.key`: the file is read."),
  renegotiation: text("Nothing: there is no renegotiation."),
};

export const CLIENT = {
  timeout: duration("`timeout_ms`, 100 to 60,000."),
  insecure: flag(
    "`verify_tls` is false; for gRPC, `tls` is `require`, for mail `starttls_if_offered`.",
  ),
  "ignore-redirect": flag("`follow_redirects` is false."),
  oauth2: map(OAUTH2, "`oauth2`"),
  tls: map(CLIENT_TLS, "`client_certificate`"),
  "proxy-url": text(
    "`proxy`, for http and https; with another scheme the monitor is switched off.",
  ),
  network: text("Not moved, which the report says: any address family is used."),
  "dns-resolver": text("The monitor is switched off."),
  "identity-aware-proxy": anything("The monitor is switched off."),
  tunnel: text("The monitor is switched off."),
  "store-cookies": flag("If it is true, the monitor is switched off."),
};

export type Client = Values<typeof CLIENT>;

const ENDPOINT_UI = {
  "hide-conditions": flag(NOTHING),
  "hide-hostname": flag(NOTHING),
  "hide-url": flag(NOTHING),
  "hide-port": flag(NOTHING),
  "hide-errors": flag(NOTHING),
  "dont-resolve-failed-conditions": flag(NOTHING),
  "resolve-successful-conditions": flag(NOTHING),
  badge: anything("Not moved: badges have the colours of Gatus' defaults."),
};

export const ENDPOINT = {
  name: text(
    "Name of the component and of its monitor. With `group` it is the key, which is kept.",
  ),
  group: text("Group on the page, and group of the monitor."),
  enabled: flag(
    "If it is false, the monitor is paused, and its component is shown only if it is degraded.",
  ),
  interval: duration("`interval_seconds` and `retry_interval_seconds`, 5 to 86,400."),
  url: text("Type and target of the monitor."),
  method: text("`method`"),
  headers: texts("`headers`; `Host` is `host`"),
  body: text("`body`, for web sockets `send`. A body that the type does not send is not moved."),
  graphql: flag("The body becomes the `query` of a JSON document."),
  conditions: textList("Assertions, or other settings of the monitor."),
  alerts: list("Thresholds, reminders, and the webhooks that tell of the monitor."),
  "maintenance-windows": list("Maintenance schedules of the component."),
  "extra-labels": texts("Tags, as `name:value`."),
  client: map(CLIENT, "How the check connects."),
  dns: map(
    { "query-type": text("`record_type`"), "query-name": text("`name`") },
    "The type `dns`, where `url` is the resolver.",
  ),
  ssh: map(
    {
      username: text("Held with the monitor."),
      password: text("Held with the monitor."),
      "private-key": text("Held with the monitor."),
    },
    "With credentials a command is run, so the monitor is held.",
  ),
  ui: map(ENDPOINT_UI, "Only `badge` makes a difference here."),
};

export type Endpoint = Values<typeof ENDPOINT>;

export const EXTERNAL_ENDPOINT = {
  name: ENDPOINT.name,
  group: ENDPOINT.group,
  enabled: ENDPOINT.enabled,
  token: text("Jobs go on calling with it, at `/api/v1/endpoints/{key}/external`."),
  heartbeat: map(
    { interval: duration("`interval_seconds` and `grace_seconds`; none without it.") },
    "The time in which a call is due. Gatus looks once per interval, so a call may be late by another one.",
  ),
  alerts: ENDPOINT.alerts,
  "maintenance-windows": ENDPOINT["maintenance-windows"],
};

export type ExternalEndpoint = Values<typeof EXTERNAL_ENDPOINT>;

export const SUITE = {
  name: text("Name of the component and of its monitor, which is held."),
  group: text("Group on the page, and group of the monitor."),
  enabled: flag("If it is false, its component is shown only if it is degraded."),
  interval: duration("Held with the monitor."),
  timeout: duration("Held with the monitor."),
  context: anything("Held with the monitor."),
  endpoints: list("Held with the monitor, since they share a context."),
};

export const ANNOUNCEMENT = {
  timestamp: text("Start of the incident; if it is archived, also its end."),
  type: text(
    "Name of the incident. `outage` has the impact `major`, `warning` `minor`, others `none`.",
  ),
  message: text("Text of the incident."),
  archived: flag("The incident is resolved."),
};

const UI = {
  title: text("Name of the page, and its slug. Without it, `Status` and `status-page`."),
  description: text("Description of the page."),
  link: text("Not moved: the logo of a page leads to the page."),
  header: text("Not moved."),
  "dashboard-heading": text("Not moved."),
  "dashboard-subheading": text("Not moved."),
  "login-subtitle": text("Not moved."),
  logo: text("Not moved."),
  favicon: anything("Not moved."),
  buttons: anything("Not moved."),
  "custom-css": text("Not moved."),
  "dark-mode": flag("Not moved: the page follows the visitor's setting."),
  "default-sort-by": text("Not moved: components have the order of the file."),
  "default-filter-by": text("Not moved."),
};

export const CONFIG = {
  endpoints: list("Components, and their monitors."),
  "external-endpoints": list("Components, and monitors of the type `push`."),
  suites: list("Components, and monitors that are held."),
  announcements: list("Incidents."),
  alerting: anything("Webhooks."),
  maintenance: map(MAINTENANCE, "A maintenance schedule of all components."),
  ui: map(UI, "Name and description of the page."),
  security: anything("The page is private."),
  storage: anything("Not moved: the history is read from the SQLite file, if it is given."),
  web: anything("Not moved: the server has options of its own."),
  metrics: flag("Not moved: `/metrics` of this server is a setting of its own."),
  remote: anything("Not moved: Allclear shows its own components only."),
  connectivity: map(
    {
      checker: map(
        { target: text("A line for `--reference-targets`."), interval: text("Not moved.") },
        "A line for `--reference-targets`.",
      ),
    },
    "Not moved: it becomes an instruction.",
  ),
  tunneling: anything("Not moved: there are no SSH tunnels."),
  concurrency: whole("Not moved: checks have their own limits."),
  debug: flag("Not moved."),
  "disable-monitoring-lock": flag("Not moved."),
  "skip-invalid-config-update": flag("Not moved."),
};
