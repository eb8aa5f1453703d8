/*
 * Answers of the API as tools show them: text from outside stands in fields of its own, and everything within the limit of
 * an answer.
 */
import { badnessOf } from "../../base/status";
import type { Incident } from "../incidents/wire";
import type { Monitor } from "../monitors/wire";
import type { StatusDocument } from "../status/wire";
import { truncateText } from "../timeline/updates";

/** Characters that people do not see, such as tags, fillers, marks of direction and controls, but not tabs and ends of lines. */
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\t\n\r]]/gv;

/** Maximum length of a text from outside, in code points. */
const UNTRUSTED_MAX = 1_000;

/**
 * Returns the fields of a text that a checked host, a job or a sender of alerts wrote. An AI agent could take it for
 * instructions. Invisible characters are left out, since people would not see what they say.
 */
function untrusted(text: string | null) {
  if (text === null) return { untrusted_text: null };
  const { body, truncated } = truncateText(text.replace(INVISIBLE, ""), UNTRUSTED_MAX);
  return { untrusted_text: body, ...(truncated && { untrusted_text_truncated: truncated }) };
}

/** Returns a monitor without its configuration, which can hold secrets. */
export function monitorForTools(shown: Monitor): object {
  const { config: _config, last_check: check, at_locations: locations, ...monitor } = shown;
  return {
    ...monitor,
    last_check: checkForTools(check),
    ...(locations && {
      at_locations: locations.map((location) => ({
        ...location,
        last_check: checkForTools(location.last_check),
      })),
    }),
  };
}

function checkForTools(check: Monitor["last_check"]): object | null {
  if (!check) return null;
  const { message, ...result } = check;
  return { ...result, ...untrusted(message) };
}

/** Returns an incident. The updates of one that a monitor opened quote what its checks have seen. */
export function incidentForTools(incident: Incident): object {
  if (incident.source !== "monitor") return incident;
  const updates = incident.updates.map(({ body, ...update }) => ({
    ...update,
    ...untrusted(body),
  }));
  return { ...incident, updates };
}

/**
 * Returns the status document of a page, with the worst components first: if some are left out, then those that work. The
 * page of a provider named what a component fails because of.
 */
export function statusForTools({ components, incidents, ...document }: StatusDocument): object {
  return {
    ...document,
    incidents: incidents.map(incidentForTools),
    components: components
      .toSorted((one, other) => badnessOf(other.status) - badnessOf(one.status))
      .map(({ because, ...component }) => ({
        ...component,
        because: because && { url: because.url, ...untrusted(because.name) },
      })),
  };
}

/** Maximum size of an answer, in bytes. The message around the text of a result takes up to 1 kB of it. */
export const ANSWER_MAX_BYTES = 100_000;
const TEXT_MAX_BYTES = ANSWER_MAX_BYTES - 1_000;

/** Returns true if a text fits into an answer, as a string of its JSON. */
export function fits(text: string): boolean {
  return text.length <= TEXT_MAX_BYTES && Buffer.byteLength(JSON.stringify(text)) <= TEXT_MAX_BYTES;
}

/** Limits from which an answer that is too large is cut: the length of texts, in UTF-16 units, and of lists. */
const CUT_FROM = { text: 4_000, list: 1_000 };

/** Factor of these limits from one attempt to the next. */
const CUT_STEP = 0.7;

const CUT_NOTE =
  "The answer would have more than 100 kB, so texts end with … where they are cut, and fields that end with _left_out count the entries missing from the list of that name. Ask for less: one page, component or monitor, a shorter period, a smaller limit, or a list in place of a whole page.";

/** Returns an answer as JSON within the limit. Longer texts and lists are cut, and the answer says so. */
export function toFittingText(answer: object): string {
  const whole = JSON.stringify(answer);
  if (fits(whole)) return whole;
  // Begins near the size that fits, since each attempt takes as long as it is large.
  const nearly = Math.sqrt((2 * TEXT_MAX_BYTES) / whole.length);
  for (let share = Math.min(1, nearly); ; share *= CUT_STEP) {
    const limits = {
      text: Math.floor(CUT_FROM.text * share),
      list: Math.floor(CUT_FROM.list * share),
    };
    // First of all fields, also in the place of another note.
    const shown = Object.assign({ note: "" }, cut(answer, limits), { note: CUT_NOTE });
    const text = JSON.stringify(shown);
    if (limits.text === 0 || fits(text)) return text;
  }
}

/** Returns a value with texts and lists of these lengths. The first entries of a list stay. */
function cut(value: unknown, limits: typeof CUT_FROM): unknown {
  if (typeof value === "string") return cutText(value, limits.text);
  if (Array.isArray(value)) return value.slice(0, limits.list).map((entry) => cut(entry, limits));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
    const shown = [name, cut(part, limits)] as const;
    const leftOut = Array.isArray(part) ? part.length - limits.list : 0;
    return leftOut > 0 ? [shown, [`${name}_left_out`, leftOut] as const] : [shown];
  });
  return Object.fromEntries(fields);
}

function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  // Without the first half of a surrogate pair.
  return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…`;
}
