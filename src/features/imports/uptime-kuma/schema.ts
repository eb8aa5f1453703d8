import type { Database } from "bun:sqlite";
import { OperatorError } from "../../../db";
import { cutName } from "../texts";

/** Columns of the tables of Uptime Kuma 1.23 and 2.5. Those without a counterpart are known too. */
const KNOWN: Readonly<Record<string, string>> = {
  api_key: "id key name user_id created_date active expires",
  docker_host: "id user_id docker_daemon docker_type name",
  domain_expiry: "id last_check domain expiry last_expiry_notification_sent",
  group: "id name created_date public active weight status_page_id",
  heartbeat:
    "id important monitor_id status msg time ping duration down_count end_time retries response",
  incident: "id title content style created_date last_updated_date pin active status_page_id",
  knex_migrations: "id name batch migration_time",
  knex_migrations_lock: "index is_locked",
  maintenance:
    "id title description user_id active strategy start_date end_date start_time end_time weekdays days_of_month interval_day cron timezone duration last_start_date",
  maintenance_status_page: "id status_page_id maintenance_id",
  monitor:
    "id name active user_id interval url type weight hostname port created_date keyword maxretries ignore_tls upside_down maxredirects accepted_statuscodes_json dns_resolve_type dns_resolve_server dns_last_result retry_interval push_token method body headers basic_auth_user basic_auth_pass docker_host docker_container proxy_id expiry_notification mqtt_topic mqtt_success_message mqtt_username mqtt_password database_connection_string database_query auth_method auth_domain auth_workstation grpc_url grpc_protobuf grpc_body grpc_metadata grpc_method grpc_service_name grpc_enable_tls radius_username radius_password radius_calling_station_id radius_called_station_id radius_secret resend_interval packet_size game http_body_encoding description tls_ca tls_cert tls_key parent invert_keyword json_path expected_value kafka_producer_topic kafka_producer_brokers kafka_producer_sasl_options kafka_producer_message oauth_client_id oauth_client_secret oauth_token_url oauth_scopes oauth_auth_method timeout gamedig_given_port_only kafka_producer_ssl kafka_producer_allow_auto_topic_creation mqtt_check_type remote_browser snmp_oid snmp_version json_path_operator cache_bust conditions rabbitmq_nodes rabbitmq_username rabbitmq_password smtp_security ws_ignore_sec_websocket_accept_header ws_subprotocol ping_count ping_numeric ping_per_request_timeout ip_family manual_status oauth_audience mqtt_websocket_path domain_expiry_notification save_response save_error_response response_max_length system_service_name subtype location protocol snmp_v3_username expected_tls_alert retry_only_on_status_code_failure screenshot_delay ntp_stratum_threshold ntp_time_offset_threshold ntp_root_dispersion_threshold bearer_token gamedig_token",
  monitor_group: "id monitor_id group_id weight send_url custom_url",
  monitor_maintenance: "id monitor_id maintenance_id",
  monitor_notification: "id monitor_id notification_id",
  monitor_tag: "id monitor_id tag_id value",
  monitor_tls_info: "id monitor_id info_json",
  notification: "id name active user_id is_default config",
  notification_sent_history: "id type monitor_id days",
  proxy: "id user_id protocol host port auth username password active default created_date",
  remote_browser: "id name url user_id",
  setting: "id key value type",
  stat_daily: "id monitor_id timestamp ping up down ping_min ping_max extras",
  stat_hourly: "id monitor_id timestamp ping ping_min ping_max up down extras",
  stat_minutely: "id monitor_id timestamp ping up down ping_min ping_max extras",
  status_page:
    "id slug title description icon theme published search_engine_index show_tags password created_date modified_date footer_text custom_css show_powered_by google_analytics_tag_id show_certificate_expiry analytics_id auto_refresh_interval analytics_script_url show_only_last_heartbeat rss_title analytics_type",
  status_page_cname: "id status_page_id domain",
  tag: "id name color created_date",
  user: "id username password active timezone twofa_secret twofa_status twofa_last_token",
};

const KNOWN_COLUMNS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(KNOWN).map(([table, columns]) => [table, new Set(columns.split(" "))]),
);

/** Maximum number of unknown parts that are named, and of characters of each. */
const NAMED_MAX = 20;
const NAME_LENGTH_MAX = 80;

/** Columns of the tables of a database, by table. */
export type Tables = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Reads the tables of a database. Computed columns are left out. Throws an OperatorError if it is none of Uptime
 * Kuma, or has views or virtual tables in place of its tables.
 */
export function readTables(sqlite: Database, path: string): Tables {
  const columnsOf = sqlite.prepare<{ name: string }, [string]>(
    "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0",
  );
  const tables = new Map<string, ReadonlySet<string>>();
  for (const { name, isPlain } of sqlite
    .prepare<{ name: string; isPlain: number }, []>(
      // Views and virtual tables have no page of their own.
      `SELECT name, type = 'table' AND rootpage > 0 AS isPlain FROM sqlite_schema
       WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .iterate()) {
    if (!isPlain && KNOWN_COLUMNS.has(name)) {
      throw new OperatorError(
        `${path} is no database of Uptime Kuma: ${name} is a view or a virtual table.`,
      );
    }
    tables.set(name, new Set(isPlain ? columnsOf.all(name).map((column) => column.name) : []));
  }
  if (!tables.has("monitor")) {
    throw new OperatorError(`${path} is no database of Uptime Kuma: it has no table monitor.`);
  }
  return tables;
}

/** Lists the tables and columns that this version does not know, by name. */
export function listUnknownParts(tables: Tables): string[] {
  const unknown = [...tables].flatMap(([table, columns]) => {
    const known = KNOWN_COLUMNS.get(table);
    if (!known) return [`table ${table}`];
    return [...columns].filter((name) => !known.has(name)).map((name) => `${table}.${name}`);
  });
  unknown.sort();
  const named = unknown
    .slice(0, NAMED_MAX)
    .map((name) => cutName(name, "a table", NAME_LENGTH_MAX));
  if (unknown.length <= NAMED_MAX) return named;
  return [...named, `${unknown.length - NAMED_MAX} more tables and columns`];
}
