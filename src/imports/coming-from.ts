/* Parts of the documentation for people who come from another product. Texts may have `code`, and no other markup. */
import { type ImportKind, PRODUCTS } from "../base/import-report";
import { HEARTBEAT_FIELDS, MONITOR_FIELDS, STACK_TYPES } from "./better-stack/read";
import { LIST_COLUMNS, LIST_TYPES } from "./csv/read";
import { CONDITIONS } from "./gatus/conditions";
import { TYPES } from "./gatus/endpoints";
import { OTHER_PROVIDERS, PROVIDERS } from "./gatus/receivers";
import {
  ALERT,
  ANNOUNCEMENT,
  CLIENT,
  CONFIG,
  ENDPOINT,
  EXTERNAL_ENDPOINT,
  MAINTENANCE,
  SUITE,
  type Table,
} from "./gatus/tables";
import { CHECK_FIELDS } from "./healthchecks/read";
import { COMPONENT_FIELDS, INCIDENT_FIELDS, NOT_MOVED, PAGE_FIELDS } from "./statuspage/document";
import { type Mapping, SETTINGS, TABLES } from "./uptime-kuma/tables";
import { MONITOR_TYPES } from "./uptime-kuma/types";
import { NOTIFICATION_TYPES } from "./uptime-kuma/notifications";
import { ROBOT_FIELDS, ROBOT_TYPES } from "./uptimerobot/read";

/** A name there, and what it is here. */
type Row = readonly [there: string, here: string];

/** Table of what becomes of the objects or fields of one kind. */
interface MappingTable {
  title: string;
  /** Names of the columns; the name of the product and “here” if omitted. */
  head?: Row;
  rows: readonly Row[];
}

/** One step, with the lines to type if there are any. */
interface Step {
  text: string;
  code?: string;
}

/** Chapter about one product. */
interface Chapter {
  kind: ImportKind;
  /** Sentences about what moves. */
  summary: string;
  /** Concepts there and here. */
  concepts: readonly Row[];
  /** Step that makes a copy of the source. */
  copy: Step;
  /** The command without options of all imports. */
  command: string;
  /** True if the import creates monitors or webhooks, which `--paused` leaves switched off. */
  canPause: boolean;
  /** Sentences about what to compare before the move. */
  compare: string;
  /** Step that leads clients to this server, with lines for Caddy; absent if no client calls the product. */
  move?: Step;
  /** Sentences about the end of the product; absent for a source that does not run. */
  stop?: string;
  differences: readonly string[];
  tables: readonly MappingTable[];
}

/** Part of a document, in the order of reading. Texts may have `code`, and no other markup. */
export type Block =
  | { kind: "heading"; level: 1 | 2 | 3; text: string }
  | { kind: "text"; text: string }
  | { kind: "steps"; steps: readonly { text: string; code?: string | undefined }[] }
  | { kind: "points"; points: readonly string[] }
  | { kind: "table"; head: Row; rows: readonly Row[] };

/** Returns the documentation for people who come from another product, a chapter for each. */
export function comingFrom(): Block[] {
  return [
    { kind: "heading", level: 1, text: "Coming from another product" },
    {
      kind: "text",
      text: "`allclear import` moves what you have, and only reads the source, which can go on running. Each object of the source ends in the report with one result. Nothing is left out silently, nobody is notified, and the same command again changes only what has changed in the source.",
    },
    ...CHAPTERS.flatMap(blocksOf),
  ];
}

function blocksOf(chapter: Chapter): Block[] {
  const product = PRODUCTS[chapter.kind];
  return [
    { kind: "heading", level: 2, text: product },
    { kind: "text", text: chapter.summary },
    { kind: "heading", level: 3, text: `${product} side by side` },
    { kind: "table", head: [product, "here"], rows: chapter.concepts },
    { kind: "heading", level: 3, text: `From ${product} step by step` },
    { kind: "steps", steps: stepsOf(chapter, product) },
    { kind: "heading", level: 3, text: `What differs from ${product}` },
    { kind: "points", points: chapter.differences },
    ...chapter.tables.flatMap(({ title, head = [product, "here"], rows }): Block[] => [
      { kind: "heading", level: 3, text: title },
      { kind: "table", head, rows },
    ]),
  ];
}

