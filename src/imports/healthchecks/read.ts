import { type Static, Type } from "@sinclair/typebox";
import { crons } from "../../base/cron";
import { sha256Hex } from "../../base/hash";
import type { ForeignObject } from "../../base/import-report";
import { isObject, oneLine, plural } from "../../base/text";
import { DESCRIPTION_MAX } from "../../base/texts";
import { schemaErrors } from "../../base/validation";
import { OperatorError } from "../../db/errors";
import { type ImportedToken, ofPostOnly } from "../../features/monitors/tokens";
import { isTimeZone } from "../../base/zones";
import { emptyFound, type Found, type FoundMonitor, type LeftOut } from "../found";
import {
  cutName,
  cutTags,
  cutText,
  isObjectOrList,
  listUnknown,
  Notes,
  NOTES_REASON,
  parseModestJson,
  readText,
  TAGS_REASON,
} from "../kit";

const CHECKS_MAX = 5_000;

interface HealthchecksOptions {
  /** Key of the addresses with slugs, which is a secret; undefined if no job uses them. */
  pingKey: string | undefined;
}

/**
 * Reads the checks of Healthchecks from a file with the answer of its API. Throws an OperatorError for a file
 * that cannot be used.
 */
export async function readHealthchecks(path: string, options: HealthchecksOptions): Promise<Found> {
  const document = parseModestJson(await readText(path), path);
  if (!isObject(document) || !Array.isArray(document["checks"])) {
    throw new OperatorError(
      `${path} is no answer of Healthchecks to GET /api/v3/checks/: it is no JSON object with a list of checks.`,
    );
  }
  const checks = document["checks"] as unknown[];
  if (checks.length > CHECKS_MAX) {
    const count = plural(checks.length, "check");
    throw new OperatorError(
      `${path} has ${count}; ${CHECKS_MAX.toLocaleString("en")} is the most.`,
    );
  }
  const isReadOnly = (check: unknown) =>
    isObject(check) && "unique_key" in check && !("ping_url" in check);
  if (checks.length > 0 && checks.every(isReadOnly)) {
    throw new OperatorError(
      `${path} is the answer to a read-only key, which has no ping URLs. Fetch it again with a read-write key, so that jobs need no new address.`,
    );
  }
  return findInAnswer(document, checks, options);
}

/** Maximum numbers of integrations that are listed, and of addresses in the instructions. */
const CHANNELS_MAX = 1_000;
const ENDPOINTS_MAX = 5;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUIDS = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/gi;

/** Returns the monitors and integrations of an answer. */
function findInAnswer(
  document: object,
  checks: readonly unknown[],
  { pingKey }: { pingKey: string | undefined },
): Found {
  const hide: Hide = (text) => {
    const withoutUuids = text.replace(UUIDS, "[redacted]");
    return pingKey === undefined ? withoutUuids : withoutUuids.replaceAll(pingKey, "[redacted]");
  };
  const found = emptyFound("healthchecks");
  const identified: IdentifiedCheck[] = [];
  const held: FoundMonitor[] = [];
  for (const [index, check] of checks.entries()) {
    const result = identify(check, index, hide);
    if ("reason" in result) found.leftOut.push(result);
    else if ("check" in result) identified.push(result);
    else held.push(result);
  }
  const slugs = Map.groupBy(identified, ({ check }) => check.slug ?? "");
  const isUnique = (slug: string) => slugs.get(slug)?.length === 1;
  found.monitors.push(...identified.map((one) => monitorOf(one, pingKey, isUnique, hide)), ...held);
  found.leftOut.push(...channelsOf(identified));
  found.notRead.push(...listUnknownFields(document, checks.filter(isObjectOrList)).map(hide));
  found.toDo.push(...toDoOf(identified, slugs, pingKey).map(hide));
  return found;
}

/**
 * Returns a check with its identity. One with fields that Healthchecks does not write is held, and what is no object is
 * left out.
 */
