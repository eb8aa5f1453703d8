/** Counterpart of a type, a column or a setting of Uptime Kuma. Documentation is made of these. */
export interface Mapping {
  /** Name here; null for none. */
  to: string | null;
  /** Rule, in one sentence or more; empty if it is taken over as it is. */
  rule: string;
}

const SAME = "";

/** Returns the mapping of a column with the same meaning. */
export function same(to: string): Mapping {
  return { to, rule: SAME };
}

/** Returns the mapping of a column that is not moved. */
export function none(rule: string): Mapping {
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
