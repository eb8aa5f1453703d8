import { emptyFound, type Found, type FoundMonitor, keyOf, type LeftOut } from "../found";
import { listUnknown } from "../kit";
import {
  type Entry,
  readEndpoint,
  readEntries,
  readExternalEndpoint,
  readSuite,
} from "./endpoints";
import type { ReadNamedFile } from "./http";
import { type Config, findIncidents, groupsOf, pageOf, scheduleOf } from "./page";
import { findWebhooks, readAlerting } from "./receivers";
import { Secrets } from "./secrets";
import { CONFIG, ENDPOINT, EXTERNAL_ENDPOINT, type Maintenance, readTable, SUITE } from "./tables";
import type { YamlMap } from "./yaml";

/** Number of unknown fields that are named. */
const NAMED_MAX = 50;

/** Settings of the whole installation that have no counterpart, with the reason. */
const SETTINGS = {
  storage: "A history is taken over from the SQLite file alone, if it is given.",
  web: "The address and TLS are options of this server.",
  metrics: "Metrics are a setting of this server.",
  remote: "Components of other installations are not shown.",
  connectivity: "It becomes an instruction.",
  tunneling: "There are no SSH tunnels.",
  concurrency: "Checks have limits of their own.",
  debug: "The log is a setting of this server.",
  "disable-monitoring-lock": "Checks have limits of their own.",
  "skip-invalid-config-update": "The file is read once.",
} as const satisfies Partial<Record<keyof Config, string>>;

/** Settings of the page that become something. The others are left out. */
const USED_UI: ReadonlySet<string> = new Set(["title", "description", "link"]);

/** Everything found in a configuration, and the intervals of its entries in ms by their key. */
export interface FoundConfig {
  found: Found;
  intervals: ReadonlyMap<string, number>;
}

/** Origin of a configuration. */
export interface Origin {
  /** Fields with an anchor. Those that this version does not know are there for aliases. */
  anchored: ReadonlySet<string>;
  /** Values of its variables, which may be secrets. */
  values: ReadonlySet<string>;
  readFile: ReadNamedFile;
}

/** Returns all that a configuration has. Throws a WrongField for one of another shape. */
export function findInConfig(
  document: YamlMap,
  { anchored, values, readFile }: Origin,
): FoundConfig {
  const found = emptyFound("gatus");
  const notRead = new Set<string>();
  const secrets = new Secrets();
  const config = readTable(CONFIG, document, { path: "", notRead });
  const alerting = readAlerting(config.alerting, { path: "alerting", notRead }, secrets);
  const { defaults } = alerting;
  const reading = { notRead, secrets, readFile, defaults, taken: new Set<string>() };
  const entries = [
    ...readEntries(config.endpoints, ENDPOINTS, reading, found.leftOut),
    ...readEntries(config["external-endpoints"], EXTERNAL_ENDPOINTS, reading, found.leftOut),
    ...readEntries(config.suites, SUITES, reading, found.leftOut),
  ];
  found.pages = [pageOf(config)];
  found.groups = groupsOf(entries.map(({ group }) => group));
  found.components = entries.map(({ component }) => component);
  found.monitors = entries.flatMap(({ monitors }) => monitors);
  findWebhooks(alerting, entries, found);
  findSchedules(config, entries, found);
  findIncidents(config.announcements ?? [], notRead, found);
  found.leftOut.push(...settingsOf(config));
  const unknown = [...notRead].filter((name) => !anchored.has(name)).sort();
  // Their parts are cut already.
  found.notRead = listUnknown(unknown, { max: NAMED_MAX, lengthMax: Infinity });
  found.toDo = toDoOf(config, entries);
  const intervals = new Map(entries.map(({ key, intervalMs }) => [key, intervalMs]));
  const variables = new Secrets();
  for (const value of values) variables.add(value);
  return { found: withoutSecrets(found, secrets, variables), intervals };
}