function identify(
  value: unknown,
  index: number,
  hide: Hide,
): IdentifiedCheck | FoundMonitor | LeftOut {
  const { ping_url: pingUrl, unique_key: uniqueKey, name } = isObjectOrList(value) ? value : {};
  const [uuid] = UUID.exec(asText(pingUrl).toLowerCase()) ?? [];
  const publicId = /^[0-9a-f]{40}$/.test(asText(uniqueKey)) ? asText(uniqueKey) : undefined;
  const foreign = {
    type: "check",
    id: uuid === undefined ? (publicId ?? `checks[${index}]`) : publicIdOf(uuid),
    name: cutName(hide(asText(name)), uuid === undefined ? `Check ${index + 1}` : "Unnamed check"),
  };
  const [error] = schemaErrors(Check, value);
  if (!error) return { check: value as Check, uuid, foreign };
  const field = error.pointer.slice(2);
  const reason = oneLine(`Its ${field || "entry"} ${error.detail}.`);
  if (!isObjectOrList(value)) return { foreign, reason };
  // Without the addresses of its jobs, of which only hashes are ever stored.
  const settings = JSON.parse(hide(JSON.stringify(value))) as Record<string, unknown>;
  const config = { source: "healthchecks", type: "check", target: foreign.name, settings };
  return {
    foreign,
    body: { type: "unsupported", name: foreign.name, config },
    changes: [],
    held: `${reason} Its settings are kept.`,
    components: "internal",
  };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the id that Healthchecks shows to read-only keys. The UUID itself is a secret, since it can be called. */
function publicIdOf(uuid: string): string {
  const half = uuid.replaceAll("-", "").slice(0, 16);
  return new Bun.CryptoHasher("sha1").update(half).digest("hex");
}

/** Lists the integrations. The answer has only their ids, which may be secrets. */
function channelsOf(checks: readonly IdentifiedCheck[]): LeftOut[] {
  const counts = new Map<string, number>();
  for (const { check } of checks) {
    for (const id of new Set((check.channels ?? "").split(",").filter(Boolean))) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return [...counts].slice(0, CHANNELS_MAX).map(([id, count], index) => ({
    foreign: {
      type: "integration",
      id: sha256Hex(id).slice(0, 12),
      name: `Integration ${index + 1} of ${plural(count, "check")}`,
    },
    reason: "The answer has only its id. Create a webhook in its place.",
  }));
}

function toDoOf(
  checks: readonly IdentifiedCheck[],
  slugs: ReadonlyMap<string, readonly IdentifiedCheck[]>,
  pingKey: string | undefined,
): string[] {
  const addresses = new Set(
    checks.flatMap(({ check, uuid }) =>
      uuid === undefined ? [] : (endpointOf(check.ping_url ?? "", uuid) ?? []),
    ),
  );
  const hasSlugs = [...slugs.keys()].some((slug) => slug !== "");
  return [
    ...[...addresses]
      .slice(0, ENDPOINTS_MAX)
      .map(
        (address) =>
          `In the addresses that jobs call, replace ${oneLine(address)} by the address of this server and /ping/.`,
      ),
    ...(hasSlugs && pingKey === undefined
      ? ["If jobs call addresses with a ping key and a slug, import again with the ping key."]
      : []),
  ];
}

/** Returns a ping URL without its UUID; undefined if it is no URL. */
function endpointOf(pingUrl: string, uuid: string): string | undefined {
  const url = URL.parse(pingUrl);
  return url?.host ? `${url.origin}${url.pathname.slice(0, -uuid.length)}` : undefined;
}

/*
 * The answer of Healthchecks to GET /api/v3/checks/ with a read-write key. Versions 1 and 2 of its API give the
 * same fields, or some of them.
 */

const Flag = Type.Optional(Type.Boolean());
const Words = Type.Optional(Type.String());
const Seconds = Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000 }));

