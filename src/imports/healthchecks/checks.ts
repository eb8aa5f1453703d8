/*
 * The answer of Healthchecks to GET /api/v3/checks/ with a read-write key. Versions 1 and 2 of its API give the
 * same fields, or some of them.
 */
import { type Static, Type } from "@sinclair/typebox";
import { crons } from "../../base/cron";
import type { ForeignObject, ImportChange } from "../../base/import-report";
import { TAG_MAX, TAGS_MAX, withTag } from "../../base/tags";
import { oneLine } from "../../base/text";
import { DESCRIPTION_MAX } from "../../base/texts";
import { type ImportedToken, ofPostOnly } from "../../features/monitors/heartbeats";
import { isTimeZone } from "../../features/pages/rules";
import type { FoundMonitor } from "../found";
import { cutName, cutText, textChange } from "../kit";

const Flag = Type.Optional(Type.Boolean());
const Words = Type.Optional(Type.String());
const Seconds = Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000 }));

/** Fields of a check that are read. */
export const Check = Type.Object({
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
export type Check = Static<typeof Check>;

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

/** Maximum number of unknown fields that are named, and of characters of each. */
const NAMED_MAX = 20;
const FIELD_NAME_MAX = 50;

/** Lists the fields that this version does not know, each once. */
export function listUnknownFields(document: object, checks: readonly object[]): string[] {
  const unknown = new Set<string>();
  for (const field of Object.keys(document)) if (field !== "checks") unknown.add(field);
  for (const check of checks) {
    for (const field of Object.keys(check)) {
      if (!KNOWN.has(field)) unknown.add(`checks[].${field}`);
    }
  }
  const names = [...unknown].sort();
  const named = names.slice(0, NAMED_MAX).map((name) => cutName(name, "a field", FIELD_NAME_MAX));
  return names.length > NAMED_MAX ? [...named, `${names.length - NAMED_MAX} more fields`] : named;
}

/** Returns a text without UUIDs, which can be called, and without the ping key. */
export type Hide = (text: string) => string;

/** A check with its UUID, which its ping URL has and which is a secret; undefined without such a URL. */
export interface IdentifiedCheck {
  check: Check;
  uuid: string | undefined;
  foreign: ForeignObject;
}

/** Parts of a monitor that one field of a check decides. */
interface Part {
  changes?: readonly ImportChange[];
  /** Reason, in one sentence. */
  disabled?: string;
}

/** Returns the monitor that a check becomes. `isUniqueSlug` is true for a slug that only one check has. */
export function monitorOf(
  { check, uuid, foreign }: IdentifiedCheck,
  pingKey: string | undefined,
  isUniqueSlug: (slug: string) => boolean,
  hide: Hide,
): FoundMonitor {
  const { name, ...ofName } = nameOf(check.name ?? "", hide);
  const { tags, ...ofTags } = tagsOf(check.tags ?? "", hide);
  const { notes, ...ofNotes } = notesOf(check.desc ?? "", hide);
  const { timing, ...ofTiming } = timingOf(check);
  const { tokens, ...ofTokens } = tokensOf(check, uuid, pingKey, isUniqueSlug);
  const { words, ...ofWords } = filterOf(check);
  const parts: Part[] = [ofName, ofTags, ofNotes, ofTiming, ofTokens, ofWords, stateOf(check)];
  const hideIn = (value: unknown) => (typeof value === "string" ? hide(value) : value);
  const reasons = parts.flatMap(({ disabled }) => disabled ?? []);
  return {
    foreign,
    body: {
      type: "push",
      name,
      tags,
      notes,
      ...timing,
      config: { ...timing.config, ...words },
      paused: check.status === "paused",
    },
    changes: parts
      .flatMap(({ changes = [] }) => changes)
      .map((change) => ({ ...change, from: hideIn(change.from), to: hideIn(change.to) })),
    disabled: reasons.length > 0 ? reasons.join(" ") : undefined,
    number: null,
    components: "internal",
    dependsOn: [],
    tokens,
  };
}

/** Returns a name without secrets, since reports, pages and refs show it. */
function nameOf(text: string, hide: Hide): Part & { name: string } {
  const name = hide(text);
  const reason = "Names are shown, and an address that jobs call is a secret.";
  const changes =
    name === text ? [] : [{ field: "name", from: "set", to: cutName(name, ""), reason }];
  return { name, changes };
}

function tagsOf(text: string, hide: Hide): Part & { tags: string[] } {
  const words = text.split(/\s+/).filter(Boolean);
  let tags: string[] = [];
  for (const word of words) {
    if (tags.length < TAGS_MAX) tags = withTag(tags, cutName(word, "tag", TAG_MAX));
  }
  const reason = `Monitors have at most ${TAGS_MAX} different tags of ${TAG_MAX} characters.`;
  const [from, to] = [hide(words.join(" ")), hide(tags.join(" "))];
  return { tags, changes: textChange("tags", from, to, reason) };
}

function notesOf(text: string, hide: Hide): Part & { notes: string | null } {
  const notes = cutText(text, DESCRIPTION_MAX);
  const reason = `Notes have at most ${DESCRIPTION_MAX} characters.`;
  return { notes: notes || null, changes: textChange("desc", hide(text), hide(notes), reason) };
}

/** Returns the interval, or the schedule with its time zone, and the grace period. */
function timingOf({ timeout, schedule, tz = "UTC", grace }: Check) {
  const withGrace = grace === undefined ? {} : { grace_seconds: grace };
  if (schedule === undefined) {
    // Checks that Healthchecks itself exports have one of them.
    const reason = "It has neither a timeout nor a schedule. Give it one, and resume it.";
    return {
      timing: { interval_seconds: timeout ?? null, config: withGrace },
      ...(timeout === undefined && { disabled: reason }),
    };
  }
  const read = isCron(schedule) ? { cron: schedule.trim() } : cronOfCalendar(schedule);
  const { cron = "", timeZone = tz }: { cron?: string; timeZone?: string | undefined } = read ?? {};
  const reason = scheduleProblem(schedule, cron, timeZone);
  if (reason === undefined) {
    const config = { ...withGrace, schedule: cron, time_zone: timeZone };
    const differs = "It is an OnCalendar schedule there, with the same times.";
    const changes = textChange("schedule", schedule.trim(), cron, differs);
    return { timing: { interval_seconds: null, config }, changes };
  }
  const from = oneLine(`${schedule.slice(0, 200)} (${tz.slice(0, 50)})`);
  return {
    timing: { interval_seconds: null, config: withGrace },
    changes: [{ field: "schedule", from, to: null, reason }],
    disabled: `${reason} Give it a schedule or an interval, and resume it.`,
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
): Part & { tokens: ImportedToken[] } {
  const tokenOf = (value: string): ImportedToken => {
    const token = { kind: "healthchecks", value } as const;
    return methods === "POST" ? ofPostOnly(token) : token;
  };
  const tokens = uuid === undefined ? [] : [tokenOf(uuid)];
  const changes: ImportChange[] = [];
  if (methods && methods !== "POST") {
    const reason = "Calls with every method count.";
    changes.push({ field: "methods", from: oneLine(methods), to: "", reason });
  }
  if (pingKey === undefined || slug === "") return { tokens, changes, ...withoutTokens(tokens) };
  if (!/^[a-z0-9_-]{1,100}$/.test(slug)) {
    const reason = "It is no valid slug, so no address with it is taken over.";
    changes.push({ field: "slug", from: oneLine(slug.slice(0, 200)), to: null, reason });
  } else if (!isUniqueSlug(slug)) {
    const reason = "Several checks have it, so no address with it is taken over.";
    changes.push({ field: "slug", from: slug, to: null, reason });
  } else {
    tokens.push(tokenOf(`${pingKey}/${slug}`));
  }
  return { tokens, changes, ...withoutTokens(tokens) };
}

function withoutTokens(tokens: readonly ImportedToken[]): Part {
  if (tokens.length > 0) return {};
  const disabled =
    "The answer has no ping URL of it, so no job can call it. Give it a token, and resume it.";
  return { disabled };
}

/** Returns the words in the bodies of calls. Switches off monitors whose calls would mean something else. */
function filterOf(check: Check): Part & { words?: object } {
  const { filter_subject, filter_body, filter_http_body, filter_default_fail: fails } = check;
  const byMail = filter_subject || filter_body;
  const disabled = byMail
    ? "It takes calls by e-mail. Let the job call by HTTP, and resume it."
    : undefined;
  if (!filter_http_body) return disabled === undefined ? {} : { disabled };
  const lists = { failure: check.failure_kw, success: check.success_kw, start: check.start_kw };
  const words = Object.entries(lists).flatMap(([meaning, text = ""]) => {
    const list = new Set(text.split(",").flatMap((word) => word.trim() || []));
    return list.size === 0 ? [] : [[meaning, [...list]]];
  });
  if (words.length === 0) {
    const reason =
      "The bodies of its calls decide their meaning, and it has no words for that. Give it some, and resume it.";
    return { disabled: disabled === undefined ? reason : `${disabled} ${reason}` };
  }
  const body_words = { ...Object.fromEntries(words), ...(fails && { otherwise: "fail" }) };
  return { words: { body_words }, ...(disabled !== undefined && { disabled }) };
}

/** Returns differences in the state of a check. */
function stateOf({ status, manual_resume: isManual }: Check): Part {
  if (status === "new") {
    const reason = "Healthchecks waits for the first call. Here it is down without a call in time.";
    return { changes: [{ field: "status", from: "new", to: "pending", reason }] };
  }
  if (status !== "paused" || isManual) return {};
  const reason = "In Healthchecks a call resumes it. Here it stays paused until you resume it.";
  return { changes: [{ field: "manual_resume", from: false, to: true, reason }] };
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
