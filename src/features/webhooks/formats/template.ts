/*
 * Any receiver: a request that users write, with placeholders for the event and for secrets, and optionally another one
 * for the end of what the first one reports. Values are escaped for their place, so that they are always only text there.
 */
import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { OneOf, Text } from "../../../base/schema";
import { givenValues, SecretValues } from "../../../base/secrets";
import { MONITOR_TONES, type Tone } from "../../../base/status";
import { capitalised, parseJson, spaced, withLineFeeds } from "../../../base/text";
import { toIso } from "../../../base/time";
import { FieldErrors, schemaErrors } from "../../../base/validation";
import { hasUserInfo, parseWebUrl } from "../../../base/web-url";
import { reportsEnds } from "../../../base/webhook";
import { headerError, toHeaderValue } from "../../../egress/http-headers";
import type { EventType, RecordedEvent } from "../../../events/outbox";
import type { Format, FormatContext, Message } from "./format";
import {
  clean,
  cleanLine,
  clipTo,
  type Dialect,
  fittedMessage,
  PLAIN,
  withoutMentions,
  writeBlocks,
} from "./markup";
import { buildNotification } from "./notification";
import { type Data, recordOf, recordsOf, textOf } from "./reading";

const METHODS = ["POST", "PUT", "PATCH", "GET", "DELETE"] as const;

/** Characters of a body, and of the value of a header. */
const BODY_MAX = 20_000;
const HEADER_MAX = 2_000;
const HEADERS_MAX = 30;
const URL_MAX = 2_000;

/** Placeholders of one request, so that the message is at most some megabytes. */
const PLACEHOLDERS_MAX = 50;

/** Characters of a title and a text, by default and at most. */
const TITLE_LIMIT = { default: 250, min: 20, max: 1_000 };
const TEXT_LIMIT = { default: 4_000, min: 50, max: 10_000 };

/** Placeholders with their meanings. `secret.NAME` comes in addition. */
export const PLACEHOLDERS = {
  title: "What happened, with the name of its object, on one line.",
  text: "Status, times, the words of the update, and the components, on several lines.",
  status:
    "Status of the object: that of a monitor, such as `down`, of an incident, a maintenance or a component; `raised` or `cleared` of an alarm; `deleted` or `test`.",
  tone: "Severity: `ok`, `maint`, `degraded`, `partial`, `major` or `none`.",
  url: "Link to the object: public for incidents and maintenance, in the dashboard for monitors.",
  page: "Name of the status page, or the host of this installation.",
  components: "Components with their statuses, on one line.",
  event: "Type of the event, such as `monitor.down`.",
  time: "Time of the event, ISO 8601 in UTC.",
  key: "Key of the object: the same for all that is sent about it, so that an end finds its begin.",
  id: "Id of the message, the same at every attempt: the header `webhook-id`.",
} as const;

const NAMES = Object.keys(PLACEHOLDERS).map((name) => `{${name}}`);

function Headers(description: string) {
  return Type.Record(Type.String(), Text({ maxLength: HEADER_MAX }), {
    maxProperties: HEADERS_MAX,
    description,
    examples: [{ authorization: "Bearer {secret.TOKEN}", "content-type": "application/json" }],
  });
}

const SECRETS = SecretValues({
  description:
    "Values of {secret.NAME} by name, in capitals. Values that no part of the request names are not kept.",
});

