import { MINUTE_MS } from "../../src/base/time";
import type { RunningKuma } from "../imports/fixtures/uptime-kuma/start";

/** Servers on this machine that the monitors check. */
export interface LocalServers {
  /** Base URL of a web server; `/broken` fails, everything else answers JSON. */
  http: string;
  /** Ports of loopback. */
  dns: number;
  webSocket: number;
  smtp: number;
  /** Path of Docker's kuma. */
  docker: string;
}

/** Name and password of the user of Uptime Kuma. */
export const KUMA_USER = "admin";
export const KUMA_PASSWORD = "Kuma-password-1";

const TIME_ZONE = "Europe/Berlin";

/** Token of the push monitor's URL. */
export const PUSH_TOKEN = "ThePushTokenOfTheNightlyBackup01";

/** A monitor as the dashboard of Uptime Kuma sends it, without the fields that all have. */
export interface KumaMonitor {
  name: string;
  type: string;
  group?: string;
  tags?: readonly (readonly [name: string, value: string])[];
  fields?: Readonly<Record<string, unknown>>;
}

/** Monitors, by what is special about them. */
export function kumaMonitors(servers: LocalServers): KumaMonitor[] {
  const url = `${servers.http}/`;
  const loopback = "127.0.0.1";
  return [
    { name: "Data centre", type: "group" },
    {
      name: "Site",
      type: "http",
      group: "Data centre",
      tags: [
        ["production", ""],
        ["team", "web"],
      ],
      fields: { url, description: "The site of all customers" },
    },
    { name: "Keyword", type: "keyword", group: "Data centre", fields: { url, keyword: "fine" } },
    {
      name: "JSON",
      type: "json-query",
      fields: { url, jsonPath: "$.all", jsonPathOperator: "==", expectedValue: "fine" },
    },
    { name: "Broken", type: "http", fields: { url: `${servers.http}/broken` } },
    {
      name: "Unconfirmed",
      type: "http",
      fields: { url: `${servers.http}/broken`, maxretries: 5, interval: 60, retryInterval: 60 },
    },
    { name: "Port", type: "port", fields: { hostname: loopback, port: servers.smtp } },
    { name: "Ping", type: "ping", fields: { hostname: loopback } },
    {
      name: "DNS",
      type: "dns",
      fields: {
        hostname: "shop.test",
        dns_resolve_server: loopback,
        port: servers.dns,
        dns_resolve_type: "A",
        conditions: [
          {
            type: "expression",
            andOr: "and",
            variable: "record",
            operator: "equals",
            value: "192.0.2.1",
          },
        ],
      },
    },
    { name: "Backup", type: "push", fields: { interval: 3_600, pushToken: PUSH_TOKEN } },
    {
      name: "WebSocket",
      type: "websocket-upgrade",
      fields: {
        url: `ws://${loopback}:${servers.webSocket}/`,
        accepted_statuscodes: ["1000"],
      },
    },
    {
      name: "Mail",
      type: "smtp",
      fields: { hostname: loopback, port: servers.smtp, smtpSecurity: "nostarttls" },
    },
    { name: "Container", type: "docker", fields: { docker_container: "web" } },
    { name: "By hand", type: "manual", fields: { manual_status: 1 } },
    { name: "Upgrading", type: "http", fields: { url } },
    { name: "Old", type: "http", fields: { url, active: false } },
  ];
}

/** Pages with their groups of monitors by name, in order. */
export const KUMA_PAGES = [
  {
    slug: "acme",
    config: {
      title: "Acme",
      description: "All services of **Acme**",
      theme: "auto",
      showTags: false,
      footerText: "Made with care",
    },
    groups: [
      { name: "Web", monitors: ["Site", "Keyword", "JSON", "WebSocket", "Broken"] },
      { name: "Behind it", monitors: ["Port", "Ping", "DNS", "Mail", "Container"] },
      { name: "Jobs", monitors: ["Backup", "By hand", "Upgrading", "Unconfirmed", "Old"] },
    ],
  },
  {
    slug: "second",
    config: { title: "Second", description: null, theme: "dark" },
    groups: [{ name: "Services", monitors: ["Site", "Port"] }],
  },
] as const;

const MONITOR_FIELDS = {
  url: "https://",
  method: "GET",
  interval: 60,
  retryInterval: 60,
  resendInterval: 0,
  maxretries: 0,
  timeout: 10,
  ignoreTls: false,
  upsideDown: false,
  packetSize: 56,
  expiryNotification: false,
  domainExpiryNotification: false,
  maxredirects: 10,
  accepted_statuscodes: ["200-299"],
  dns_resolve_type: "A",
  dns_resolve_server: "127.0.0.1",
  authMethod: null,
  httpBodyEncoding: "json",
  kafkaProducerBrokers: [],
  kafkaProducerSaslOptions: { mechanism: "None" },
  conditions: [],
  rabbitmqNodes: [],
  ipFamily: null,
  wsSubprotocol: "",
  proxyId: null,
  notificationIDList: {},
  active: true,
};