/** Fields of a check that are read. */
const Check = Type.Object({
  ping_url: Words,
  uuid: Words,
  unique_key: Words,
  name: Words,
  slug: Words,
  tags: Words,
  desc: Words,
  timeout: Seconds,
  grace: Seconds,
  schedule: Words,
  tz: Words,
  status: Words,
  manual_resume: Flag,
  methods: Words,
  filter_subject: Flag,
  filter_body: Flag,
  filter_http_body: Flag,
  filter_default_fail: Flag,
  success_kw: Words,
  failure_kw: Words,
  start_kw: Words,
  channels: Words,
});
type Check = Static<typeof Check>;

/** Fields of a check, and what becomes of each, for the documentation. */
export const CHECK_FIELDS = {
  ping_url: "Its UUID becomes a token of the monitor, so that jobs go on calling it",
  uuid: "Nothing: `ping_url` has it",
  unique_key:
    "Identity of a check without a ping URL, which is switched off; an answer of such checks alone is refused",
  name: "Name, of at most 255 characters",
  slug: "With the ping key, another token, if only one check has the slug",
  tags: "At most 20 tags of 100 characters",
  desc: "Notes, of at most 1,000 characters",
  timeout: "Interval",
  grace: "Grace period",
  schedule:
    "Schedule. An OnCalendar schedule becomes the cron expression with the same times; without one it is switched off",
  tz: "Time zone of the schedule",
  status:
    "`paused`: paused, and unlike there a call does not resume it. `new`: unlike there it is down without a first call in time",
  manual_resume: "Nothing: paused monitors stay paused",
  methods: "The same: with `POST` other calls are answered, and do not count",
  filter_subject: "Switched off: monitors take no e-mail",
  filter_body: "Switched off: monitors take no e-mail",
  filter_http_body: "With words: `body_words`. Without any, it is switched off",
  filter_default_fail: "`fail` for calls without any of the words",
  success_kw: "Words of a success, separated by commas",
  failure_kw: "Words of a failure",
  start_kw: "Words of a start",
  channels: "Not moved, since the answer has only their ids; create webhooks",
} as const satisfies Readonly<Record<keyof Check, string>>;

/** Fields of a check that have no counterpart, or tell the state of a moment. */
const IGNORED = [
  "n_pings",
  "started",
  "last_ping",
  "next_ping",
  "last_duration",
  "subject",
  "subject_fail",
  "badge_url",
  "update_url",
  "pause_url",
  "resume_url",
];

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(CHECK_FIELDS), ...IGNORED]);

/** Lists the fields that this version does not know, each once. */
function listUnknownFields(document: object, checks: readonly object[]): string[] {
  const unknown = new Set<string>();
  for (const field of Object.keys(document)) if (field !== "checks") unknown.add(field);
  for (const check of checks) {
    for (const field of Object.keys(check)) {
      if (!KNOWN.has(field)) unknown.add(`checks[].${field}`);
    }
  }
  return listUnknown([...unknown].sort());
}

/** Returns a text without UUIDs, which can be called, and without the ping key. */
type Hide = (text: string) => string;

/** A check with its UUID, which its ping URL has and which is a secret; undefined without such a URL. */
interface IdentifiedCheck {
  check: Check;
  uuid: string | undefined;
  foreign: ForeignObject;
}

/** Returns the monitor that a check becomes. `isUniqueSlug` is true for a slug that only one check has. */
function monitorOf(
  { check, uuid, foreign }: IdentifiedCheck,
  pingKey: string | undefined,
  isUniqueSlug: (slug: string) => boolean,
  hide: Hide,
): FoundMonitor {
  const notes = new Notes();
  const body = {
    type: "push",
    name: nameOf(check.name ?? "", hide, notes),
    tags: tagsOf(check.tags ?? "", hide, notes),
    notes: notesOf(check.desc ?? "", hide, notes),
    ...timingOf(check, notes),
    paused: check.status === "paused",
  } as const;
  const tokens = tokensOf(check, uuid, pingKey, isUniqueSlug, notes);
  const config = { ...body.config, ...bodyWordsOf(check, notes) };
  noteState(check, notes);
  const hideIn = (value: unknown) => (typeof value === "string" ? hide(value) : value);
  const changes = notes.changes.map((change) => ({
    ...change,
    from: hideIn(change.from),
    to: hideIn(change.to),
  }));
  const { disabled } = notes;
  return { foreign, body: { ...body, config }, changes, disabled, components: "internal", tokens };
}