const Settings = Type.Object(
  {
    method: OneOf(METHODS, { description: "Method of the request." }),
    headers: Type.Optional(
      Headers(
        "Headers by name, with placeholders. “Basic user:password” in Authorization is encoded.",
      ),
    ),
    body: Type.Optional(
      Text({
        maxLength: BODY_MAX,
        description: `Body with the placeholders ${NAMES.join(", ")} and {secret.NAME}, whose values are escaped for the Content-Type: JSON, a form, XML or text.`,
        examples: ['{"text": "{title}\\n{text}"}'],
      }),
    ),
    title_limit: Type.Optional(
      Type.Integer({
        minimum: TITLE_LIMIT.min,
        maximum: TITLE_LIMIT.max,
        description: `Characters after which {title} is cut. Default: ${TITLE_LIMIT.default.toLocaleString("en")}.`,
      }),
    ),
    text_limit: Type.Optional(
      Type.Integer({
        minimum: TEXT_LIMIT.min,
        maximum: TEXT_LIMIT.max,
        description: `Characters after which {text} is cut. Default: ${TEXT_LIMIT.default.toLocaleString("en")}.`,
      }),
    ),
    resolve_method: Type.Optional(
      OneOf(METHODS, { description: "Method of another request for the end of something." }),
    ),
    resolve_url: Type.Optional(
      Text({
        minLength: 1,
        maxLength: URL_MAX,
        description: "URL of the request for the end, on the same server.",
      }),
    ),
    resolve_headers: Type.Optional(Headers("Headers of the request for the end.")),
    resolve_body: Type.Optional(
      Text({
        maxLength: BODY_MAX,
        description:
          "Body of the request for the end. Parts that are left out are those of the first request.",
      }),
    ),
    secrets: Type.Optional(SECRETS),
  },
  { additionalProperties: false },
);
type Settings = Static<typeof Settings>;

type Placeholder = keyof typeof PLACEHOLDERS;
type Values = Readonly<Record<Placeholder, string>>;

const PLACEHOLDER = /\{([A-Za-z][\w.]*)\}/g;
const OF_SECRET = "secret.";
const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,39}$/;

export const template: Format = {
  name: "template",
  label: "Any receiver",
  hint: "A URL of any service with an HTTP API, and the request that it expects. Presets fill it in for many services.",
  settings: Settings,
  pace: [],
  destination: ({ href }, { secrets }) => JSON.stringify([href, givenValues(secrets)]),
  validate: (url, settings) =>
    // The schema has its errors already.
    schemaErrors(Settings, settings).length > 0 ? [] : errorsOf(url, settings as Settings),
  trim(url, settings) {
    const { secrets, ...others } = settings;
    if (typeof secrets !== "object" || secrets === null) return { ...settings };
    const used = secretNamesIn(url, others);
    const kept = Object.entries(secrets).filter(([name]) => used.includes(name));
    return kept.length > 0 ? { ...others, secrets: Object.fromEntries(kept) } : others;
  },
  spellSecrets(settings) {
    const secrets = givenValues(settings["secrets"]);
    const values = Object.values(secrets);
    const headers = ["headers", "resolve_headers"].flatMap((name) =>
      Object.entries(givenValues(settings[name])),
    );
    const encoded = headers.flatMap(([name, value]) => {
      const login = loginIn(name, filled(value, {}, secrets, unchanged));
      return login === undefined ? [] : [base64(login)];
    });
    return [
      ...encoded,
      // A receiver can read the bytes of a header as Latin-1.
      ...values.flatMap((value) => [
        escapeUrl(value),
        escapeUrlSecret(value),
        escapeXml(value),
        toHeaderValue(value),
      ]),
    ];
  },
  write(event, context) {
    const settings = context.settings as Settings;
    const phase = reportsEnds({ format: "template", settings }) ? phaseOf(event) : "begin";
    if (phase === "none") return undefined;
    // An end that people are not told of is reported all the same, or its begin would stay open.
    const reported = phase === "end" ? { ...event, data: { ...event.data, notify: true } } : event;
    const values = valuesOf(reported, context, settings);
    if (!values) return undefined;
    const request = phase === "end" ? endOf(context.url, settings) : beginOf(context.url, settings);
    return requestWith(request, values, givenValues(settings.secrets));
  },
};

/* The two requests of a template. */

