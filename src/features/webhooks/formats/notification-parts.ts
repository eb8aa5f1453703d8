import { IMPACT_TONES, IMPACTS, type Tone } from "../../../base/status";
import { capitalised, spaced } from "../../../base/text";
import { type Block, bold, entry, paragraph, type Span, withEllipsis } from "./blocks";
import { cleanLine, clipTo } from "./clean";
import { readMarkdown } from "./markdown";
import { type Data, oneOf, recordsOf, textOf } from "./reading";

/** Message for people about an event, without a service's markup. */
export interface EventNotification {
  /** Event in words, and the name of the object if it has one. */
  what: string;
  name: string;
  /** Line with both. */
  title: string;
  tone: Tone;
  /** Line with status, impact and times. */
  facts: readonly Block[];
  /** Text of the update. Only this part is cut. */
  body: readonly Block[];
  /** Components and their statuses. */
  components: readonly Block[];
  /** Address of the page with details. */
  url: string;
  /** Sender and time. */
  source: string;
}

/** Maximum number of components listed by name, and maximum length of each name. */
const COMPONENTS_MAX = 10;
const NAME_MAX = 100;

/** Returns the name of the event's object. */
export function nameOf(data: Data): string {
  return textOf(data, "name") ?? "";
}

export function isResolved(data: Data): boolean {
  return textOf(data, "status") === "resolved";
}

export function toneOfImpact(impact: string): Tone {
  return IMPACT_TONES[oneOf(IMPACTS, impact) ?? "none"];
}

/** Returns a status as text: "Degraded performance". */
export function words(status: string): string {
  return capitalised(spaced(status));
}

/** Returns a readable time; an unreadable one unchanged. */
export function moment(iso: string | undefined): string | undefined {
  return iso?.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, "$1 $2 UTC");
}

/** Returns a line of names and values, without those that have no value. */
export function factsOf(named: Readonly<Record<string, string | undefined>>): Block[] {
  const parts: (string | Span)[] = [];
  for (const [name, value] of Object.entries(named)) {
    if (!value) continue;
    if (parts.length > 0) parts.push(" · ");
    parts.push(bold(`${name}:`), ` ${value}`);
  }
  return parts.length > 0 ? [paragraph(...parts)] : [];
}

/** Returns the text of an update, with an ellipsis if it was cut. */
export function bodyOf(written: Data | undefined): Block[] {
  const blocks = readMarkdown((written && textOf(written, "body")) ?? "");
  const last = blocks.pop();
  if (!last) return [];
  return [...blocks, written?.["truncated"] === true ? withEllipsis(last) : last];
}

/** Returns a list of components, with their statuses if these still apply. */
export function componentsOf(data: Data, isStatusKnown: boolean): Block[] {
  const all = recordsOf(data, "components");
  const entries = all.slice(0, COMPONENTS_MAX).map((component) => {
    const name = clipTo(cleanLine(nameOf(component)), NAME_MAX);
    const status = textOf(component, "status");
    return entry(isStatusKnown && status ? `${name}: ${words(status)}` : name);
  });
  const left = all.length - entries.length;
  if (data["truncated"] === true) entries.push(entry("and more"));
  else if (left > 0) entries.push(entry(`and ${left} more`));
  // A heading separates them from a list at the end of the text.
  return entries.length > 0 ? [paragraph(bold("Components:")), ...entries] : [];
}
