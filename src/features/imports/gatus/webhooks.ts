import type { ImportChange } from "../../../base/import-report";
import { oneLine, plural } from "../../../base/text";
import type { FoundWebhook, LeftOut } from "../source";
import { keyOf } from "../source";
import type { DefaultAlerts } from "./alerts";
import { type Alert, ALERT } from "./document";
import type { Entry } from "./entry";
import { list, map, type Place, readTable, text, WrongField } from "./fields";
import type { Secrets } from "./notes";
import { OTHER_PROVIDERS, type ProviderConfig, type ProviderRow, PROVIDERS } from "./receivers";
import { isYamlMap, type Yaml } from "./yaml";

const TYPE = "alerting";
const DROPPED = "Messages have texts and settings of their own.";

/** A provider of alerts, as the file has it. */
interface Provider {
  name: string;
  row: ProviderRow;
  config: ProviderConfig;
  overrides: readonly { group: string; config: ProviderConfig }[];
}

/** Providers of a configuration, and what of them cannot be moved. */
interface Alerting {
  providers: Provider[];
  defaults: DefaultAlerts;
  /** Configured providers without counterpart. */
  others: string[];
  leftOut: LeftOut[];
}

/** Names of the endpoints that a reason lists. */
const NAMED_MAX = 10;

/** Reads the providers of alerts. */
export function readAlerting(value: Yaml | undefined, place: Place, secrets: Secrets): Alerting {
  const providers: Provider[] = [];
  const defaults = new Map<string, Alert>();
  const leftOut: LeftOut[] = [];
  const others: string[] = [];
  for (const [name, own] of Object.entries(isYamlMap(value) ? value : {})) {
    const here = { ...place, path: `${place.path}.${name}` };
    const row = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
    if (own === null) continue;
    try {
      const usual = isYamlMap(own) ? own["default-alert"] : undefined;
      if (usual) {
        defaults.set(
          name,
          readTable(ALERT, usual, { ...here, path: `${here.path}.default-alert` }),
        );
      }
      if (row) providers.push(readProvider(name, row, own, here, secrets));
      else if (isOther(name)) others.push(name);
      else place.notRead.add(here.path);
    } catch (error) {
      if (!(error instanceof WrongField)) throw error;
      leftOut.push({ foreign: { type: TYPE, id: name, name }, reason: `${error.message}.` });
    }
  }
  return { providers, defaults, others, leftOut };
}

function readProvider(
  name: string,
  row: ProviderRow,
  value: Yaml,
  place: Place,
  secrets: Secrets,
): Provider {
  const table = {
    ...row.fields,
    "default-alert": map(ALERT, "Default of the alerts that name the provider."),
    overrides: list("A webhook of its own for the endpoints of a group."),
  };
  const { "default-alert": _alert, overrides, ...config } = readTable(table, value, place);
  const here = { ...place, path: `${place.path}.overrides[]` };
  const own = ((overrides ?? []) as readonly Yaml[]).map((each) => {
    const fields = { ...row.fields, group: text("Group of the endpoints.") };
    const { group = "", ...rest } = readTable(fields, each, here) as ProviderConfig;
    return { group: String(group), config: { ...config, ...withoutNone(rest) } };
  });
  for (const each of [config, ...own.map((override) => override.config)]) {
    for (const field of row.secrets) {
      for (const secret of String((each as ProviderConfig)[field] ?? "").split(",")) {
        secrets.add(secret);
      }
    }
  }
  return { name, row, config, overrides: own };
}

/** Returns the fields of an override that have a value. */
function withoutNone(config: ProviderConfig): ProviderConfig {
  const given = Object.entries(config).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given);
}

/** Alerts of one receiver. */
interface Use {
  entry: Entry;
  alert: Alert;
}