interface RequestTemplate {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

function beginOf(url: string, { method, headers = {}, body = "" }: Settings): RequestTemplate {
  return { method, url, headers, body };
}

function endOf(url: string, settings: Settings): RequestTemplate {
  const begin = beginOf(url, settings);
  const method = settings.resolve_method ?? begin.method;
  return {
    method,
    url: settings.resolve_url ?? begin.url,
    headers: settings.resolve_headers ?? begin.headers,
    body: settings.resolve_body ?? (method === "GET" ? "" : begin.body),
  };
}

/** Returns the names of the secrets that a request names, each once, in their order. Settings may be invalid. */
export function secretNamesIn(url: string, settings: Readonly<Record<string, unknown>>): string[] {
  const texts = [url, ...Object.values(settings)].flatMap((value) => {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? Object.values(value) : [];
  });
  const names = texts
    .flatMap((text: unknown) => (typeof text === "string" ? placeholdersIn(text) : []))
    .flatMap((name) => (name.startsWith(OF_SECRET) ? [name.slice(OF_SECRET.length)] : []));
  return [...new Set(names)];
}

function placeholdersIn(text: string): string[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name = ""]) => name);
}

/** Returns a text with its placeholders replaced by escaped values. One without a value becomes empty. */
function filled(
  text: string,
  values: Partial<Values>,
  secrets: Readonly<Record<string, string>>,
  escape: (value: string, isSecret: boolean) => string,
): string {
  return text.replace(PLACEHOLDER, (_, name: string) => {
    const isSecret = name.startsWith(OF_SECRET);
    const value = isSecret ? secrets[name.slice(OF_SECRET.length)] : values[name as Placeholder];
    return escape(value ?? "", isSecret);
  });
}

const unchanged = (value: string) => value;

function requestWith(
  { method, url, headers, body }: RequestTemplate,
  values: Values,
  secrets: Readonly<Record<string, string>>,
): Message {
  const type = contentTypeOf({ headers, body });
  const { escape } = escapeFor(type ?? "");
  const written = filled(bodyText(type, body), values, secrets, escape);
  const target = filled(url, values, secrets, (value, isSecret) =>
    isSecret ? escapeUrlSecret(value) : escapeUrl(value),
  );
  requireSameShape(url, target);
  const named = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    headerValue(
      name,
      filled(value, values, secrets, (text, isSecret) => (isSecret ? text : cleanLine(text))),
    ),
  ]);
  return {
    method,
    url: target,
    headers: { ...(type !== undefined && { "content-type": type }), ...Object.fromEntries(named) },
    body: written,
  };
}