/** Creates the user, monitors, pages, incidents and a maintenance in progress. Returns the monitors' ids by name. */
export async function createKumaObjects(
  kuma: RunningKuma,
  servers: LocalServers,
  now: number,
): Promise<Map<string, number>> {
  const dockerHosts = kuma.follow("dockerHostList");
  await kuma.call("setup", KUMA_USER, KUMA_PASSWORD);
  await signIn(kuma);
  const settings = {
    entryPage: "statusPage-acme",
    serverTimezone: TIME_ZONE,
    tlsExpiryNotifyDays: [7, 14, 21],
    keepDataPeriodDays: 180,
    checkUpdate: false,
    disableAuth: false,
  };
  await kuma.call("setSettings", settings, KUMA_PASSWORD);
  const host = { name: "local", dockerType: "socket", dockerDaemon: servers.docker };
  await kuma.call("addDockerHost", host, null);
  const [dockerHost] = dockerHosts() as { id: number }[];
  const monitors = new Map<string, number>();
  const tags = new Map<string, number>();
  for (const { name, type, group, tags: named = [], fields } of kumaMonitors(servers)) {
    const { monitorID } = await kuma.call("add", {
      ...MONITOR_FIELDS,
      docker_host: type === "docker" ? dockerHost?.id : null,
      ...fields,
      parent: monitors.get(group ?? "") ?? null,
      name,
      type,
    });
    monitors.set(name, monitorID as number);
    for (const [tag, value] of named) {
      if (!tags.has(tag)) {
        const added = await kuma.call("addTag", { name: tag, color: "#059669", new: true });
        tags.set(tag, (added["tag"] as { id: number }).id);
      }
      await kuma.call("addMonitorTag", tags.get(tag), monitorID, value);
    }
  }
  const pages = await createPages(kuma, monitors);
  await createIncidents(kuma);
  await createMaintenance(kuma, monitors, pages, now);
  return monitors;
}

async function signIn(kuma: RunningKuma): Promise<void> {
  await kuma.call("login", { username: KUMA_USER, password: KUMA_PASSWORD, token: "" });
}

async function createPages(
  kuma: RunningKuma,
  monitors: ReadonlyMap<string, number>,
): Promise<number[]> {
  const pages: number[] = [];
  for (const { slug, config, groups } of KUMA_PAGES) {
    await kuma.call("addStatusPage", config.title, slug);
    const { config: current } = await kuma.call("getStatusPage", slug);
    const list = groups.map(({ name, monitors: members }) => ({
      name,
      monitorList: members.map((member) => ({ id: monitors.get(member), name: member })),
    }));
    const all = { ...(current as object), ...config, domainNameList: [] };
    await kuma.call("saveStatusPage", slug, all, "/icon.svg", list);
    pages.push((current as { id: number }).id);
  }
  return pages;
}

async function createIncidents(kuma: RunningKuma): Promise<void> {
  const outage = { title: "Outage", content: "All is down.", style: "danger" };
  const { incident } = await kuma.call("postIncident", "acme", outage);
  await kuma.call("resolveIncident", "acme", (incident as { id: number }).id);
  const slow = { title: "Slow answers", content: "We look **into** it.", style: "warning" };
  await kuma.call("postIncident", "acme", slow);
}

/** Creates maintenance from half an hour ago to in two hours. */
async function createMaintenance(
  kuma: RunningKuma,
  monitors: ReadonlyMap<string, number>,
  pages: readonly number[],
  now: number,
): Promise<void> {
  const local = new Intl.DateTimeFormat("sv", {
    timeZone: TIME_ZONE,
    dateStyle: "short",
    timeStyle: "short",
  });
  const minute = (minutes: number) => local.format(now + minutes * MINUTE_MS);
  const { maintenanceID } = await kuma.call("addMaintenance", {
    title: "Upgrade",
    description: "To the newest version",
    strategy: "single",
    intervalDay: 1,
    dateRange: [minute(-30), minute(120)],
    timeRange: [
      { hours: 2, minutes: 0 },
      { hours: 3, minutes: 0 },
    ],
    weekdays: [],
    daysOfMonth: [],
    cron: "",
    durationMinutes: 0,
    timezoneOption: TIME_ZONE,
    active: true,
  });
  const id = monitors.get("Upgrading");
  await kuma.call("addMonitorMaintenance", maintenanceID, [{ id, name: "Upgrading" }]);
  const all = pages.slice(0, 1).map((page) => ({ id: page, name: "Acme" }));
  await kuma.call("addMaintenanceStatusPage", maintenanceID, all);
}