function stepsOf({ copy, command, canPause, compare, move, stop }: Chapter, product: string) {
  return [
    { text: `Copy. ${copy.text}`, code: copy.code },
    {
      text: "Read the plan. It is the import itself, which is rolled back, and it lists what to do.",
      code: `${command} --dry-run`,
    },
    {
      text: canPause
        ? `Import. With \`--paused\`, monitors and webhooks are switched off, so that ${product} alone checks and notifies. \`import start\` with the id of the report switches them on.`
        : "Import. It can be repeated until the move.",
      code: canPause ? `${command} --paused` : command,
    },
    { text: `Compare. ${compare}` },
    ...(move ? [{ text: `Move the name. ${move.text}`, code: move.code }] : []),
    ...(stop === undefined ? [] : [{ text: `Stop ${product}. ${stop}` }]),
  ];
}

/** Returns rows of which those with the same right side are one. */
function merged(rows: readonly Row[]): Row[] {
  const byMeaning = Map.groupBy(rows, ([, here]) => here);
  return [...byMeaning].map(([here, same]) => [same.map(([there]) => there).join(", "), here]);
}

/** Returns the rows of a table of fields by their names. */
function fieldRows<Field>(
  fields: Readonly<Record<string, Field>>,
  meaningOf: (field: Field) => string,
): Row[] {
  return merged(
    Object.entries(fields).map(([name, field]) => [`\`${name}\``, meaningOf(field)] as const),
  );
}

function meaningOf({ to, rule }: Mapping): string {
  if (to === null) return rule;
  const parts = to.split(/(, |; )/);
  const names = parts.map((part) => (/^[a-z0-9_.]+$/.test(part) ? `\`${part}\`` : part)).join("");
  return rule === "" ? names : `${names}. ${rule}`;
}

const tables = Object.entries(TABLES).map(
  ([table, columns]: [string, Readonly<Record<string, Mapping>>]) => ({
    table,
    rows: fieldRows(columns, meaningOf),
  }),
);

/** Tables with columns of different meanings. */
const columnTables = tables
  .filter(({ rows }) => rows.length > 1)
  .map(({ table, rows }): MappingTable => ({ title: `Uptime Kuma's table ${table}`, rows }));

/** Tables whose columns all mean the same. */
const otherTables = tables
  .filter(({ rows }) => rows.length === 1)
  .map(({ table, rows: [row] }): Row => [`\`${table}\``, row?.[1] ?? ""]);