const ENDPOINTS = {
  type: "endpoint",
  table: ENDPOINT,
  path: "endpoints",
  read: readEndpoint,
} as const;
const EXTERNAL_ENDPOINTS = {
  type: "external-endpoint",
  table: EXTERNAL_ENDPOINT,
  path: "external-endpoints",
  read: readExternalEndpoint,
} as const;
const SUITES = { type: "suite", table: SUITE, path: "suites", read: readSuite } as const;

/** Finds the maintenance windows of all components, and those of each. */
function findSchedules(
  { maintenance }: Config,
  entries: readonly Entry[],
  { schedules, leftOut }: Found,
): void {
  const add = (window: Maintenance, id: string, name: string, own: readonly Entry[]) => {
    const components = own.map(({ component }) => keyOf(component.foreign));
    const schedule = scheduleOf(window, { id, name, components });
    if ("body" in schedule) schedules.push(schedule);
    else leftOut.push(schedule);
  };
  if (maintenance) add(maintenance, "maintenance", "maintenance", entries);
  for (const entry of entries) {
    for (const [index, window] of entry.windows.entries()) {
      const name = `${entry.component.foreign.name}, window ${index + 1}`;
      add(window, `${entry.key}:${index}`, name, [entry]);
    }
  }
}

/** Lists the settings of the whole installation that are not moved. */
function settingsOf(config: Config): LeftOut[] {
  const settings = Object.entries(SETTINGS).flatMap(([name, reason]) =>
    config[name as keyof Config] === undefined ? [] : [{ id: name, reason }],
  );
  const ui = Object.entries(config.ui ?? {}).flatMap(([name, value]) =>
    value === undefined || USED_UI.has(name)
      ? []
      : [{ id: `ui.${name}`, reason: "Pages have a design of their own." }],
  );
  return [...settings, ...ui].map(({ id, reason }) => ({
    foreign: { type: "setting", id, name: id },
    reason,
  }));
}

/** Targets that can be a setting. Any other text, such as with user info, could hold a secret. */
const TARGET = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):\d{1,5}$/i;

function toDoOf({ connectivity, security }: Config, entries: readonly Entry[]): string[] {
  const hasJobs = entries.some(({ monitors }) =>
    monitors.some(({ tokens = [] }) => tokens.length > 0),
  );
  const target = connectivity?.checker?.target;
  return [
    ...(target
      ? [
          `To ignore failures while this server is offline, start it with --reference-targets ${TARGET.test(target) ? target : "HOST:PORT"}`,
        ]
      : []),
    ...(hasJobs
      ? [
          "In the addresses that jobs call, replace the address of Gatus by that of this server. Keys and tokens stay.",
        ]
      : []),
    ...(security === undefined
      ? []
      : [
          "The page is private, since Gatus asks for a sign-in. Invite the people who are to see it.",
        ]),
  ];
}

/**
 * Returns what was found without secrets in the texts of the report. Settings keep them. Values of variables stay in
 * names, by which people know the objects.
 */
function withoutSecrets(found: Found, secrets: Secrets, variables: Secrets): Found {
  const hideInName = (text: string) => secrets.hide(text);
  const hide = (text: string) => variables.hide(secrets.hide(text));
  const hideValue = (value: unknown) => (typeof value === "string" ? hide(value) : value);
  const shown = <One extends Pick<FoundMonitor, "foreign" | "changes">>(one: One): One => ({
    ...one,
    foreign: { ...one.foreign, name: hideInName(one.foreign.name) },
    changes: one.changes.map((change) => ({
      ...change,
      from: hideValue(change.from),
      to: hideValue(change.to),
    })),
  });
  return {
    ...found,
    pages: found.pages.map(shown),
    groups: found.groups.map(shown),
    components: found.components.map(shown),
    monitors: found.monitors.map((one) => ({
      ...shown(one),
      disabled: one.disabled === undefined ? undefined : hide(one.disabled),
    })),
    webhooks: found.webhooks.map(shown),
    schedules: found.schedules.map(shown),
    incidents: found.incidents.map(shown),
    toDo: found.toDo.map(hide),
    leftOut: found.leftOut.map(({ foreign, reason }) => ({
      foreign: { ...foreign, name: hideInName(foreign.name) },
      reason: hide(reason),
    })),
  };
}