/** Returns the Content-Type of a request with a body: its header, or else by the beginning of the body. */
function contentTypeOf({
  headers,
  body,
}: Pick<RequestTemplate, "headers" | "body">): string | undefined {
  const own = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type");
  if (own || body === "") return own?.[1];
  const isJson = /^\s*[{[]/.test(filled(body, {}, {}, () => "x"));
  return isJson ? "application/json" : "text/plain; charset=utf-8";
}

/** Returns a body as it is sent. Fields of a form may stand on lines of their own, which are no part of it. */
function bodyText(type: string | undefined, body: string): string {
  const text = withLineFeeds(body);
  if (!isForm(type)) return text;
  const lines = text.split("\n");
  return lines.map((line) => line.trim()).join("");
}

/** Throws if a value would lead to another place on the server, as `..` does between two slashes. */
function requireSameShape(before: string, after: string): void {
  const [expected, actual] = [shapeOf(filled(before, {}, {}, () => "x")), shapeOf(after)];
  if (expected !== actual) throw new Error("a value does not fit into the URL of a template");
}

function shapeOf(text: string): string {
  const url = new URL(text);
  return `${url.origin} ${url.pathname.split("/").length}`;
}

/* Escapes. */

const FORM = /^application\/x-www-form-urlencoded\b/i;
// Also `application/x-ndjson`, of which a body can have one line.
const JSON_TYPE = /^[^;]*json/i;
const MARKUP = /^[^;]*[/+](?:xml|html)\b/i;

function isForm(type: string | undefined): boolean {
  return type !== undefined && FORM.test(type);
}

interface Escape {
  escape: (value: string) => string;
  /** Returns the error of a body with placeholders; undefined for none. */
  problem: (body: string) => string | undefined;
}

const AS_TEXT: Escape = { escape: unchanged, problem: () => undefined };

/** Returns how values are escaped in a body of a type. */
function escapeFor(type: string): Escape {
  if (JSON_TYPE.test(type)) return { escape: escapeJson, problem: jsonProblem };
  if (isForm(type)) return { escape: escapeUrl, problem: formProblem };
  return MARKUP.test(type) ? { ...AS_TEXT, escape: escapeXml } : AS_TEXT;
}

function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function jsonProblem(body: string): string | undefined {
  // A quotation mark at the beginning would end a text if a backslash preceded the placeholder.
  const sample = filled(body, {}, {}, () => escapeJson('"\n'));
  return parseJson(sample) === undefined
    ? "must be JSON, with placeholders inside of texts only"
    : undefined;
}

function formProblem(body: string): string | undefined {
  const sample = filled(bodyText("application/x-www-form-urlencoded", body), {}, {}, () => "x");
  return /[^\x21-\x7e]/.test(sample)
    ? "must be a form such as to={secret.TO}&text={text}, without spaces and accents outside of placeholders"
    : undefined;
}

/** Escapes a value for URLs and forms. */
function escapeUrl(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Escapes a secret for a URL. One that was copied from a URL can be escaped already. */
function escapeUrlSecret(value: string): string {
  return escapeUrl(value).replace(/%25([0-9A-Fa-f]{2})/g, "%$1");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapeXml(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

function headerValue(name: string, value: string): string {
  const login = loginIn(name, value);
  return toHeaderValue(login === undefined ? value : `Basic ${base64(login)}`);
}

/** Returns user name and password of a header Authorization that has them as they are; undefined for others. */
function loginIn(name: string, value: string): string | undefined {
  const [, login] = /^basic +([^ ].*)$/is.exec(value) ?? [];
  return name.toLowerCase() === "authorization" && login?.includes(":") ? login : undefined;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/* Values. */

/** Mentions of whole channels in other spellings than "@name". */
const CHANNEL_MENTION = /<(?=[!@#]|users\/|at[\s>])/gi;

/** Returns a text whose mentions have no effect, since it may quote others than the team. */
function harmless(text: string): string {
  return withoutMentions(clean(text)).replace(CHANNEL_MENTION, "<\u200b");
}

const HARMLESS: Dialect = { ...PLAIN, text: harmless, code: harmless, codeBlock: harmless };

function valuesOf(
  event: RecordedEvent,
  context: FormatContext,
  { title_limit = TITLE_LIMIT.default, text_limit = TEXT_LIMIT.default }: Settings,
): Values | undefined {
  const notification = buildNotification(event, context);
  if (!notification) return undefined;
  const { tone, url } = notification;
  const title = clipTo(harmless(notification.title), title_limit);
  const text = fittedMessage(
    notification,
    (blocks) => writeBlocks(blocks, HARMLESS).trim(),
    ({ length }) => length <= text_limit,
  );
  return {
    title,
    text: text === "" ? clipTo(title, text_limit) : text,
    status: statusOf(event, context, tone),
    tone,
    url,
    page: harmless(cleanLine(context.pageName)),
    components: componentsOf(event, context),
    event: event.type,
    time: toIso(event.at),
    key: keyOf(event, context),
    id: context.messageId,
  };
}

/** Returns the status of the object of an event; of gathered ones the worst. */
function statusOf({ type, data }: RecordedEvent, { gathered }: FormatContext, tone: Tone): string {
  const states = ["down", "degraded", "up"] as const;
  if (gathered) return states.find((state) => MONITOR_TONES[state] === tone) ?? "down";
  switch (type) {
    case "webhook.test":
      return "test";
    case "incident.deleted":
      return "deleted";
    case "location.offline":
      return "offline";
    case "fleet.alarm":
    case "monitor.down":
    case "monitor.up":
    case "monitor.degraded":
      return textOf(data, "state") ?? "";
    case "monitor.reminder":
    case "monitor.certificate_expiring":
      return textOf(recordOf(data, "monitor") ?? {}, "state") ?? "";
    default:
      return textOf(data, "status") ?? "";
  }
}

function componentsOf({ type, data }: RecordedEvent, { gathered }: FormatContext): string {
  if (gathered) return "";
  const about: Data = recordOf(data, "monitor") ?? data;
  const all = type === "component.status_changed" ? [data] : recordsOf(about, "components");
  const named = all.map((component) => {
    const name = cleanLine(textOf(component, "name") ?? "");
    const status = textOf(component, "status");
    return status === undefined ? name : `${name}: ${capitalised(spaced(status))}`;
  });
  return clipTo(harmless(named.join(", ")), TITLE_LIMIT.max);
}

/**
 * Returns the key of the object of an event. A certificate has one of its own, so that a monitor that is up again does not
 * end what is reported about its certificate.
 */
function keyOf({ type, subjectId }: RecordedEvent, { gathered, messageId }: FormatContext): string {
  if (gathered && new Set(gathered.events.map((event) => event.subjectId)).size > 1) {
    return messageId;
  }
  return type === "monitor.certificate_expiring" ? `${subjectId}-certificate` : subjectId;
}

/** Events after which there is nothing to report until the next one. */
const ENDS: ReadonlySet<string> = new Set<EventType>([
  "monitor.up",
  "incident.resolved",
  "incident.deleted",
  "maintenance.completed",
  "maintenance.cancelled",
]);

/** Statuses and states that are over, in which other events report nothing. */
const OVER: ReadonlySet<string> = new Set(["resolved", "completed", "cancelled"]);

/** Returns the request that an event is: that for the begin, also of all that follows, that for the end, or none. */
function phaseOf({ type, data }: RecordedEvent): "begin" | "end" | "none" {
  if (ENDS.has(type)) return "end";
  if (type === "component.status_changed") {
    return textOf(data, "status") === "operational" ? "end" : "begin";
  }
  if (type === "fleet.alarm") return textOf(data, "state") === "cleared" ? "end" : "begin";
  return OVER.has(textOf(data, "status") ?? "") ? "none" : "begin";
}

/* Validation. */

/** Headers that only make sense with a secret, which must not be readable in the template. */
const CREDENTIALS = /^(?:authorization|proxy-authorization|cookie|x-api-key|x-auth-token)$/i;

/** Headers that Allclear signs each message with. */
const SIGNATURE = /^webhook-(?:id|timestamp|signature)$/i;

// Control characters, also those that a header could have.
const CONTROL = /\p{Cc}/u;

function errorsOf(url: string, settings: Settings): FieldError[] {
  const errors = new FieldErrors();
  const at = (name: string) => ["settings", name];
  const add = (path: readonly (string | number)[], detail: string | undefined) => {
    if (detail !== undefined) errors.add([...path], detail);
  };
  const origin = originOf(url);
  add(["url"], urlProblem(url) ?? unknownIn(url));
  const other = settings.resolve_url;
  if (other !== undefined) {
    const elsewhere =
      origin !== undefined && originOf(other) !== origin
        ? "must have the same scheme, host and port as the URL"
        : undefined;
    add(at("resolve_url"), urlProblem(other) ?? unknownIn(other) ?? elsewhere);
  }
  for (const name of ["headers", "resolve_headers"] as const) {
    for (const error of headerErrors(at(name), settings[name] ?? {})) errors.addAll([], [error]);
  }
  const problem = bodyProblem(beginOf(url, settings));
  add(at("body"), problem);
  // The body of the first request, which is that of the other one too, has its error already.
  if (settings.resolve_body !== undefined || problem === undefined) {
    add(at("resolve_body"), bodyProblem(endOf(url, settings)));
  }
  for (const [name, detail] of secretProblems(url, settings)) add([...at("secrets"), name], detail);
  return [...errors.all];
}

function originOf(text: string): string | undefined {
  return URL.parse(text)?.origin;
}

/** Returns the error of a URL with placeholders; undefined for none. Its host is checked elsewhere. */
function urlProblem(text: string): string | undefined {
  const [origin, other] = ["1", "2"].map((value) => originOf(filled(text, {}, {}, () => value)));
  if (origin !== other || /^[^:]*:\/\/[^/?#]*\{/.test(text)) {
    return "must name its host, without placeholders";
  }
  if (/[\s\\]|\p{Cc}/u.test(text))
    return "must not contain spaces, backslashes or control characters";
  const url = parseWebUrl(filled(text, {}, {}, () => "x"));
  if (!url) return "must be a URL that begins with https:// or http://";
  return hasUserInfo(url) ? "must not contain a user name or password" : undefined;
}

/** Returns the error of a text with a placeholder that does not exist; undefined for none. */
function unknownIn(text: string): string | undefined {
  const unknown = placeholdersIn(text).find((name) =>
    name.startsWith(OF_SECRET)
      ? !SECRET_NAME.test(name.slice(OF_SECRET.length))
      : !Object.hasOwn(PLACEHOLDERS, name),
  );
  if (unknown === undefined) return undefined;
  return unknown.startsWith(OF_SECRET)
    ? `names {${unknown}}, whose name must have capitals, digits and underscores`
    : `names {${unknown}}, which is no placeholder`;
}

function headerErrors(
  path: readonly string[],
  headers: Readonly<Record<string, string>>,
): FieldError[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return Object.entries(headers).flatMap(([name, value], index) => {
    const lower = name.toLowerCase();
    const detail =
      (names.indexOf(lower) < index ? "is named twice" : undefined) ??
      (SIGNATURE.test(name) ? "is set by Allclear itself" : undefined) ??
      (CONTROL.test(value) ? "has control characters" : undefined) ??
      unknownIn(value) ??
      headerError(name, toHeaderValue(filled(value, {}, {}, () => "x"))) ??
      (CREDENTIALS.test(name) && !value.includes(`{${OF_SECRET}`)
        ? "is a secret: write it as {secret.NAME}"
        : undefined) ??
      (lower === "content-type" ? typeProblem(value) : undefined);
    return detail === undefined ? [] : [{ pointer: pointer(...path, name), detail }];
  });
}

function typeProblem(value: string): string | undefined {
  if (placeholdersIn(value).length > 0) return "must not contain placeholders";
  return /^\s*(?:multipart\/|$)/i.test(value) ? "must be JSON, a form, XML or text" : undefined;
}

function bodyProblem({ method, url, headers, body }: RequestTemplate): string | undefined {
  const count = [url, ...Object.values(headers), body].flatMap(placeholdersIn).length;
  if (count > PLACEHOLDERS_MAX) {
    return `has too many placeholders: a request may have ${PLACEHOLDERS_MAX}, with those of its URL and headers`;
  }
  if (body === "") return undefined;
  if (method === "GET") return "must be left out of a GET request";
  return unknownIn(body) ?? escapeFor(contentTypeOf({ headers, body }) ?? "").problem(body);
}

/** Returns the errors of secrets by name: those that are missing, and those that do not fit. */
function secretProblems(url: string, settings: Settings): [name: string, detail: string][] {
  const { secrets, ...others } = settings;
  const given = givenValues(secrets);
  const inHeaders = secretNamesIn("", {
    headers: settings.headers,
    resolve_headers: settings.resolve_headers,
  });
  const missing = secretNamesIn(url, others).flatMap((name): [string, string][] =>
    !given[name] && SECRET_NAME.test(name)
      ? [[name, `is required, since the request has {secret.${name}}`]]
      : [],
  );
  const unfit = Object.entries(given).flatMap(([name, value]): [string, string][] => {
    if (!SECRET_NAME.test(name)) return [[name, "must have capitals, digits and underscores"]];
    const hasControl = inHeaders.includes(name) && CONTROL.test(value);
    return hasControl ? [[name, "has control characters, which a header cannot have"]] : [];
  });
  return [...missing, ...unfit];
}
