import { gatusKeyOf } from "../../../base/compat";
import { TAG_MAX, TAGS_MAX, withTag } from "../../../base/tags";
import { NAME_MAX } from "../../../base/texts";
import type { FoundComponent, FoundMonitor, LeftOut } from "../source";
import { keyOf } from "../source";
import { cutName, textChange } from "../texts";
import type { DefaultAlerts } from "./alerts";
import type { Reading } from "./client";
import type { Alert, Maintenance } from "./document";
import { type Place, readTable, type Table, type Values, WrongField } from "./fields";
import type { Notes } from "./notes";
import { groupOf, PAGE } from "./page";
import type { Yaml } from "./yaml";

/** Context in which entries are read. */
export interface EntryReading extends Reading {
  defaults: DefaultAlerts;
}

/** Component of a page with its monitors: an endpoint, an external endpoint or a suite. */
export interface Entry {
  key: string;
  name: string;
  group: string;
  component: FoundComponent;
  monitors: FoundMonitor[];
  alerts: readonly Alert[];
  windows: readonly Maintenance[];
  /** Interval of its checks, in ms. */
  intervalMs: number;
}

/** Names that an entry needs. */
export interface Named {
  name: string | undefined;
  group: string | undefined;
  enabled?: boolean | undefined;
}

/** Returns an object of the configuration. Its key is its id. */
export function foreignOf(type: string, { name = "", group = "" }: Named) {
  const shown = group === "" ? name : `${group}/${name}`;
  return { type, id: gatusKeyOf(group, name), name: cutName(shown, `Unnamed ${type}`) };
}

/** Returns the component of an entry. Pages of Gatus do not show an entry that is switched off. */
export function componentOf({ name = "", group = "", enabled = true }: Named): FoundComponent {
  const foreign = foreignOf("component", { name, group });
  return {
    foreign,
    body: { name, show_latency: true, ...(!enabled && { only_show_if_degraded: true }) },
    changes: [],
    page: keyOf(PAGE),
    group: group.trim() === "" ? null : groupOf(group),
    key: foreign.id,
    baseline: null,
    number: null,
  };
}

/** Returns the label of a monitor; null without a group. */
export function labelOf({ group = "" }: Named): string | null {
  return group.trim() === "" ? null : cutName(group.trim(), "Group", NAME_MAX).trim();
}

/** Returns labels as tags. */
export function tagsOf(labels: Readonly<Record<string, string>>, notes: Notes): string[] {
  const words = Object.entries(labels).map(([name, value]) => `${name}:${value}`);
  let tags: string[] = [];
  for (const word of words) {
    if (tags.length < TAGS_MAX) tags = withTag(tags, cutName(word, "label", TAG_MAX).trim());
  }
  const reason = `Monitors have at most ${TAGS_MAX} different tags of ${TAG_MAX} characters.`;
  notes.changes.push(...textChange("extra-labels", words.join(", "), tags.join(", "), reason));
  return tags;
}

/**
 * Reads each entry of a list. One that Gatus would not accept is held, with the reason. Those without a name are left
 * out, and so are later ones with the key of another.
 */
export function readEntries<Fields extends Table>(
  values: readonly Yaml[],
  { type, table, path }: { type: string; table: Fields; path: string },
  reading: EntryReading,
  {
    read,
    hold,
  }: {
    read: (values: Values<Fields>, value: Yaml, place: Place) => Entry;
    /** Returns an entry that keeps what Gatus would not accept; undefined without a name. */
    hold: (type: string, value: Yaml, reason: string) => Entry | undefined;
  },
  taken: Set<string>,
): { entries: Entry[]; leftOut: LeftOut[] } {
  const entries: Entry[] = [];
  const leftOut: LeftOut[] = [];
  const place = { path: `${path}[]`, notRead: reading.notRead };
  for (const [index, value] of values.entries()) {
    const id = `${path}[${index}]`;
    const entry = readOrHold(value);
    if (typeof entry === "string") {
      leftOut.push({ foreign: { type, id, name: `${path} ${index + 1}` }, reason: entry });
    } else if (taken.has(entry.key)) {
      const foreign = { type, id, name: entry.component.foreign.name };
      leftOut.push({ foreign, reason: "Another endpoint has the same group and name." });
    } else {
      taken.add(entry.key);
      entries.push(entry);
    }
  }
  return { entries, leftOut };

  function readOrHold(value: Yaml): Entry | string {
    try {
      return read(readTable(table, value, place), value, place);
    } catch (error) {
      if (!(error instanceof WrongField)) throw error;
      const reason = `${error.message}.`;
      return hold(type, value, reason) ?? reason;
    }
  }
}