const uptimeKuma: Chapter = {
  kind: "uptime-kuma",
  summary:
    "Monitors move with their history, status pages, tags, notifications, maintenance and incidents, from the database of Uptime Kuma 2 or 1.23. A JSON backup of 1.x has monitors, tags and notifications only. Push URLs, badges and dashboards that read status pages go on working.",
  concepts: [
    ["Monitor", "Monitor"],
    ["Heartbeat", "Result of a check"],
    ["Push monitor", "Monitor of the type `push`, with heartbeats"],
    ["Monitor group", "Label of monitors; on a page, a component that all members watch"],
    ["Status page", "Status page, with `uptime-kuma` in `compat`"],
    ["Monitor on a status page", "Component that the monitor watches"],
    ["Notification", "Webhook"],
    ["Maintenance that repeats", "Maintenance schedule"],
    ["Pending, retries", "Failures before `failure_threshold`"],
    ["Resend interval", "`reminder_seconds`"],
  ],
  copy: {
    text: "The import reads the data directory, also while Uptime Kuma runs. If you copy the database, copy `kuma.db-wal` too: the last hours may be in it.",
    code: "docker cp uptime-kuma:/app/data ./kuma-data",
  },
  command: "allclear import uptime-kuma ./kuma-data",
  canPause: true,
  compare:
    "Look at pages, bars and uptime on both sides. Then start the import, and compare states while both check.",
  move: {
    text: "Point the name at this server. Pages, badges, the JSON and `/api/push/` have the same paths. The metrics need a key with `read:analytics`:",
    code: `kuma.example.com {
	rewrite /metrics /compat/kuma/metrics
	redir /dashboard* /admin
	reverse_proxy 127.0.0.1:8080
}`,
  },
  stop: "Switch off its notifications first, so that nobody is notified twice.",
  differences: [
    "An outage begins with its first failed check, also if several are needed for the state `down`.",
    "Uptime is that of components, by time, over the time that is known and without maintenance.",
    "Texts of messages are those of Allclear. Templates, user names, icons and priorities are not moved.",
    "Messages for people about monitors that follow each other within 30 s are gathered into one. `group_seconds: 0` of a webhook sends each by itself.",
    "Monitors on no page get components on a private page, `--internal-page`.",
    "Monitors of types that do not exist here are kept with their history, and not checked.",
    "Custom domains are only listed, unless `--take-domains` is given.",
  ],
  tables: [
    { title: "Types of monitors of Uptime Kuma", rows: fieldRows(MONITOR_TYPES, meaningOf) },
    {
      title: "Notifications of Uptime Kuma",
      rows: [
        ...fieldRows<Mapping>(NOTIFICATION_TYPES, meaningOf),
        ["Other types", "Not moved. The report names the monitors that used them."],
      ],
    },
    { title: "Settings of Uptime Kuma", rows: fieldRows<Mapping>(SETTINGS, meaningOf) },
    ...columnTables,
    { title: "Other tables of Uptime Kuma", rows: merged(otherTables) },
  ],
};

function tableOf(title: string, fields: Table): MappingTable {
  return { title, rows: fieldRows(fields, ({ becomes }) => becomes) };
}

const providers = Object.entries(PROVIDERS).map(([name, { format, fields }]): Row => {
  const parts = fieldRows(fields, ({ becomes }) => becomes.replace(/\.$/, ""));
  const listed = parts.map(([field, becomes]) => `${field}: ${becomes}`).join("; ");
  return [`\`${name}\``, `Webhook of the format \`${format}\`. ${listed}.`];
});

const gatus: Chapter = {
  kind: "gatus",
  summary:
    "Endpoints move with their conditions, groups, alerts and maintenance windows, from the YAML files, and their history from the SQLite file. Keys stay, so that badges and clients of the API go on working, and so do the tokens of external endpoints.",
  concepts: [
    ["Endpoint", "Component, and its monitor"],
    ["Group", "Group of components"],
    ["Condition", "Assertion, or another setting of the monitor"],
    ["External endpoint", "Monitor of the type `push`"],
    ["Alert, provider", "Thresholds of the monitor, webhook"],
    ["Maintenance window", "Maintenance schedule"],
    ["Announcement", "Incident"],
    ["Suite", "Component, and a monitor that is kept and not checked"],
  ],
  copy: {
    text: "Take the configuration with its folder, and the SQLite file of `storage`. Variables are taken from `--env-file` and the environment; one that is not set is an error.",
    code: "docker cp gatus:/config ./gatus-config\ndocker cp gatus:/data/data.db ./gatus.db",
  },
  command: "allclear import gatus ./gatus-config --history gatus.db --env-file gatus.env",
  canPause: true,
  compare:
    "Look at the page and its groups on both sides. Then start the import, and compare states while both check.",
  move: {
    text: "Point the name at this server. On a custom domain of the page, the paths of Gatus are the same. Elsewhere they are below `/compat/gatus`:",
    code: `status.example.com {
	@gatus {
		method GET HEAD
		path /api/v1/endpoints/* /api/v1/suites/* /api/v1/config
	}
	rewrite @gatus /compat/gatus{uri}
	reverse_proxy 127.0.0.1:8080
}`,
  },
  stop: "Switch off its alerts first, so that nobody is notified twice.",
  differences: [
    "An outage begins with its first failed check, also if several are needed for the state `down`.",
    "Uptime is that of components, by time, over the time that is known and without maintenance.",
    "Texts of messages are those of Allclear.",
    "Messages for people about monitors that follow each other within 30 s are gathered into one. `group_seconds: 0` of a webhook sends each by itself.",
    "A condition without a counterpart switches its monitor off until it is replaced.",
    "What is held becomes a monitor that is kept with its settings and history, and not checked.",
    "Pages show neither conditions, addresses nor errors.",
  ],
  tables: [
    {
      title: "Endpoints of Gatus by URL",
      rows: merged(TYPES.map(({ endpoints, becomes }): Row => [endpoints, becomes])),
    },
    {
      title: "Conditions of Gatus",
      rows: Object.values(CONDITIONS).map(({ conditions, becomes }): Row => [
        conditions.map((condition) => `\`${condition}\``).join(", "),
        becomes,
      ]),
    },
    tableOf("The configuration of Gatus", CONFIG),
    tableOf("An endpoint of Gatus", ENDPOINT),
    tableOf("The client of an endpoint of Gatus", CLIENT),
    tableOf("An external endpoint of Gatus", EXTERNAL_ENDPOINT),
    tableOf("An alert of Gatus", ALERT),
    {
      title: "Providers of Gatus",
      rows: [...providers, [OTHER_PROVIDERS.map((name) => `\`${name}\``).join(", "), "Not moved."]],
    },
    tableOf("A maintenance window of Gatus", MAINTENANCE),
    tableOf("An announcement of Gatus", ANNOUNCEMENT),
    tableOf("A suite of Gatus", SUITE),
  ],
};

