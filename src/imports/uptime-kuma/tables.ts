/** Counterpart of a type, a column or a setting of Uptime Kuma. Documentation is made of these. */
export interface Mapping {
  /** Name here; null for none. */
  to: string | null;
  /** Rule, in one sentence or more; empty if it is taken over as it is. */
  rule: string;
}

const SAME = "";

/** Returns the mapping of a column with the same meaning. */
function same(to: string): Mapping {
  return { to, rule: SAME };
}

/** Returns the mapping of a column that is not moved. */
function none(rule: string): Mapping {
  return { to: null, rule };
}

const HELD_COLUMNS = none("Only of types that are kept and not checked. It is kept with them.");

const NOT_USED = none("It has no counterpart; if it is set, the report says so.");

const HTTP_AUTH = "A header `Authorization`.";

/** Columns of the table `monitor`. A column that is missing here is reported as not read. */
export const MONITOR_COLUMNS = {
  id: {
    to: "number",
    rule: "Clients of Uptime Kuma go on reading it by this number, from the first source.",
  },
  name: same("name"),
  description: same("notes"),
  active: {
    to: "paused",
    rule: "A monitor that is not active is paused, and so is one in a group that is not.",
  },
  weight: { to: "order", rule: "Monitors are created in the order of the list." },
  parent: {
    to: "group",
    rule: "The names of its groups, separated by a slash. A group is a folder there, not a dependency.",
  },
  type: { to: "type", rule: "See the types." },
  user_id: none("Users are not moved."),
  created_date: none("Checks begin with the import."),
  interval: { to: "interval_seconds", rule: "At least 5." },
  retry_interval: {
    to: "retry_interval_seconds",
    rule: "0 and longer ones are the interval.",
  },
  maxretries: {
    to: "failure_threshold",
    rule: "One more, since the first failure counts too. For push monitors they lengthen the grace period.",
  },
  timeout: {
    to: "timeout_ms",
    rule: "In seconds there. 0 is 80 % of the interval. At most a minute.",
  },
  resend_interval: {
    to: "reminder_seconds",
    rule: "It counts checks there, so it is multiplied by the interval. 5 minutes to a week.",
  },
  upside_down: same("inverted"),
  url: {
    to: "config.url",
    rule: "A user name and a password in it become a header `Authorization`.",
  },
  method: same("config.method"),
  headers: { to: "config.headers", rule: "JSON text there. `Host` is `config.host`." },
  body: { to: "config.body", rule: "GET and HEAD have no body here." },
  http_body_encoding: {
    to: "config.headers",
    rule: "A header `Content-Type` for JSON, form and XML, unless there is one.",
  },
  auth_method: {
    to: "config",
    rule: "`basic` and `bearer` become a header, `oauth2-cc` OAuth 2.0, `mtls` a client certificate. `ntlm` is kept and not checked.",
  },
  basic_auth_user: { to: "config.headers", rule: HTTP_AUTH },
  basic_auth_pass: { to: "config.headers", rule: HTTP_AUTH },
  bearer_token: { to: "config.headers", rule: HTTP_AUTH },
  oauth_client_id: same("config.oauth2.client_id"),
  oauth_client_secret: same("config.oauth2.client_secret"),
  oauth_token_url: same("config.oauth2.token_url"),
  oauth_scopes: { to: "config.oauth2.scopes", rule: "Separated by spaces there." },
  oauth_audience: same("config.oauth2.audience"),
  oauth_auth_method: {
    to: "config.oauth2.auth",
    rule: "`client_secret_post` is `body`, everything else `basic`.",
  },
  tls_cert: same("config.client_certificate.certificate"),
  tls_key: same("config.client_certificate.key"),
  tls_ca: { to: "config.client_certificate.ca", rule: "`config.ca` without a certificate." },
  auth_domain: none("Only of NTLM, which is kept and not checked."),
  auth_workstation: none("Only of NTLM, which is kept and not checked."),
  ignore_tls: { to: "config.verify_tls", rule: "The opposite." },
  ip_family: same("config.ip_family"),
  maxredirects: {
    to: "config.follow_redirects",
    rule: "0 is false. Others are true, which is up to 10.",
  },
  proxy_id: {
    to: "config.proxy",
    rule: "HTTP and HTTPS proxies. With a SOCKS proxy it is switched off.",
  },
  accepted_statuscodes_json: {
    to: "config.assertions",
    rule: "The status is in this list. For WebSockets the closing codes.",
  },
  keyword: { to: "config.assertions", rule: "The body contains it." },
  invert_keyword: { to: "config.assertions", rule: "The body does not contain the keyword." },
  json_path: {
    to: "config.assertions",
    rule: "JSONPath for names and indexes. With other JSONata it is switched off.",
  },
  json_path_operator: { to: "config.assertions", rule: "Without one, values must be equal." },
  expected_value: same("config.assertions"),
  conditions: {
    to: "config",
    rule: "`equals` on the record or the result becomes `expected`; conditions on a message become assertions. Others are left out.",
  },
  expiry_notification: {
    to: "config.certificate_warning_days",
    rule: "The largest number of days in the settings, or 0.",
  },
  domain_expiry_notification: {
    to: "a monitor of the type domain",
    rule: "One for each domain, for the webhooks of all its monitors.",
  },
  hostname: { to: "config.host", rule: "For DNS `config.name`." },
  port: same("config.port"),
  dns_resolve_type: same("config.record_type"),
  dns_resolve_server: { to: "config.resolver", rule: "The first address, with the port." },
  dns_last_result: none("The newest result, which the history has."),
  push_token: { to: "a token", rule: "Jobs go on calling the same path." },
  docker_host: {
    to: "config.host",
    rule: "Its name, which ALLCLEAR_DOCKER_HOSTS must define.",
  },
  docker_container: same("config.container"),
  mqtt_topic: same("config.topic"),
  mqtt_username: same("config.user"),
  mqtt_password: same("config.password"),
  mqtt_success_message: { to: "config.assertions", rule: "The message contains it." },
  mqtt_check_type: {
    to: "config.assertions",
    rule: "By keyword, or by a JSON path, whose value must be equal.",
  },
  mqtt_websocket_path: none("MQTT over a WebSocket is kept and not checked."),
  database_connection_string: {
    to: "config",
    rule: "Host, port, database, user, password and TLS are read from it.",
  },
  database_query: same("config.query"),
  smtp_security: {
    to: "config.tls",
    rule: "`secure` is `tls`, `nostarttls` is `off`, none is `starttls_if_offered`.",
  },
  ws_subprotocol: { to: "config.subprotocols", rule: "Separated by commas there." },
  ws_ignore_sec_websocket_accept_header: none("With it, a monitor is switched off."),
  grpc_url: { to: "config.host, config.port", rule: "Only for the health service." },
  grpc_service_name: { to: null, rule: "It must be `grpc.health.v1.Health`." },
  grpc_method: { to: null, rule: "It must be `Check`." },
  grpc_body: { to: "config.service", rule: "Its field `service`." },
  grpc_enable_tls: { to: "config.tls", rule: "`verify`, or `off`." },
  grpc_protobuf: { to: null, rule: "It is read for the package of the service." },
  grpc_metadata: none("It is not sent there either."),
  manual_status: { to: "status", rule: "Status of its components at the first import." },
  rabbitmq_nodes: { to: "config.url", rule: "With one node. Several are kept and not checked." },
  rabbitmq_username: { to: "config.headers", rule: HTTP_AUTH },
  rabbitmq_password: { to: "config.headers", rule: HTTP_AUTH },
  radius_password: { to: "config.password", rule: "The password of MySQL. Others are kept." },
  packet_size: NOT_USED,
  ping_count: NOT_USED,
  ping_numeric: NOT_USED,
  ping_per_request_timeout: NOT_USED,
  expected_tls_alert: none("A monitor with it is kept and not checked."),
  cache_bust: NOT_USED,
  save_response: NOT_USED,
  save_error_response: none("Bodies of responses are not kept."),
  response_max_length: none("Bodies of responses are not kept."),
  retry_only_on_status_code_failure: NOT_USED,
  game: HELD_COLUMNS,
  gamedig_given_port_only: HELD_COLUMNS,
  gamedig_token: HELD_COLUMNS,
  kafka_producer_topic: HELD_COLUMNS,
  kafka_producer_brokers: HELD_COLUMNS,
  kafka_producer_sasl_options: HELD_COLUMNS,
  kafka_producer_message: HELD_COLUMNS,
  kafka_producer_ssl: HELD_COLUMNS,
  kafka_producer_allow_auto_topic_creation: HELD_COLUMNS,
  location: HELD_COLUMNS,
  ntp_root_dispersion_threshold: HELD_COLUMNS,
  ntp_stratum_threshold: HELD_COLUMNS,
  ntp_time_offset_threshold: HELD_COLUMNS,
  protocol: HELD_COLUMNS,
  radius_called_station_id: HELD_COLUMNS,
  radius_calling_station_id: HELD_COLUMNS,
  radius_secret: HELD_COLUMNS,
  radius_username: HELD_COLUMNS,
  remote_browser: HELD_COLUMNS,
  screenshot_delay: HELD_COLUMNS,
  snmp_oid: HELD_COLUMNS,
  snmp_v3_username: HELD_COLUMNS,
  snmp_version: HELD_COLUMNS,
  subtype: HELD_COLUMNS,
  system_service_name: HELD_COLUMNS,
} as const satisfies Readonly<Record<string, Mapping>>;

export type MonitorColumn = keyof typeof MONITOR_COLUMNS;

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
