import { type Static, Type } from "@sinclair/typebox";
import { cutName } from "../texts";

/*
 * The answer of Healthchecks to GET /api/v3/checks/ with a read-write key. Versions 1 and 2 of its API give the
 * same fields, or some of them.
 */

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
  channels: Words,
});
export type Check = Static<typeof Check>;

/** Fields of a check that have no counterpart, or tell the state of a moment. */
const IGNORED = [
  "n_pings",
  "started",
  "last_ping",
  "next_ping",
  "last_duration",
  "subject",
  "subject_fail",
  "start_kw",
  "success_kw",
  "failure_kw",
  "filter_default_fail",
  "badge_url",
  "update_url",
  "pause_url",
  "resume_url",
];

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(Check.properties), ...IGNORED]);

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
