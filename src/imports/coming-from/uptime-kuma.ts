import type { Chapter, MappingTable, Row } from "../chapter";
import { fieldRows, merged } from "../rows";
import { SETTINGS, TABLES } from "../uptime-kuma/database";
import type { Mapping } from "../uptime-kuma/mapping";
import { MONITOR_TYPES } from "../uptime-kuma/monitors";
import { NOTIFICATION_TYPES } from "../uptime-kuma/notifications";

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

export const uptimeKuma: Chapter = {
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