/** Returns a webhook for each provider and override that alerts name, and what cannot be moved. */
export function webhooksOf(
  alerting: Alerting,
  entries: readonly Entry[],
): { webhooks: FoundWebhook[]; leftOut: LeftOut[] } {
  const { providers, leftOut } = alerting;
  const webhooks: FoundWebhook[] = [];
  const left = [...leftOut];
  const uses = entries.flatMap((entry) => entry.alerts.map((alert) => ({ entry, alert })));
  for (const provider of providers) {
    const own = uses.filter(({ alert }) => alert.type === provider.name);
    if (own.length === 0) {
      const foreign = { type: TYPE, id: provider.name, name: provider.name };
      left.push({ foreign, reason: "No enabled alert uses it." });
    }
    const overridden = own.filter(({ alert }) => alert["provider-override"] !== undefined);
    for (const [index, { entry, alert }] of overridden.entries()) {
      const name = `${alert.type} of ${entry.component.foreign.name}`;
      const foreign = { type: "alert", id: `${entry.key}:${alert.type}:${index}`, name };
      left.push({ foreign, reason: "It has a provider-override. Create a webhook for it." });
    }
    const shared = own.filter(({ alert }) => alert["provider-override"] === undefined);
    const byGroup = Map.groupBy(shared, ({ entry }) =>
      provider.overrides.some(({ group }) => group === entry.group) ? entry.group : null,
    );
    for (const [group, ofGroup] of byGroup) {
      const found = ofReceiver(provider, group, ofGroup);
      webhooks.push(...found.webhooks);
      left.push(...found.leftOut);
    }
  }
  return { webhooks, leftOut: [...left, ...missingProviders(alerting, uses)] };
}

/** Returns the webhooks of a provider for an overridden group, or for all others. */
function ofReceiver(
  { name, row, config, overrides }: Provider,
  group: string | null,
  uses: readonly Use[],
): { webhooks: FoundWebhook[]; leftOut: LeftOut[] } {
  const own = group === null ? config : overrides.find((each) => each.group === group)?.config;
  const id = group === null ? name : `${name}:group:${group}`;
  const label = group === null ? row.label : `${row.label} (${group})`;
  const receivers = row.receiversOf(own ?? {});
  if (typeof receivers === "string") {
    return {
      webhooks: [],
      leftOut: [{ foreign: { type: TYPE, id, name: label }, reason: receivers }],
    };
  }
  const byEnd = Map.groupBy(uses, ({ alert }) => alert["send-on-resolved"] === true);
  const webhooks = receivers.flatMap((receiver, index) =>
    [...byEnd].map(([tellsEnd, ofEnd]): FoundWebhook => {
      const parts = [id, ...(index > 0 ? [String(index + 1)] : []), ...(tellsEnd ? [] : ["down"])];
      const title = byEnd.size > 1 && !tellsEnd ? `${label}, without recoveries` : label;
      const reminds = ofEnd.some(({ alert }) => alert["minimum-reminder-interval"]);
      return {
        foreign: { type: TYPE, id: parts.join(":"), name: title },
        body: {
          url: receiver.url,
          description: title,
          events: [
            "monitor.down",
            ...(tellsEnd ? (["monitor.up"] as const) : []),
            ...(reminds ? (["monitor.reminder"] as const) : []),
          ],
          format: row.format,
          ...(receiver.settings && { settings: receiver.settings }),
        },
        changes: droppedIn(row, own ?? {}),
        page: null,
        monitors: [
          ...new Set(
            ofEnd.flatMap(({ entry }) => entry.monitors.map((each) => keyOf(each.foreign))),
          ),
        ],
      };
    }),
  );
  return { webhooks, leftOut: [] };
}

function droppedIn({ dropped }: ProviderRow, config: ProviderConfig): ImportChange[] {
  return dropped.flatMap((field) =>
    config[field] === undefined ? [] : [{ field, from: "set", to: null, reason: DROPPED }],
  );
}

function isOther(name: string): boolean {
  return OTHER_PROVIDERS.some((other) => other === name);
}

/** Lists the providers that have no counterpart, and those that alerts name and the file does not configure. */
function missingProviders(
  { providers, others, leftOut }: Alerting,
  uses: readonly Use[],
): LeftOut[] {
  const done = new Set([
    ...providers.map(({ name }) => name),
    ...leftOut.map(({ foreign }) => foreign.id),
  ]);
  const named = uses.map(({ alert }) => alert.type ?? "");
  const missing = [...new Set([...others, ...named])].filter((type) => !done.has(type));
  return missing.map((type) => {
    const ofType = uses.filter(({ alert }) => (alert.type ?? "") === type);
    const names = [...new Set(ofType.map(({ entry }) => entry.component.foreign.name))];
    const listed = names.slice(0, NAMED_MAX).join(", ");
    const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
    const why = isOther(type) ? "It has no counterpart here." : "It is not configured.";
    const tells = `It notifies about ${plural(names.length, "endpoint")}: ${listed}${more}.`;
    const reason = names.length > 0 ? `${why} ${tells}` : why;
    return { foreign: { type: TYPE, id: type, name: oneLine(type) || "an alert" }, reason };
  });
}
