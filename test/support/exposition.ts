/** A metric family as a scraper reads it. */
export interface ReadFamily {
  type: string;
  help: string;
  samples: { labels: Record<string, string>; value: number }[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const TYPES = ["counter", "gauge"];

/**
 * Parses Prometheus's text format, version 0.0.4, strictly: each family has its help and type once,
 * before all of its samples; samples are unique; counters end in `_total` and are not negative.
 * Throws with the line otherwise.
 */
export function readExposition(text: string): Map<string, ReadFamily> {
  const families = new Map<string, ReadFamily>();
  let current: string | undefined;
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  for (const line of text.slice(0, -1).split("\n")) {
    const fail = (why: string) => new Error(`${why}: ${line}`);
    if (line === "") continue;
    const help = /^# HELP (\S+) (.+)$/.exec(line);
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (help) {
      const [, name = "", words = ""] = help;
      if (!NAME.test(name) || families.has(name)) throw fail("no new family");
      families.set(name, { type: "", help: unescape(words), samples: [] });
      current = name;
    } else if (type) {
      const [, name = "", kind = ""] = type;
      const family = families.get(name);
      if (!family || name !== current || family.type !== "") throw fail("a type out of its place");
      if (!TYPES.includes(kind)) throw fail("no known type");
      if ((kind === "counter") !== name.endsWith("_total")) throw fail("not named by its type");
      family.type = kind;
    } else {
      const { name, labels, value } = readSample(line);
      const family = name === current ? families.get(name) : undefined;
      if (!family || family.type === "") throw fail("a sample out of its place");
      if (family.type === "counter" && !(value >= 0)) throw fail("a counter below zero");
      const isKnown = family.samples.some((other) => Bun.deepEquals(other.labels, labels));
      if (isKnown) throw fail("the same sample twice");
      family.samples.push({ labels, value });
    }
  }
  return families;
}

function readSample(line: string) {
  const parts = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  const [, name = "", inBraces = "", number = ""] = parts ?? [];
  const labels: Record<string, string> = {};
  let rest = inBraces;
  while (rest !== "") {
    const next = /^([^=]+)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/.exec(rest);
    const [whole = "", label = "", value = ""] = next ?? [];
    if (!LABEL_NAME.test(label) || label in labels) throw new Error(`no label: ${line}`);
    labels[label] = unescape(value);
    rest = rest.slice(whole.length);
  }
  const value = Number(number);
  if (!parts || !NAME.test(name) || Number.isNaN(value)) throw new Error(`no sample: ${line}`);
  return { name, labels, value };
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}
