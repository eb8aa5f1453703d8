import type { MonitorConfig } from "../../src/features/monitors/probes";
import type { SupportedType } from "../../src/base/status";
import { clientCertificate } from "./raw-server";

const CLIENT = await clientCertificate("good");

/**
 * The least that a type needs, and all that it takes. Secrets contain `hidden`, as does the query of a URL.
 */
export const MONITOR_CONFIGS: Record<SupportedType, [least: MonitorConfig, most: MonitorConfig]> = {
  http: [
    { url: "https://shop.example.com/health?token=hidden" },
    {
      url: "https://shop.example.com/health?token=hidden",
      method: "POST",
      headers: { "X-Key": "hidden" },
      body: "hidden",
      follow_redirects: false,
      ip_family: "ipv4",
      verify_tls: false,
      host: "www.shop.example.com",
      connect_to: { address: "192.0.2.5", port: 8443 },
      ca: CLIENT.certificate,
      tls_min: "1.0",
      certificate_warning_days: 3,
      oauth2: {
        token_url: "https://login.example.com/token",
        client_id: "allclear",
        client_secret: "hidden",
        scopes: ["health"],
        audience: "https://shop.example.com/",
        auth: "body",
      },
      client_certificate: { ...CLIENT, ca: CLIENT.certificate },
      proxy: { url: "http://proxy.example.com:3128", username: "monitor", password: "hidden" },
      max_body_kb: 1_024,
    },
  ],
  tcp: [
    { host: "db.example.com", port: 5432 },
    { host: "2001:db8::1", port: 1 },
  ],
  tls: [
    { host: "example.com" },
    {
      host: "example.com",
      port: 8443,
      days: 30,
      connect_to: { address: "192.0.2.5" },
      ca: CLIENT.certificate,
      tls_min: "1.1",
    },
  ],
  dns: [
    { name: "example.com" },
    { name: "example.com", record_type: "MX", resolver: "192.0.2.1", expected: ["10 mx.test"] },
  ],
  ping: [{ host: "example.com" }, { host: "192.0.2.1" }],
  push: [
    {},
    {
      grace_seconds: 0,
      schedule: "0 3 * * 1-5",
      time_zone: "Europe/Berlin",
      body_words: { failure: ["ERROR"], success: ["OK"], start: ["BEGIN"], otherwise: "fail" },
    },
  ],
  alert: [
    { format: "alertmanager" },
    {
      format: "json",
      match: ['service="checkout"', 'severity=~"critical|page"'],
      degraded: ['severity="warning"'],
      stale_after_seconds: 600,
      watchdog: "alertmanager-watchdog",
      mapping: {
        alerts: "$.items[*]",
        fingerprint: "$.id",
        status: { path: "$.state", firing: ["firing"], resolved: ["ok"] },
        started_at: "$.since",
        title: "$.title",
        labels: { service: "$.service" },
      },
    },
  ],
  websocket: [
    { url: "wss://shop.example.com/updates?token=hidden" },
    {
      url: "ws://shop.example.com:8080/updates?token=hidden",
      subprotocols: ["chat.v2"],
      headers: { Authorization: "hidden" },
      verify_tls: false,
      send: "hidden",
      expected: "hello",
      close_codes: [1000, 1001],
      ca: CLIENT.certificate,
      tls_min: "1.3",
      certificate_warning_days: 3,
    },
  ],
  grpc: [
    { host: "orders.example.com", port: 50051 },
    {
      host: "orders.example.com",
      port: 443,
      tls: "verify",
      service: "acme.orders.v1.Orders",
      metadata: { authorization: "hidden" },
      ca: CLIENT.certificate,
      tls_min: "1.3",
      certificate_warning_days: 3,
    },
  ],
  postgres: [
    { host: "db.example.com", user: "monitor" },
    {
      host: "db.example.com",
      port: 6432,
      database: "app",
      user: "monitor",
      password: "hidden",
      tls: "verify",
      query: "SELECT hidden",
      expected: "1",
      ca: CLIENT.certificate,
      tls_min: "1.3",
      certificate_warning_days: 3,
    },
  ],
  mysql: [
    { host: "db.example.com", user: "monitor" },
    {
      host: "db.example.com",
      port: 3307,
      database: "app",
      user: "monitor",
      password: "hidden",
      tls: "require",
      query: "SELECT hidden",
      expected: "1",
      ca: CLIENT.certificate,
      tls_min: "1.3",
      certificate_warning_days: 3,
    },
  ],
  redis: [
    { host: "cache.example.com" },
    {
      host: "cache.example.com",
      port: 6380,
      user: "monitor",
      password: "hidden",
      tls: "verify",
      database: 3,
      role: "replica",
      ca: CLIENT.certificate,
      tls_min: "1.3",
      certificate_warning_days: 3,
    },
  ],
  mqtt: [
    { host: "broker.example.com" },
    {
      host: "broker.example.com",
      port: 8883,
      tls: "verify",
      user: "monitor",
      password: "hidden",
      topic: "sensors/+/temperature",
      assertions: [{ source: "json", property: "$.value", op: "lt", value: 30 }],
      ca: CLIENT.certificate,
      tls_min: "1.3",
      certificate_warning_days: 3,
    },
  ],
  smtp: [
    { host: "mail.example.com" },
    {
      host: "mail.example.com",
      port: 587,
      tls: "starttls",
      user: "monitor",
      password: "hidden",
      ca: CLIENT.certificate,
      tls_min: "1.3",
      certificate_warning_days: 3,
    },
  ],
  ssh: [{ host: "bastion.example.com" }, { host: "bastion.example.com", port: 2222 }],
  docker: [
    { host: "local", container: "web" },
    { host: "nas.example", container: "shop_web-1" },
  ],
  upstream: [
    { url: "https://status.example.com/" },
    {
      url: "https://status.example.com/",
      components: ["API", "DNS"],
      public_name: "Provider",
      format: "statuspage",
    },
  ],
  domain: [{ domain: "example.com" }, { domain: "www.example.com", days: 60 }],
};
