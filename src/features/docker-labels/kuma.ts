/* Labels of AutoKuma, such as `kuma.web.http.url`: the fields that they set here. */

/** A field of a monitor with its value: a text as in a label, or a value. */
export interface Field {
  field: string;
  value: unknown;
}

/** Types here of the types there. */
const TYPES: Readonly<Record<string, string>> = {
  http: "http",
  keyword: "http",
  port: "tcp",
  ping: "ping",
  push: "push",
};

/** Objects of AutoKuma that are no monitors. Their labels declare nothing here. */
const OTHER_OBJECTS: ReadonlySet<string> = new Set([
  "docker_host",
  "group",
  "notification",
  "status_page",
  "tag",
]);

/** Returns false for labels of objects that are no monitors. */
export function isKumaMonitor(type: string): boolean {
  return !OTHER_OBJECTS.has(type);
}

/** Returns the names of groups by their ids, from the labels of each container. */
export function kumaGroupsOf(
  containers: readonly (readonly (readonly [label: string, value: string])[])[],
): ReadonlyMap<string, string> {
  const groups = containers.flat().flatMap(([label, value]) => {
    const [, id, type, setting] = label.split(".");
    return id && type === "group" && setting === "name" ? [[id, value] as const] : [];
  });
  return new Map(groups);
}

/** Settings that have the same meaning here, by their names there. */
const SAME: Readonly<Record<string, string>> = {
  name: "name",
  url: "url",
  hostname: "host",
  port: "port",
  interval: "interval_seconds",
  retry_interval: "retry_interval_seconds",
  method: "method",
  upside_down: "inverted",
  description: "notes",
};

/** Settings without an effect on the checks, or on the messages that webhooks here send. */
const IGNORED: ReadonlySet<string> = new Set([
  "cache_bust",
  "docker_host_name",
  "expiry_notification",
  "notification_name_list",
  "packet_size",
  "parent",
  "resend_interval",
  "tag_names",
]);

const SECRET =
  /^(basic_auth_(user|pass)|oauth_\w+|auth_(domain|workstation|method)|authMethod|body|headers|http_body_encoding|push_token|tls_\w+)$/;

const flag = (value: string) => /^(true|1)$/i.test(value.trim());

/** Labels of a monitor by the setting that they set. */
type Settings = ReadonlyMap<string, { label: string; value: string }>;

/** Reads the settings of a monitor of AutoKuma. A problem is a sentence that names its label. */
export function readKumaSettings(
  kumaType: string,
  settings: Settings,
  groups: ReadonlyMap<string, string>,
): { fields: (Field & { label: string })[]; problems: string[] } {
  const [first = { label: "" }] = settings.values();
  if (!Object.hasOwn(TYPES, kumaType)) {
    const known = Object.keys(TYPES).join(", ");
    const problem = `${first.label} has the type ${kumaType}; of AutoKuma's types, labels declare only ${known}.`;
    return { fields: [], problems: [problem] };
  }
  const fields = [
    { field: "type", value: TYPES[kumaType], label: first.label },
    ...conditionsIn(settings),
  ];
  const problems: string[] = [];
  for (const [setting, { label, value }] of settings) {
    const field = /\{[{%]/.test(value) ? HAS_TEMPLATE : fieldOf(setting, value, groups);
    if (typeof field === "string") problems.push(`${label} ${field}`);
    else if (field) fields.push({ ...field, label });
  }
  return { fields, problems };
}

const HAS_TEMPLATE = "has a template, of which only {{ container_name }} is filled in.";

/** Settings that become conditions: see `conditionsIn`. */
const CONDITIONS: ReadonlySet<string> = new Set([
  "accepted_statuscodes",
  "invert_keyword",
  "keyword",
]);

/** Returns the conditions on the response as a field; none without any. */
function conditionsIn(settings: Settings): (Field & { label: string })[] {
  const [statuses, keyword, invert] = ["accepted_statuscodes", "keyword", "invert_keyword"].map(
    (name) => settings.get(name),
  );
  const label = keyword?.label ?? statuses?.label;
  if (label === undefined) return [];
  const op = invert && flag(invert.value) ? "not_contains" : "contains";
  const value = [
    ...(statuses
      ? [{ source: "status", op: "in", value: statuses.value.match(/[\d-]+/g) ?? [] }]
      : []),
    ...(keyword ? [{ source: "body", op, value: keyword.value }] : []),
  ];
  return [{ field: "assertions", value, label }];
}

/** Returns the field of a setting, undefined for one without an effect here, or the end of a sentence about it. */
function fieldOf(
  setting: string,
  value: string,
  groups: ReadonlyMap<string, string>,
): Field | undefined | string {
  if (SECRET.test(setting)) {
    return "is a secret or a part of signing in, which labels never set. Set it in the dashboard, where it stays.";
  }
  if (IGNORED.has(setting) || CONDITIONS.has(setting)) return undefined;
  const same = Object.hasOwn(SAME, setting) ? SAME[setting] : undefined;
  if (same !== undefined) return { field: same, value };
  switch (setting) {
    case "parent_name":
      return { field: "group", value: groups.get(value) ?? value };
    case "max_retries":
      return { field: "failure_threshold", value: Number(value) + 1 };
    case "timeout":
      return { field: "timeout_ms", value: Number(value) * 1_000 };
    case "ignore_tls":
      return { field: "verify_tls", value: !flag(value) };
    case "max_redirects":
      return { field: "follow_redirects", value: value.trim() !== "0" };
    case "active":
      return { field: "paused", value: !flag(value) };
    case "create_paused":
      return flag(value) ? { field: "paused", value: true } : undefined;
  }
  return "is a setting without a counterpart here.";
}