const rowsOf = (fields: Readonly<Record<string, string>>): Row[] =>
  Object.entries(fields).map(([field, becomes]) => [`\`${field}\``, becomes]);

const statuspage: Chapter = {
  kind: "statuspage",
  summary:
    "The page moves with its groups, components, incidents and maintenance, from its public JSON or, with an API key, from the REST API. Bars and uptime follow from the incidents. Any page with the same JSON can be imported, also one of another Allclear.",
  concepts: [
    ["Page", "Status page"],
    ["Component, component group", "The same"],
    ["Incident, update, post-mortem", "The same"],
    ["Scheduled maintenance", "Maintenance"],
    ["Subscriber by e-mail", "Subscriber, by `subscriber import`"],
    ["Metric", "Latency of a monitor"],
    ["Automation by e-mail", "API, or a monitor"],
    ["Public JSON `/api/v2/`", "The same paths and fields"],
  ],
  copy: {
    text: "Nothing has to be copied. Create an API key in Statuspage to move more than the 50 newest incidents, and the subscribers; put it into a file.",
  },
  command:
    "allclear import statuspage https://status.example.com --api-key-file key.txt --subscribers people.csv",
  canPause: false,
  compare:
    "Open both pages beside each other: the components with their statuses, and the history of incidents. Then import the subscribers with `subscriber import`.",
  move: {
    text: "Import once more with `--take-domains`, since updates may have been added there; what was edited here is kept. Then point the name at this server. The public JSON has the same paths. Permalinks of incidents have other ids, and feeds other names:",
    code: `status.example.com {
	@earlier {
		path /incidents/*
		not path /incidents/inc_*
	}
	redir @earlier /history
	redir /history.rss /feed.rss
	redir /history.atom /feed.atom
	reverse_proxy 127.0.0.1:8080
}`,
  },
  stop: "Do not import from the moved name: it leads to this server.",
  differences: [
    "Uptime counts partial outages with 0.3, over the time that is known and without maintenance, as there. It follows from the statuses in the updates of incidents, so incidents without affected components do not lower it.",
    "The impact of an incident follows from its components, unless it is set by hand.",
    "Statuses of components that people set are taken over at the first import only.",
    "Texts of notifications are those of Allclear.",
  ],
  tables: [
    { title: "Pages of Statuspage", rows: rowsOf(PAGE_FIELDS) },
    { title: "Components of Statuspage", rows: rowsOf(COMPONENT_FIELDS) },
    { title: "Incidents and maintenance of Statuspage", rows: rowsOf(INCIDENT_FIELDS) },
    {
      title: "What is not moved from Statuspage",
      head: ["Statuspage", "instead"],
      rows: NOT_MOVED.map(({ name, reason }) => [name, reason]),
    },
  ],
};

