import { resolve } from "node:path";
import type { ComponentChildren } from "preact";
import { type Config, type OptionName, setterOf } from "../../../base/config/options";
import {
  formatHost,
  formatNetwork,
  type ListenAddress,
  type Network,
} from "../../../base/config/parse";
import { formatMailbox } from "../../../base/mail-address";
import { describeStore } from "../../../base/store-address";
import { capitalised, plural } from "../../../base/text";
import { MINUTE_MS, toIso } from "../../../base/time";
import { DetailCard } from "../../../ui/detail";
import { DenseDataTable } from "../../../ui/list";
import type { MailSettings } from "../../mail/settings";

/** Settings in force: those of the configuration and of the dashboard. */
export interface SettingsInForce {
  config: Config;
  publicAddress: string;
  allowedNetworks: readonly Network[];
  /** Undefined without a relay. */
  mail: MailSettings | undefined;
  /** Options for which a setting of the dashboard is stored. */
  stored: ReadonlySet<OptionName>;
}

interface Setting {
  label: string;
  /** True for an address or a path. */
  isCode?: boolean;
  /** Returns the value as text. A secret must not be shown, only that it is set. */
  show(settings: SettingsInForce): string;
}

/** Every option, in the order of the table. An option without an entry does not compile. */
const SETTINGS: Readonly<Record<OptionName, Setting>> = {
  listen: { label: "Listen address", isCode: true, show: ({ config }) => addressOf(config.listen) },
  baseUrl: { label: "Public address", isCode: true, show: ({ publicAddress }) => publicAddress },
  dataDir: { label: "Data directory", isCode: true, show: ({ config }) => resolve(config.dataDir) },
  drainSeconds: {
    label: "Draining before a stop",
    show: ({ config }) => (config.drainSeconds === 0 ? NONE : `${config.drainSeconds} s`),
  },
  trustedProxies: {
    label: "Trusted proxies",
    isCode: true,
    show: ({ config }) => listOf(config.trustedProxies.map(formatNetwork)),
  },
  outboundAllow: {
    label: "Allowed networks",
    isCode: true,
    show: ({ allowedNetworks }) => listOf(allowedNetworks.map(formatNetwork)),
  },
  caFile: {
    label: "Authorities",
    isCode: true,
    show: ({ config }) => config.caFile?.path ?? NONE,
  },
  outboundProxy: {
    label: "Proxy of outgoing requests",
    isCode: true,
    show: ({ config }) => config.outboundProxy?.url ?? NONE,
  },
  noProxy: {
    label: "Hosts without the proxy",
    isCode: true,
    show: ({ config }) => listOf([...config.noProxy]),
  },
  outboundProxyTarget: {
    label: "Target that the proxy gets",
    show: ({ config }) => config.outboundProxyTarget,
  },
  referenceTargets: {
    label: "Reference targets",
    isCode: true,
    show: ({ config }) => listOf(config.referenceTargets.map(addressOf)),
  },
  dockerHosts: {
    label: "Docker hosts",
    show: ({ config }) => listOf([...config.dockerHosts.keys()]),
  },
  dockerLabels: {
    label: "Monitors of container labels",
    show: ({ config }) => (config.dockerLabels === "on" ? "On" : "Off"),
  },
  dockerPrune: {
    label: "Deletion of monitors of removed containers",
    show: ({ config }) => (config.dockerPrune === "on" ? "On" : "Off"),
  },
  dockerTlsDir: {
    label: "Certificates of Docker hosts",
    isCode: true,
    show: ({ config }) => config.dockerTlsDir ?? NONE,
  },
  hsts: {
    label: "HTTPS only in browsers (HSTS)",
    show: ({ config: { hsts = "Default" } }) =>
      typeof hsts === "number" ? plural(hsts, "second") : hsts === "off" ? "Off" : hsts,
  },
  publicRateLimit: {
    label: "Requests without a key",
    show: ({ config }) => `${config.publicRateLimit.toLocaleString("en")} per minute`,
  },
  bucketCapacity: {
    label: "Rate-limited clients",
    show: ({ config }) => config.bucketCapacity.toLocaleString("en"),
  },
  mcp: {
    label: "Tools for AI agents (MCP)",
    show: ({ config }) => capitalised(config.mcp),
  },
  logLevel: { label: "Log level", show: ({ config }) => config.logLevel },
  keepResultsHours: {
    label: "Check results are kept for",
    show: ({ config }) => plural(config.keepResultsHours, "hour"),
  },
  keepMinutesDays: {
    label: "Figures by minute are kept for",
    show: ({ config }) => plural(config.keepMinutesDays, "day"),
  },
  keepHoursDays: {
    label: "Figures by hour are kept for",
    show: ({ config }) => plural(config.keepHoursDays, "day"),
  },
  keepEventsDays: {
    label: "Events are kept for",
    show: ({ config }) => plural(config.keepEventsDays, "day"),
  },
  keepKeyHoursDays: {
    label: "Hourly use of API keys is kept for",
    show: ({ config }) => plural(config.keepKeyHoursDays, "day"),
  },
  keepAuditDays: {
    label: "Activity is kept for",
    show: ({ config }) => plural(config.keepAuditDays, "day"),
  },
  keepAddressesDays: {
    label: "Client addresses are kept for",
    show: ({ config }) => plural(config.keepAddressesDays, "day"),
  },
  cdn: {
    label: "CDN keeps public pages for",
    show: ({ config }) => (config.cdn === undefined ? NONE : plural(config.cdn, "second")),
  },
  purgeUrl: {
    label: "Purge address",
    show: ({ config }) => setOrNone(config.purgeUrl),
  },
  purgeHeader: {
    label: "Credential for the purge address",
    show: ({ config }) => setOrNone(config.purgeHeader),
  },
  oidcIssuer: {
    label: "Provider for signing in",
    isCode: true,
    show: ({ config }) => config.oidcIssuer ?? NONE,
  },
  oidcClientId: {
    label: "Id at the provider",
    isCode: true,
    show: ({ config }) => config.oidcClientId ?? NONE,
  },
  oidcClientSecret: {
    label: "Secret at the provider",
    show: ({ config }) => setOrNone(config.oidcClientSecret),
  },
  oidcName: { label: "Name of the provider", show: ({ config }) => config.oidcName ?? NONE },
  oidcGroupsClaim: {
    label: "Claim with groups",
    isCode: true,
    show: ({ config }) => config.oidcGroupsClaim,
  },
  oidcLinkByEmail: {
    label: "Connection by e-mail",
    show: ({ config }) => capitalised(config.oidcLinkByEmail),
  },
  oidcEmailVerified: {
    label: "Verified e-mail of new users",
    show: ({ config }) => capitalised(config.oidcEmailVerified),
  },
  roles: {
    label: "Roles by groups",
    isCode: true,
    show: ({ config }) =>
      config.roles?.map(({ group, role }) => `${group}=${role}`).join("; ") ?? NONE,
  },
  createUsers: {
    label: "New users",
    show: ({ config }) => capitalised(config.createUsers),
  },
  localSignIn: {
    label: "Sign-in with a password",
    show: ({ config }) => capitalised(config.localSignIn),
  },
  secondFactor: {
    label: "Second factor",
    show: ({ config: { secondFactor } }) =>
      secondFactor === "none" ? "Optional" : `Required from the role ${secondFactor} up`,
  },
  identityProxy: {
    label: "Proxies that name users",
    isCode: true,
    show: ({ config }) => listOf(config.identityProxy.map(formatNetwork)),
  },
  identityProxyHeader: {
    label: "Header with the user",
    isCode: true,
    show: ({ config }) => config.identityProxyHeader,
  },
  identityProxyEmailHeader: {
    label: "Header with the e-mail",
    isCode: true,
    show: ({ config }) => config.identityProxyEmailHeader ?? NONE,
  },
  identityProxyGroupsHeader: {
    label: "Header with the groups",
    isCode: true,
    show: ({ config }) => config.identityProxyGroupsHeader ?? NONE,
  },
  identityProxySecret: {
    label: "Secret of the proxies",
    show: ({ config }) => setOrNone(config.identityProxySecret),
  },
  identityProxyNoSecret: {
    label: "Proxy on this machine without a secret",
    show: ({ config }) => capitalised(config.identityProxyNoSecret),
  },
  smtpHost: { label: "Mail relay", isCode: true, show: ({ mail }) => mail?.host ?? NONE },
  smtpPort: { label: "Port of the relay", show: ({ mail }) => String(mail?.port ?? NONE) },
  smtpTls: { label: "TLS to the relay", show: ({ mail }) => mail?.tls ?? NONE },
  smtpCa: {
    label: "Certificates for the relay",
    isCode: true,
    show: ({ config, mail }) => config.smtpCa?.path ?? setOrNone(mail?.ca),
  },
  smtpUser: { label: "User at the relay", isCode: true, show: ({ mail }) => mail?.user ?? NONE },
  smtpPassword: {
    label: "Password for the relay",
    show: ({ mail }) => setOrNone(mail?.password),
  },
  smtpConnections: {
    label: "Connections to the relay",
    show: ({ mail }) => String(mail?.connections ?? NONE),
  },
  smtpRate: {
    label: "Mails to the relay",
    show: ({ mail }) => (mail ? rateOf(mail.ratePerMinute) : NONE),
  },
  mailFrom: {
    label: "Sender of mail",
    isCode: true,
    show: ({ mail }) => (mail ? formatMailbox(mail.from) : NONE),
  },
  mailReplyTo: {
    label: "Replies to mail",
    isCode: true,
    show: ({ mail }) => mail?.replyTo ?? NONE,
  },
  mailBounceAddress: {
    label: "Reports about mail",
    isCode: true,
    show: ({ mail }) => mail?.bounceAddress ?? NONE,
  },
  backupTo: {
    label: "Daily backups",
    isCode: true,
    show: ({ config }) => placeOf(config.backupTo),
  },
  backupAt: {
    label: "Time of daily backups",
    show: ({ config }) => `${timeOfDay(config.backupAt)} UTC`,
  },
  backupKeep: {
    label: "Daily backups that are kept",
    show: ({ config }) => (config.backupKeep === 0 ? "All" : String(config.backupKeep)),
  },
  backupAgeRecipient: {
    label: "Recipients of daily backups (age)",
    isCode: true,
    show: ({ config }) => listOf(config.backupAgeRecipient),
  },
  backupStoreKeyId: {
    label: "Access key for daily backups",
    show: ({ config }) => setOrNone(config.backupStoreKeyId),
  },
  backupStoreSecret: {
    label: "Secret for daily backups",
    show: ({ config }) => setOrNone(config.backupStoreSecret),
  },
  mirror: { label: "Mirror", isCode: true, show: ({ config }) => placeOf(config.mirror) },
  mirrorKeyId: {
    label: "Access key of the mirror",
    show: ({ config }) => setOrNone(config.mirrorKeyId),
  },
  mirrorSecret: {
    label: "Secret of the mirror",
    show: ({ config }) => setOrNone(config.mirrorSecret),
  },
  fleetSecret: {
    label: "Secret of the fleet",
    show: ({ config }) => setOrNone(config.fleetSecret),
  },
  fleetListen: {
    label: "Private listen address",
    isCode: true,
    show: ({ config }) => (config.fleetListen ? addressOf(config.fleetListen) : NONE),
  },
  fleetAddress: {
    label: "Private address of this node",
    isCode: true,
    show: ({ config }) => config.fleetAddress ?? NONE,
  },
  fleetStore: {
    label: "Store of the fleet",
    isCode: true,
    show: ({ config }) => placeOf(config.fleetStore),
  },
  fleetStoreKeyId: {
    label: "Access key id for the store",
    show: ({ config }) => setOrNone(config.fleetStoreKeyId),
  },
  fleetStoreSecret: {
    label: "Secret for the store",
    show: ({ config }) => setOrNone(config.fleetStoreSecret),
  },
  failover: { label: "Failover", show: ({ config }) => config.failover },
  ack: { label: "Writes are acknowledged when", show: ({ config }) => config.ack },
  litestream: { label: "Litestream", isCode: true, show: ({ config }) => config.litestream },
  valkey: { label: "Valkey", isCode: true, show: ({ config }) => config.valkey?.name ?? NONE },
  valkeyCa: {
    label: "Certificates of Valkey",
    isCode: true,
    show: ({ config }) => config.valkeyCa?.path ?? NONE,
  },
};

