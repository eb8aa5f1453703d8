import type { ForeignObject } from "../../../base/import-report";
import { TAG_MAX, TAGS_MAX, withTag } from "../../../base/tags";
import { DESCRIPTION_MAX } from "../../../base/texts";
import type { CreateMonitorBody } from "../../monitors/wire";
import type { ImportedToken } from "../../monitors/heartbeats";
import type { FoundMonitor } from "../source";
import { cutName, cutText } from "../texts";
import { Held, type MonitorContext, type MonitorRow } from "./checked";
import { idOf } from "./data";
import { typeOf } from "./monitor-types";
import { Notes } from "./notes";
import { targetOf } from "./target";
import type { MonitorTree } from "./tree";
import { flag, given, number, text } from "./values";

/** Bounds of the settings here. Longer intervals are only for calls of jobs. */
const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 31_536_000;
const THRESHOLD_MAX = 100;
const TIMEOUT_MAX_MS = 60_000;
const REMINDER_SECONDS = [300, 604_800] as const;
/** Share of the interval that is the timeout of a monitor without one. */
const TIMEOUT_SHARE = 0.8;
/** Maximum length of the name of a foreign type, in characters. */
const TYPE_MAX = 50;

/** Parts of a monitor that other tables have. */
interface MonitorParts {
  tree: MonitorTree;
  tagsOf(monitor: MonitorRow): readonly string[];
  componentsOf(monitor: MonitorRow): FoundMonitor["components"];
  /** Returns true if calls with the token of a monitor are for it, since several may have one. */
  ownsToken(monitor: MonitorRow): boolean;
  context: MonitorContext;
}

export function foreignMonitor(monitor: MonitorRow): ForeignObject {
  return { type: "monitor", id: String(idOf(monitor)), name: text(monitor.name) };
}

/** Returns the monitor that a row becomes. It is neither a group nor one that people set by hand. */
export function findMonitor(monitor: MonitorRow, parts: MonitorParts): FoundMonitor {
  const notes = new Notes();
  const type = text(monitor.type);
  const typeName = cutName(type, "unknown", TYPE_MAX);
  const common = commonOf(monitor, parts, notes);
  const read = typeOf(type)?.read;
  const result = read
    ? read(monitor, notes, parts.context)
    : new Held(`Monitors of the type ${typeName} cannot be checked here.`);
  const shared = {
    foreign: foreignMonitor(monitor),
    number: idOf(monitor),
    components: parts.componentsOf(monitor),
    dependsOn: [],
  };
  const timing = timingOf(monitor, notes, type === "push");
  if (result instanceof Held) {
    const config = {
      source: "uptime-kuma",
      type: typeName,
      target: targetOf(monitor),
      settings: settingsOf(monitor),
    };
    const body = { type: "unsupported", ...common, ...timing, config } as const;
    return { ...shared, body, changes: notes.changes, tokens: [], held: result.reason };
  }
  const { settings, ...checked } = result;
  const tokens = type === "push" ? tokensOf(monitor, parts, notes) : [];
  return {
    ...shared,
    body: { ...checked, ...common, ...timing, ...settings },
    changes: notes.changes,
    disabled: notes.disabled,
    tokens,
  };
}

type Settings = Partial<CreateMonitorBody>;

/** Returns what monitors of all types have. */
function commonOf(monitor: MonitorRow, { tree, tagsOf }: MonitorParts, notes: Notes) {
  return {
    name: text(monitor.name),
    paused: !tree.isActive(monitor),
    group: tree.labelOf(monitor),
    notes: notesOf(text(monitor.description), notes),
    tags: cutTags(tagsOf(monitor), notes),
  } satisfies Settings;
}

function notesOf(description: string, notes: Notes): string | null {
  const cut = cutText(description, DESCRIPTION_MAX);
  if (cut !== description) {
    notes.change("description", "set", "cut", `Notes have at most ${DESCRIPTION_MAX} characters.`);
  }
  return cut || null;
}

function cutTags(tags: readonly string[], notes: Notes): string[] {
  let found: string[] = [];
  for (const tag of tags) {
    const cut = cutName(tag.trim(), "tag", TAG_MAX).trim();
    if (found.length < TAGS_MAX) found = withTag(found, cut);
  }
  if (found.join("\n") !== tags.join("\n")) {
    const reason = `Monitors have at most ${TAGS_MAX} different tags of ${TAG_MAX} characters.`;
    notes.change("tags", tags.join(", "), found.join(", "), reason);
  }
  return found;
}

/** Returns when a monitor is checked, and when a failure counts. */
function timingOf(monitor: MonitorRow, notes: Notes, isPush: boolean): Settings {
  const asked = Math.round(number(monitor.interval, 60));
  const longest = isPush ? YEAR_SECONDS : DAY_SECONDS;
  const interval = notes.clamped("interval", asked, 5, longest, "seconds");
  const resend = number(monitor.resend_interval, 0);
  const [least, most] = REMINDER_SECONDS;
  const reminder = Math.round(resend * asked);
  const settings = {
    interval_seconds: interval,
    inverted: flag(monitor.upside_down),
    reminder_seconds:
      reminder > 0 ? notes.clamped("resend_interval", reminder, least, most, "seconds") : 0,
  };
  if (isPush) return settings;
  const retries = Math.max(0, Math.round(number(monitor.maxretries, 0)));
  const retry = Math.round(number(monitor.retry_interval, 0)) || interval;
  const timeout = Math.round(timeoutSecondsOf(monitor, asked) * 1_000);
  return {
    ...settings,
    failure_threshold: notes.clamped("maxretries", retries + 1, 1, THRESHOLD_MAX, "checks"),
    retry_interval_seconds: notes.clamped("retry_interval", retry, 1, interval, "seconds"),
    timeout_ms: notes.clamped("timeout", timeout, 100, TIMEOUT_MAX_MS, "ms"),
  };
}

function timeoutSecondsOf(monitor: MonitorRow, interval: number): number {
  const timeout = number(monitor.timeout, 0);
  return timeout > 0 ? timeout : TIMEOUT_SHARE * interval;
}

/** Returns the token with which a job calls. */
function tokensOf(monitor: MonitorRow, { ownsToken }: MonitorParts, notes: Notes): ImportedToken[] {
  const value = text(monitor.push_token);
  if (!ownsToken(monitor)) {
    notes.disable(
      "Another monitor has the same token, and gets its calls there. Give it another token, and resume it.",
    );
    return [];
  }
  if (/^[!-~]{1,64}$/.test(value)) return [{ kind: "kuma", value }];
  notes.disable("It has no token with which a job can call it. Give it one, and resume it.");
  return [];
}

/** Returns all that is set, to be kept for a version that knows the type. */
function settingsOf(monitor: MonitorRow): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(monitor).filter(([, value]) => value !== null && given(value) !== undefined),
  );
}