const healthchecks: Chapter = {
  kind: "healthchecks",
  summary:
    "Checks move with their schedules, and jobs go on calling the same UUIDs: only the host of the address changes. Calls, durations, status changes and badges are not moved.",
  concepts: [
    ["Check", "Monitor of the type `push`"],
    ["Ping", "Heartbeat"],
    ["Period, cron schedule, grace time", "Interval, schedule, grace period"],
    ["Integration", "Webhook"],
    ["Project", "Tags"],
  ],
  copy: {
    text: "Save the answer of the management API, with a read-write key: the answer to a read-only key has no ping URLs. The file contains secrets, since everybody who knows a UUID can call its check.",
    code: 'curl -H "X-Api-Key: $KEY" https://healthchecks.io/api/v3/checks/ > checks.json',
  },
  command: "allclear import healthchecks checks.json",
  canPause: true,
  compare:
    "Look at the names and schedules of the monitors on both sides. If jobs call addresses with a ping key and a slug, import with `--ping-key`.",
  move: {
    text: "Let jobs call this server. If the host is your own, point its name here: the paths `/ping/` are the same.",
    code: `ping.example.com {
	handle /ping/* {
		reverse_proxy 127.0.0.1:8080
	}
}`,
  },
  stop: "Do so after each job has called once, since a job that was forgotten is then down here.",
  differences: [
    "A check that was never called waits there; here it is down without a first call in time.",
    "A call does not resume a paused monitor.",
    "Calls by e-mail have no counterpart.",
    "`?create=1` creates no monitor: a ping key is known to every job, and monitors are created with the scope `manage:monitors`.",
    "Messages are those of Allclear, and go to webhooks and to mail.",
  ],
  tables: [
    {
      title: "Checks of Healthchecks",
      rows: Object.entries(CHECK_FIELDS).map(([field, becomes]) => [`\`${field}\``, becomes]),
    },
  ],
};

const codeRowsOf = (fields: Readonly<Record<string, string>>): Row[] => merged(rowsOf(fields));

const uptimeRobot: Chapter = {
  kind: "uptimerobot",
  summary:
    "Monitors move with their requests, tags and maintenance windows, by the API with a key that may be one that only reads, from a saved answer of it, or from a CSV file. History, status pages and alert contacts are not moved.",
  concepts: [
    ["Monitor", "Monitor, and a component on a private page"],
    ["Heartbeat or cron monitor", "Monitor of the type `push`"],
    ["Keyword", "Assertion on the body"],
    ["Maintenance window", "Maintenance schedule"],
    ["Alert contact, integration", "Webhook"],
    ["Public status page", "Status page"],
  ],
  copy: {
    text: "Nothing has to be copied. Put an API key, from Integrations, API, into a file.",
  },
  command:
    "allclear import uptimerobot https://api.uptimerobot.com --api-key-file key.txt --time-zone Europe/Berlin",
  canPause: true,
  compare:
    "Look at the monitors and their states on both sides. Enter the passwords that the answer does not have. Rotate the token of each heartbeat on its screen, and let the job call the new address. Then publish the private page.",
  stop: "Pause its monitors first, so that nobody is notified twice.",
  differences: [
    "The private page “UptimeRobot” has a component for each monitor, so that they have bars and uptime, and maintenance windows have a place.",
    "Slow responses are degraded, and no outage.",
    "Certificates are verified as they are there: only if the monitor checks them.",
    "Monitors of types that do not exist here are kept with their settings, and not checked.",
    "The interval of a CSV file is in seconds; below 30, the shortest of UptimeRobot, it is in minutes.",
    "Monitors are known by their ids, those of a CSV file without ids by their names. So import them in one way each time.",
  ],
  tables: [
    {
      title: "Types of monitors of UptimeRobot",
      rows: [
        ...codeRowsOf(ROBOT_TYPES),
        ["Others, such as `UDP` and `API`", "Kept with their settings, and not checked"],
      ],
    },
    { title: "Fields of a monitor of UptimeRobot", rows: codeRowsOf(ROBOT_FIELDS) },
  ],
};