/** Returns a name without secrets, since reports, pages and refs show it. */
function nameOf(text: string, hide: Hide, notes: Notes): string {
  const name = hide(text);
  const reason = "Names are shown, and an address that jobs call is a secret.";
  if (name !== text) notes.change("name", "set", cutName(name, ""), reason);
  return name;
}

function tagsOf(text: string, hide: Hide, notes: Notes): string[] {
  const words = text.split(/\s+/).filter(Boolean);
  const tags = cutTags(words, "tag");
  notes.text("tags", hide(words.join(" ")), hide(tags.join(" ")), TAGS_REASON);
  return tags;
}

function notesOf(text: string, hide: Hide, notes: Notes): string | null {
  const cut = cutText(text, DESCRIPTION_MAX);
  notes.text("desc", hide(text), hide(cut), NOTES_REASON);
  return cut || null;
}

/** Returns the interval, or the schedule with its time zone, and the grace period. */
function timingOf({ timeout, schedule, tz = "UTC", grace }: Check, notes: Notes) {
  const withGrace = grace === undefined ? {} : { grace_seconds: grace };
  if (schedule === undefined) {
    // Checks that Healthchecks itself exports have one of them.
    if (timeout === undefined) {
      notes.disable("It has neither a timeout nor a schedule. Give it one, and resume it.");
    }
    return { interval_seconds: timeout ?? null, config: withGrace };
  }
  const read = isCron(schedule) ? { cron: schedule.trim() } : cronOfCalendar(schedule);
  const { cron = "", timeZone = tz }: { cron?: string; timeZone?: string | undefined } = read ?? {};
  const problem = scheduleProblem(schedule, cron, timeZone);
  if (problem !== undefined) {
    const from = `${schedule.slice(0, 200)} (${tz.slice(0, 50)})`;
    notes.change("schedule", from, null, problem);
    notes.disable(`${problem} Give it a schedule or an interval, and resume it.`);
    return { interval_seconds: null, config: withGrace };
  }
  const differs = "It is an OnCalendar schedule there, with the same times.";
  notes.text("schedule", schedule.trim(), cron, differs);
  return {
    interval_seconds: null,
    config: { ...withGrace, schedule: cron, time_zone: timeZone },
  };
}

/** As in Healthchecks: five fields on one line are a cron expression, and everything else is for OnCalendar. */
function isCron(schedule: string): boolean {
  const text = schedule.trim();
  return text.startsWith("@") || (!text.includes("\n") && text.split(/\s+/).length === 5);
}

/** Returns the reason for which a schedule cannot be used; undefined for one that can. */
function scheduleProblem(schedule: string, cron: string, timeZone: string): string | undefined {
  if (!isTimeZone(timeZone)) return "The time zone of its schedule is not known.";
  if (crons().errorOf(cron) === undefined) return undefined;
  return isCron(schedule)
    ? "Its cron expression is not known."
    : "No cron expression has the times of its OnCalendar schedule.";
}

/** Returns the addresses with which jobs go on calling. */
function tokensOf(
  { slug = "", methods }: Check,
  uuid: string | undefined,
  pingKey: string | undefined,
  isUniqueSlug: (slug: string) => boolean,
  notes: Notes,
): ImportedToken[] {
  const tokenOf = (value: string): ImportedToken => {
    const token = { kind: "healthchecks", value } as const;
    return methods === "POST" ? ofPostOnly(token) : token;
  };
  const tokens = uuid === undefined ? [] : [tokenOf(uuid)];
  if (methods && methods !== "POST") {
    notes.change("methods", methods, "", "Calls with every method count.");
  }
  if (pingKey !== undefined && slug !== "") {
    if (!/^[a-z0-9_-]{1,100}$/.test(slug)) {
      const reason = "It is no valid slug, so no address with it is taken over.";
      notes.change("slug", slug.slice(0, 200), null, reason);
    } else if (!isUniqueSlug(slug)) {
      const reason = "Several checks have it, so no address with it is taken over.";
      notes.change("slug", slug, null, reason);
    } else {
      tokens.push(tokenOf(`${pingKey}/${slug}`));
    }
  }
  if (tokens.length === 0) {
    notes.disable(
      "The answer has no ping URL of it, so no job can call it. Give it a token, and resume it.",
    );
  }
  return tokens;
}

