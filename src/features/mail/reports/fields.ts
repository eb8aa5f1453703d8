/** Fields of a header or of a report, by their names in lower case. A repeated field has several values. */
export type Fields = ReadonlyMap<string, readonly string[]>;

/** Limits of the fields of a part, so that reading a hostile one stays cheap. */
const TEXT_MAX = 64 * 1024;
const VALUE_MAX = 4_000;
const GROUPS_MAX = 50;

const FIELD = /^([!-9;-~]{1,100})[ \t]*:(.*)$/;

/** Parses groups of fields that blank lines separate, such as those of a delivery status (RFC 3464). */
export function parseFieldGroups(text: string): Fields[] {
  const groups: Map<string, string[]>[] = [];
  let group: Map<string, string[]> | undefined;
  let values: string[] | undefined;
  for (const line of text.slice(0, TEXT_MAX).split(/\r\n|\r|\n/)) {
    if (line.trim() === "") {
      group = values = undefined;
    } else if (/^[ \t]/.test(line)) {
      if (values) values.push(`${values.pop() ?? ""} ${line.trim()}`.slice(0, VALUE_MAX));
    } else {
      const [, name = "", value = ""] = FIELD.exec(line) ?? [];
      values = undefined;
      if (name === "") continue;
      if (!group) {
        if (groups.length === GROUPS_MAX) break;
        groups.push((group = new Map()));
      }
      const key = name.toLowerCase();
      values = group.get(key) ?? [];
      group.set(key, values);
      values.push(value.trim().slice(0, VALUE_MAX));
    }
  }
  return groups;
}

/** Returns the first value of a field; undefined without one. */
export function firstOf(fields: Fields | undefined, name: string): string | undefined {
  return fields?.get(name)?.[0];
}

/** Returns all values of some fields. */
export function allOf(fields: Fields | undefined, ...names: readonly string[]): string[] {
  return names.flatMap((name) => fields?.get(name) ?? []);
}
