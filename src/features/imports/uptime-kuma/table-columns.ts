import { type Mapping, none, same } from "./mapping";
import { MONITOR_COLUMNS } from "./monitor-columns";

const ID = none("Only for references.");
const DATES = none("Dates of creation are not moved.");
const HISTORY = same("history");
const NO_COUNTERPART = none("It has no counterpart; if it is set, the report says so.");
const LEFT_OUT = none("Not moved; one line of the report.");

/** Returns mappings of columns that all have the same one. */
function all(columns: string, mapping: Mapping): Readonly<Record<string, Mapping>> {
  return Object.fromEntries(columns.split(" ").map((column) => [column, mapping]));
}

/** Columns of the tables, with those of all supported versions. Others are reported as not read. */
export const TABLES = {
  monitor: MONITOR_COLUMNS,
  status_page: {
    id: { to: "number", rule: "Clients of Uptime Kuma see it." },
    slug: { to: "slug", rule: "One that is taken gets a number." },
    title: same("name"),
    description: { to: "description", rule: "Its words, without Markdown." },
    theme: { to: "theme", rule: "`auto` is `system`." },
    published: { to: "visibility", rule: "A page that is not published is private." },
    icon: { to: "logo", rule: "From its folder `upload/`, if a data directory is imported." },
    ...all("created_date modified_date", DATES),
    ...all(
      "search_engine_index show_tags password footer_text custom_css show_powered_by show_certificate_expiry show_only_last_heartbeat auto_refresh_interval rss_title analytics_id analytics_script_url analytics_type google_analytics_tag_id",
      NO_COUNTERPART,
    ),
  },
  status_page_cname: {
    id: ID,
    status_page_id: same("page"),
    domain: { to: "custom_domains", rule: "Listed; set with --take-domains." },
  },
  group: {
    id: { to: "number", rule: "Clients of Uptime Kuma see it." },
    name: same("name"),
    weight: same("order"),
    status_page_id: same("page"),
    created_date: DATES,
    ...all("public active", none("It is the same for all groups.")),
  },
  monitor_group: {
    id: none("It changes whenever a page is saved."),
    monitor_id: {
      to: "component",
      rule: "A monitor in several places becomes a component for each, all watched by it.",
    },
    group_id: same("group"),
    weight: same("order"),
    send_url: { to: "description", rule: "Then the address of the monitor is the description." },
    custom_url: { to: "description", rule: "In place of the address of the monitor." },
  },
  incident: {
    id: { to: "number, external_ref", rule: "Clients of Uptime Kuma see it." },
    title: same("name"),
    content: { to: "updates", rule: "One update." },
    style: {
      to: "impact_override",
      rule: "`danger` is major, `warning` minor, everything else none.",
    },
    created_date: same("started_at"),
    last_updated_date: { to: "updates", rule: "Time of the update." },
    ...all("pin active", {
      to: "status",
      rule: "Investigating while it is shown on the page, else resolved.",
    }),
    status_page_id: same("page"),
  },
  maintenance: {
    id: { to: "number", rule: "Clients of Uptime Kuma see it." },
    title: same("name"),
    description: same("body"),
    strategy: {
      to: "maintenance, maintenance schedule",
      rule: "`single` is maintenance; `cron` and `recurring-…` are schedules; `manual` has no end, and is not moved.",
    },
    active: { to: "enabled", rule: "Of schedules. Others that are not active are not moved." },
    ...all("start_date end_date", {
      to: "scheduled_for, scheduled_until; starts_on, ends_on",
      rule: "In the time zone of the maintenance.",
    }),
    start_time: { to: "cron", rule: "Of `recurring-interval`." },
    end_time: none("The duration says it."),
    interval_day: { to: "every_days", rule: "Of `recurring-interval`." },
    cron: same("cron"),
    duration: { to: "duration_minutes", rule: "In seconds there." },
    timezone: { to: "time_zone", rule: "`SAME_AS_SERVER` is the setting `serverTimezone`." },
    last_start_date: none("A time of the past."),
    ...all("weekdays days_of_month", none("The cron expression says it.")),
    user_id: none("Users are not moved."),
  },
  monitor_maintenance: {
    id: ID,
    monitor_id: { to: "components", rule: "Components of the monitor, and of those in a group." },
    maintenance_id: same("maintenance"),
  },
  maintenance_status_page: {
    id: ID,
    status_page_id: { to: "page", rule: "Without one, all pages of its monitors." },
    maintenance_id: same("maintenance"),
  },
  tag: { id: ID, name: same("tags"), color: none("Tags have no colours."), created_date: DATES },
  monitor_tag: {
    id: ID,
    ...all("monitor_id tag_id", same("tags")),
    value: { to: "tags", rule: "The name, or the name and the value with a colon." },
  },
  notification: {
    id: ID,
    name: same("description"),
    active: same("enabled"),
    is_default: { to: "monitors", rule: "All monitors, if all have it." },
    config: { to: "url, format, settings", rule: "See the notifications." },
    user_id: none("Users are not moved."),
  },
  monitor_notification: {
    id: ID,
    ...all("monitor_id notification_id", {
      to: "monitors",
      rule: "Those of a group are for its members.",
    }),
  },
  proxy: {
    id: ID,
    ...all("protocol host port", same("config.proxy.url")),
    auth: { to: "config.proxy", rule: "User name and password are used only with it." },
    username: same("config.proxy.username"),
    password: same("config.proxy.password"),
    active: { to: "config.proxy", rule: "One that is not active is not used." },
    default: none("It is for new monitors."),
    ...all("user_id created_date", none("Not moved.")),
  },
  docker_host: {
    id: ID,
    name: { to: "config.host", rule: "Letters, digits and hyphens." },
    ...all("docker_daemon docker_type", {
      to: "ALLCLEAR_DOCKER_HOSTS",
      rule: "The report has the line.",
    }),
    user_id: none("Users are not moved."),
  },
  domain_expiry: {
    id: ID,
    domain: { to: "config.domain", rule: "One monitor of the type domain." },
    ...all("last_check expiry last_expiry_notification_sent", none("It is looked up again.")),
  },
  setting: {
    id: ID,
    ...all("key value", { to: null, rule: "See the settings." }),
    type: none("It is for its dashboard."),
  },
  user: all(
    "id username password active timezone twofa_secret twofa_status twofa_last_token",
    LEFT_OUT,
  ),
  api_key: all("id key name user_id created_date active expires", LEFT_OUT),
  remote_browser: all("id name url user_id", LEFT_OUT),
  heartbeat: all(
    "id important monitor_id status msg time ping duration down_count end_time retries response",
    HISTORY,
  ),
  ...Object.fromEntries(
    ["stat_minutely", "stat_hourly", "stat_daily"].map((table) => [
      table,
      all("id monitor_id timestamp ping ping_min ping_max up down extras", HISTORY),
    ]),
  ),
  monitor_tls_info: all("id monitor_id info_json", none("The next check finds it.")),
  notification_sent_history: all("id type monitor_id days", none("It is counted anew.")),
  knex_migrations: all("id name batch migration_time", none("Of its database.")),
  knex_migrations_lock: all("index is_locked", none("Of its database.")),
} as const satisfies Readonly<Record<string, Readonly<Record<string, Mapping>>>>;

/** Settings with a counterpart. Others are not moved; one line of the report lists them. */
export const SETTINGS = {
  entryPage: { to: "default page", rule: "If it is a status page." },
  serverTimezone: { to: "time_zone", rule: "Of the pages, and of maintenance without one." },
  tlsExpiryNotifyDays: {
    to: "config.certificate_warning_days",
    rule: "The largest; without the setting 21.",
  },
  domainExpiryNotifyDays: { to: "config.days", rule: "The largest; without the setting 21." },
  primaryBaseURL: { to: null, rule: "The report names it in the instruction for jobs." },
  jwtSecret: {
    to: "identity of the source",
    rule: "A hash of it, so that two installations are not mixed up.",
  },
} as const satisfies Readonly<Record<string, Mapping>>;

/** Settings about its own database and sign-in, which are in no report. */
export const INTERNAL_SETTINGS: ReadonlySet<string> = new Set([
  "apiKeysEnabled",
  "databasePatchedFiles",
  "database_version",
  "disableAuth",
  "initServerTimezone",
  "migrateAggregateTableState",
  "rdapDnsData",
  "trustProxy",
]);
