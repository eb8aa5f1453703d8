import type { CreateMonitorBody } from "../features/monitors/wire";

/** A monitor of the demo. */
export interface MonitorPlan {
  input: Omit<CreateMonitorBody, "component_ids">;
  /** Names of its components. */
  components: readonly string[];
  /** Usual response time in ms; null for a job. */
  latencyMs: number | null;
  /** True if the simulation lets it degrade and fail in turn. */
  hasTrouble?: boolean;
}

/** Factor of the response time of a monitor that is slow. */
export const SLOW_FACTOR = 12;

/** Settings of a monitor that the simulation lets degrade and fail: an outage shows within seconds. */
const TROUBLED = {
  interval_seconds: 15,
  retry_interval_seconds: 5,
  failure_threshold: 2,
  success_threshold: 2,
  open_incident: "automatic",
} as const;

const at = (name: string) => `${name}.meridian.example`;

/** Twenty monitors, of all types. */
export const MONITOR_PLANS: readonly MonitorPlan[] = [
  {
    input: {
      ...TROUBLED,
      type: "http",
      name: "Website",
      config: { url: `https://${at("www")}/` },
      degraded_after_ms: 900,
      on_down: "major_outage",
      group: "Shop",
      tags: ["production"],
    },
    components: ["Website"],
    latencyMs: 140,
    hasTrouble: true,
  },
  {
    input: {
      ...TROUBLED,
      type: "http",
      name: "Checkout",
      config: {
        url: `https://${at("checkout")}/health`,
        assertions: [{ source: "json", property: "$.ok", op: "eq", value: true }],
      },
      degraded_after_ms: 1_200,
      group: "Shop",
      tags: ["production"],
    },
    components: ["Checkout"],
    latencyMs: 210,
    hasTrouble: true,
  },
  {
    input: {
      ...TROUBLED,
      type: "http",
      name: "Search",
      config: { url: `https://${at("search")}/ready` },
      degraded_after_ms: 800,
      group: "Shop",
    },
    components: ["Search"],
    latencyMs: 95,
    hasTrouble: true,
  },
  {
    input: {
      type: "websocket",
      name: "Live prices",
      config: { url: `wss://${at("live")}/prices` },
      group: "Shop",
    },
    components: ["Live prices"],
    latencyMs: 60,
  },
  {
    input: {
      ...TROUBLED,
      type: "http",
      name: "Card payments",
      config: { url: `https://${at("payments")}/health` },
      degraded_after_ms: 1_500,
      on_down: "major_outage",
      group: "Payments",
      tags: ["production"],
    },
    components: ["Card payments"],
    latencyMs: 260,
    hasTrouble: true,
  },
  {
    input: {
      type: "grpc",
      name: "Refunds",
      config: { host: at("refunds"), port: 50_051 },
      group: "Payments",
    },
    components: ["Refunds"],
    latencyMs: 35,
  },
  {
    input: {
      type: "mqtt",
      name: "Card terminals",
      config: { host: at("terminals") },
      group: "Payments",
    },
    components: [],
    latencyMs: 28,
  },
  {
    input: {
      ...TROUBLED,
      type: "tcp",
      name: "API gateway",
      config: { host: at("api"), port: 443 },
      degraded_after_ms: 150,
      group: "Platform",
      reminder_seconds: 3_600,
    },
    components: ["Public API"],
    latencyMs: 22,
    hasTrouble: true,
  },
  {
    input: {
      type: "postgres",
      name: "Orders database",
      config: { host: at("orders-db"), user: "monitor" },
      group: "Platform",
      notes: "The replica is orders-db-2. Ask the platform team before a failover.",
    },
    components: ["Databases"],
    latencyMs: 9,
  },
  {
    input: {
      type: "mysql",
      name: "Catalogue database",
      config: { host: at("catalogue-db"), user: "monitor" },
      group: "Platform",
    },
    components: ["Databases"],
    latencyMs: 11,
  },
  {
    input: { type: "redis", name: "Cache", config: { host: at("cache") }, group: "Platform" },
    components: ["Background jobs"],
    latencyMs: 3,
  },
  {
    input: {
      type: "docker",
      name: "Worker container",
      config: { host: "local", container: "worker" },
      group: "Platform",
    },
    components: ["Background jobs"],
    latencyMs: 6,
  },
  {
    input: {
      type: "push",
      name: "Hourly export",
      config: { grace_seconds: 1_800, schedule: "0 * * * *", time_zone: "UTC" },
      group: "Jobs",
    },
    components: ["Exports"],
    latencyMs: null,
  },
  {
    input: {
      type: "push",
      name: "Stock synchronisation",
      interval_seconds: 300,
      config: { grace_seconds: 120 },
      group: "Jobs",
    },
    components: [],
    latencyMs: null,
  },
  {
    input: {
      type: "alert",
      name: "Alerts of the platform",
      config: {
        format: "alertmanager",
        match: ['team="platform"', 'severity="critical"'],
        degraded: ['team="platform"', 'severity="warning"'],
      },
      group: "Platform",
    },
    components: [],
    latencyMs: null,
  },
  {
    input: {
      type: "upstream",
      name: "DNS provider",
      config: { url: "https://status.dns-provider.example/", components: ["Authoritative DNS"] },
      interval_seconds: 300,
      group: "Platform",
    },
    components: [],
    latencyMs: null,
  },
  {
    input: {
      type: "smtp",
      name: "Mail relay",
      config: { host: at("mail"), port: 587, tls: "starttls" },
      group: "Messages",
    },
    components: ["Order e-mails"],
    latencyMs: 180,
  },
  {
    input: {
      type: "dns",
      name: "Mail exchanger",
      config: { name: "meridian.example", record_type: "MX" },
      interval_seconds: 300,
      group: "Messages",
    },
    components: ["Order e-mails"],
    latencyMs: 14,
  },
  {
    input: {
      type: "tls",
      name: "Certificate",
      config: { host: at("www") },
      interval_seconds: 3_600,
      group: "Domains",
    },
    components: [],
    latencyMs: 48,
  },
  {
    input: {
      type: "domain",
      name: "Domain registration",
      // The examples of RFC 2606 have no registry; this one has.
      config: { domain: "example.com" },
      group: "Domains",
    },
    components: [],
    latencyMs: 320,
  },
  {
    input: { type: "ssh", name: "Bastion", config: { host: at("bastion") }, group: "Offices" },
    components: ["VPN"],
    latencyMs: 40,
  },
  {
    input: { type: "ping", name: "Router", config: { host: at("router") }, group: "Offices" },
    components: ["Office network"],
    latencyMs: 12,
  },
];