const betterStack: Chapter = {
  kind: "better-stack",
  summary:
    "Monitors and heartbeats move with their requests, waits and maintenance windows, by the API or from a saved answer of it. History, status pages, on-call calendars and escalation policies are not moved.",
  concepts: [
    ["Monitor", "Monitor, and a component on a private page"],
    ["Heartbeat", "Monitor of the type `push`"],
    ["Confirmation period, recovery period", "`failure_threshold`, `success_threshold`"],
    ["Maintenance window", "Maintenance schedule"],
    ["Escalation policy, integration", "Webhook"],
    ["Status page", "Status page"],
  ],
  copy: { text: "Nothing has to be copied. Put an API token of the team into a file." },
  command: "allclear import better-stack https://uptime.betterstack.com --api-key-file key.txt",
  canPause: true,
  compare:
    "Look at the monitors and their states on both sides. Rotate the token of each heartbeat on its screen, and let the job call the new address. Then publish the private page.",
  stop: "Pause its monitors first, so that nobody is notified twice.",
  differences: [
    "The private page “Better Stack” has a component for each monitor and heartbeat, so that they have bars and uptime, and maintenance windows have a place.",
    "Instead of waiting for a time, checks in a row are counted that take about as long.",
    "Checks come from this server alone, not from regions.",
    "Monitors of types that do not exist here are kept with their settings, and not checked.",
  ],
  tables: [
    {
      title: "Types of monitors of Better Stack",
      rows: [
        ...codeRowsOf(STACK_TYPES),
        ["Others, such as `udp` and `playwright`", "Kept with their settings, and not checked"],
      ],
    },
    { title: "Fields of a monitor of Better Stack", rows: codeRowsOf(MONITOR_FIELDS) },
    { title: "Fields of a heartbeat of Better Stack", rows: codeRowsOf(HEARTBEAT_FIELDS) },
  ],
};

const csv: Chapter = {
  kind: "csv",
  summary:
    "A list of services that is kept in a spreadsheet becomes monitors, with a line for each. Cells are separated by commas, semicolons or tabs, in UTF-8 or UTF-16, as spreadsheets write them.",
  concepts: [
    ["Line", "Monitor"],
    ["Name in the column `component`", "Component, which several lines can share"],
  ],
  copy: {
    text: "Save the spreadsheet as CSV, with the names of the columns in its first line.",
    code: `name,type,url,interval,component,tags
Shop,http,https://shop.example.com/health,30 s,shop:checkout,"production, web"
Database,tcp,db.example.com:5432,1 min,Backend,production`,
  },
  command: "allclear import csv services.csv",
  canPause: false,
  compare: "The report names the lines that were left out, with their numbers and the reasons.",
  differences: [
    "A line whose name is gone from the list stays as a monitor.",
    "Components that are named without a page are on a private page, `--page-name`.",
  ],
  tables: [
    { title: "Columns of a list", head: ["column", "here"], rows: rowsOf(LIST_COLUMNS) },
    {
      title: "Types of a list",
      head: ["type", "other words for it"],
      rows: Object.entries(LIST_TYPES).map(([type, words]): Row => [
        `\`${type}\``,
        words.map((word) => `\`${word}\``).join(", "),
      ]),
    },
  ],
};

/** Chapters about the products from which this version imports. */
const CHAPTERS: readonly Chapter[] = [
  uptimeKuma,
  gatus,
  statuspage,
  healthchecks,
  uptimeRobot,
  betterStack,
  csv,
];