/** Returns the words in the bodies of calls. Switches off monitors whose calls would mean something else. */
function bodyWordsOf(check: Check, notes: Notes): object {
  const { filter_subject, filter_body, filter_http_body, filter_default_fail: fails } = check;
  if (filter_subject || filter_body) {
    notes.disable("It takes calls by e-mail. Let the job call by HTTP, and resume it.");
  }
  if (!filter_http_body) return {};
  const lists = { failure: check.failure_kw, success: check.success_kw, start: check.start_kw };
  const words = Object.entries(lists).flatMap(([meaning, text = ""]) => {
    const list = new Set(text.split(",").flatMap((word) => word.trim() || []));
    return list.size === 0 ? [] : [[meaning, [...list]]];
  });
  if (words.length > 0) {
    return { body_words: { ...Object.fromEntries(words), ...(fails && { otherwise: "fail" }) } };
  }
  notes.disable(
    "The bodies of its calls decide their meaning, and it has no words for that. Give it some, and resume it.",
  );
  return {};
}

/** Notes differences in the state of a check. */
function noteState({ status, manual_resume: isManual }: Check, notes: Notes): void {
  if (status === "new") {
    const reason = "Healthchecks waits for the first call. Here it is down without a call in time.";
    notes.change("status", "new", "pending", reason);
  } else if (status === "paused" && !isManual) {
    const reason = "In Healthchecks a call resumes it. Here it stays paused until you resume it.";
    notes.change("manual_resume", false, true, reason);
  }
}

/*
 * Calendar expressions of systemd, as Healthchecks takes them: `Mon..Fri *-*-* 02:00`. Those that a cron expression
 * says exactly are converted. Others have seconds, years, several lines, or weekdays that must be certain days too.
 */

const SHORTHANDS: Readonly<Record<string, string>> = {
  minutely: "* * * * *",
  hourly: "0 * * * *",
  daily: "0 0 * * *",
  weekly: "0 0 * * 1",
  monthly: "0 0 1 * *",
  quarterly: "0 0 1 1,4,7,10 *",
  semiannually: "0 0 1 1,7 *",
  yearly: "0 0 1 1 *",
  annually: "0 0 1 1 *",
};

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** A cron expression with the time zone that the calendar expression names, if any. */
interface Converted {
  cron: string;
  timeZone: string | undefined;
}

/** Converts a calendar expression; undefined for one that is not valid, or that no cron expression says exactly. */
function cronOfCalendar(expression: string): Converted | undefined {
  const words = expression.trim().split(/[ \t]+/);
  const last = words.at(-1) ?? "";
  const timeZone = words.length > 1 && isZoneWord(last) ? last : undefined;
  const cron = cronOfWords(timeZone === undefined ? words : words.slice(0, -1));
  return cron === undefined ? undefined : { cron, timeZone };
}

function isZoneWord(word: string): boolean {
  return (
    (word === "UTC" || word.includes("/")) && !/[\d:*]/.test(word.slice(0, 1)) && isTimeZone(word)
  );
}

