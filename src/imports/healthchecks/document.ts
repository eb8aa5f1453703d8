/*
 * The answer of Healthchecks to GET /api/v3/checks/ with a read-write key. Versions 1 and 2 of its API give the
 * same fields, or some of them.
 */
import { type Static, Type } from "@sinclair/typebox";
import { cutName } from "../options";

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