/** Text of an empty list. */
const NONE = "None";

/** Settings in force, each with its origin. */
export function SettingsTable({ settings }: { settings: SettingsInForce }) {
  return (
    <DetailCard title="Settings in force" liveId="settings-in-force" isStill isTable>
      <DenseDataTable
        caption="Settings in force"
        entries={Object.keys(SETTINGS) as OptionName[]}
        columns={[
          { label: "Setting", cell: (name) => SETTINGS[name].label },
          {
            label: "Value",
            cell: (name) => <Value setting={SETTINGS[name]} settings={settings} />,
          },
          {
            label: "Set by",
            isBars: true,
            cell: (name) => <span class="setting-source">{originOf(settings, name)}</span>,
          },
        ]}
      />
    </DetailCard>
  );
}

function Value({ setting, settings }: { setting: Setting; settings: SettingsInForce }) {
  const text = setting.show(settings);
  const isCode = setting.isCode && text !== NONE;
  return <span class="setting-value">{isCode ? <code>{text}</code> : text}</span>;
}

function originOf({ config, stored }: SettingsInForce, name: OptionName): ComponentChildren {
  const setter = setterOf(config, name);
  if (setter !== undefined) return <code>{setter}</code>;
  return stored.has(name) ? "Set here" : "Default";
}

/** Text for a value that must not be shown. */
function setOrNone(value: unknown): string {
  return value === undefined ? NONE : "Set";
}

function rateOf(perMinute: number): string {
  return perMinute === 0 ? "No limit" : `${perMinute.toLocaleString("en")} per minute`;
}

function addressOf({ host, port }: ListenAddress): string {
  return `${formatHost(host)}:${port}`;
}

/** Returns minutes since midnight as a time, such as 03:00. */
export function timeOfDay(minutes: number): string {
  return toIso(minutes * MINUTE_MS).slice(11, 16);
}

const placeOf = (store: Config["mirror"]) => (store ? describeStore(store) : NONE);

function listOf(items: readonly string[]): string {
  return items.length === 0 ? NONE : items.join(", ");
}