function cronOfWords(words: string[]): string | undefined {
  const [first = ""] = words;
  const shorthand = first.toLowerCase();
  if (Object.hasOwn(SHORTHANDS, shorthand)) {
    return words.length === 1 ? SHORTHANDS[shorthand] : undefined;
  }
  const rest = [...words];
  const weekdays = /^[a-z]/i.test(first) ? weekdaysOf(rest.shift() ?? "") : "*";
  const date = rest[0]?.includes(":") === false ? rest.shift() : "*-*-*";
  const time = rest.shift() ?? "00:00";
  if (rest.length > 0 || weekdays === undefined) return undefined;
  const [minute, hour] = timeOf(time);
  const [day, month] = dateOf(date ?? "");
  const days = day === undefined ? undefined : daysOf(day, weekdays);
  if (minute === undefined || hour === undefined || month === undefined) return undefined;
  return days && `${minute} ${hour} ${days.day} ${month} ${days.weekday}`;
}

/** Returns minute and hour of a time whose second is 0. */
function timeOf(time: string): (string | undefined)[] {
  const [hour = "", minute = "", second = "0", ...rest] = time.split(":");
  if (rest.length > 0 || !/^0{1,2}$/.test(second)) return [];
  return [fieldOf(minute, 0, 59), fieldOf(hour, 0, 23)];
}

/** Returns day and month of a date in any year. */
function dateOf(date: string): (string | undefined)[] {
  // The last day of the month is `~1`.
  const parts = date.replace(/[-~]0?1$/, (end) => (end.startsWith("~") ? "-L" : end)).split("-");
  const [day = "", month = "", year = "*", ...rest] = parts.toReversed();
  if (rest.length > 0 || year !== "*") return [];
  return [day === "L" ? day : fieldOf(day, 1, 31), fieldOf(month, 1, 12)];
}

/**
 * Returns the fields for days and weekdays. In a calendar expression both must match, and in a cron expression one of
 * them, unless one is `*`. A weekday of the first seven days is that of the first week, and so on.
 */
function daysOf(day: string, weekday: string): { day: string; weekday: string } | undefined {
  if (day === "*" || weekday === "*") return { day, weekday };
  const [, from, to] = /^(\d+)-(\d+)$/.exec(day) ?? [];
  const week = (Number(from) + 6) / 7;
  const isWeek = Number.isInteger(week) && week <= 4 && Number(to) === Number(from) + 6;
  return isWeek && /^\d$/.test(weekday) ? { day: "*", weekday: `${weekday}#${week}` } : undefined;
}

/** Returns a list of values, ranges and steps as a field of a cron expression. */
function fieldOf(text: string, least: number, most: number): string | undefined {
  if (text === "*") return "*";
  const parts = text.split(",").map((part) => {
    const [, every, from = every, to, step] =
      /^(?:(\*)|(\d{1,2})(?:\.\.(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    // A repetition from `*` begins at 0.
    const start = from === "*" ? 0 : Number(from);
    const end = to === undefined ? (step === undefined ? start : most) : Number(to);
    const isValid = start >= least && end <= most && start <= end && step !== "0" && step !== "00";
    if (from === undefined || (from === "*" && step === undefined) || !isValid) return undefined;
    const range = start === end ? `${start}` : `${start}-${end}`;
    return step === undefined || start === end ? range : `${range}/${Number(step)}`;
  });
  return parts.includes(undefined) ? undefined : parts.join(",");
}

/** Returns the numbers of weekdays, from 0 for Sunday. */
function weekdaysOf(text: string): string | undefined {
  const numbers = text.split(",").flatMap((part): (number | undefined)[] => {
    const [from, to, ...rest] = part.split("..").map(weekdayOf);
    if (rest.length > 0 || from === undefined) return [undefined];
    if (!part.includes("..")) return [from];
    if (to === undefined) return [undefined];
    const length = ((to - from + 7) % 7) + 1;
    return Array.from({ length }, (_, index) => (from + index) % 7);
  });
  if (numbers.includes(undefined)) return undefined;
  const sorted = [...new Set(numbers)].toSorted((a, b) => Number(a) - Number(b));
  return sorted.length === 7 ? "*" : sorted.join(",");
}

function weekdayOf(name: string): number | undefined {
  const lower = name.toLowerCase();
  const number = WEEKDAYS.findIndex((day) => lower === day || lower === day.slice(0, 3));
  return number < 0 ? undefined : number;
}
