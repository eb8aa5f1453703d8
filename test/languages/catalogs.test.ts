import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { IntlMessageFormat } from "intl-messageformat";
import { listMissingMessages } from "../../deploy/missing-messages";
import english from "../../src/languages/en.json";
import { LANGUAGES } from "../../src/languages/tags";

const ROOT = join(import.meta.dir, "..", "..");
const FOLDER = join(ROOT, "src", "languages");

interface CatalogFile {
  language: { name: string; dir: string };
  glossary: Record<string, string>;
  messages: Record<string, string>;
}

const files = [...new Glob("*.json").scanSync(FOLDER)].toSorted();

/** An element of a parsed message. */
interface Element {
  type: number;
  value: string;
  children?: Element[];
  options?: Record<string, { value: Element[] }>;
}

/** Types of elements as the parser numbers them. */
const [ARGUMENT, NUMBER, SELECT, PLURAL, TAG] = [1, 2, 5, 6, 8];

/** Returns all elements of a message, also those inside of others. */
function elementsOf(message: string, locale: string): Element[] {
  const all = (elements: readonly Element[]): Element[] =>
    elements.flatMap((element) => [
      element,
      ...all(element.children ?? []),
      ...all(Object.values(element.options ?? {}).flatMap(({ value }) => value)),
    ]);
  return all(new IntlMessageFormat(message, locale).getAst() as unknown as Element[]);
}

/** Returns the placeholders and tags of a message, in alphabetical order. */
function placeholdersOf(message: string, locale = "en"): string[] {
  const found = elementsOf(message, locale).flatMap(({ type, value }) => {
    if (type === TAG) return `<${value}>`;
    return [ARGUMENT, NUMBER, SELECT, PLURAL].includes(type) ? value : [];
  });
  return [...new Set(found)].toSorted();
}

/** Returns the forms of each plural of a message. */
function pluralsOf(message: string, locale: string): string[][] {
  return elementsOf(message, locale).flatMap(({ type, options = {} }) =>
    type === PLURAL ? [Object.keys(options)] : [],
  );
}

const keys = Object.keys(english.messages);

test("every language has a catalog, and every catalog is one of a language", () => {
  expect(files).toEqual(LANGUAGES.map((tag) => `${tag}.json`).toSorted());
});

describe.each(files)("the catalog %s", (file) => {
  const tag = file.slice(0, -".json".length);
  const load = async () => (await Bun.file(join(FOLDER, file)).json()) as CatalogFile;

  test("has a head with its name, its direction and the words of the field", async () => {
    const { language, glossary } = await load();
    expect(language.name).not.toBe("");
    const { script } = new Intl.Locale(tag).maximize();
    expect(language.dir).toBe(script === "Arab" || script === "Hebr" ? "rtl" : "ltr");
    expect(Object.keys(glossary)).toEqual(Object.keys(english.glossary));
    expect(Object.values(glossary).filter((word) => word.trim() === "")).toEqual([]);
  });

  test("has the messages of the English one, in the same order, and no empty one", async () => {
    const { messages } = await load();
    expect(Object.keys(messages)).toEqual(keys);
    expect(keys.filter((key) => messages[key]?.trim() === "")).toEqual([]);
  });

  test("has the placeholders and tags of the English one", async () => {
    const { messages } = await load();
    const wrong = Object.entries(english.messages).flatMap(([key, message]) => {
      const own = placeholdersOf(messages[key] ?? "", tag);
      return Bun.deepEquals(own, placeholdersOf(message)) ? [] : [`${key}: ${own.join()}`];
    });
    expect(wrong).toEqual([]);
  });

  test("has every plural form of its language", async () => {
    const { messages } = await load();
    const wanted = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    const wrong = keys.flatMap((key) =>
      pluralsOf(messages[key] ?? "", tag).flatMap((own) => {
        // One form may stand for all, where they do not differ.
        if (own.length === 1 && own[0] === "other") return [];
        const missing = wanted.filter((category) => !own.includes(category));
        const unknown = own.filter((name) => !name.startsWith("=") && !isAmong(wanted, name));
        return [...missing, ...unknown].map((name) => `${key}: ${name}`);
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("has typographic apostrophes, since the plain one quotes placeholders", async () => {
    const { messages } = await load();
    const quoting = tag === "en" ? /''|'[{}<>]/ : /'/;
    expect(keys.filter((key) => quoting.test(messages[key] ?? ""))).toEqual([]);
  });

  test("has marks of the format only in messages with placeholders", async () => {
    const { messages } = await load();
    // A message without values is not read by the parser.
    const plain = keys.filter((key) => placeholdersOf(messages[key] ?? "", tag).length === 0);
    expect(plain.filter((key) => /[{}<>]/.test(messages[key] ?? ""))).toEqual([]);
  });
});

function isAmong(categories: readonly string[], name: string): boolean {
  return categories.includes(name);
}

test("no catalog lacks a message, which a release refuses", async () => {
  expect(await listMissingMessages()).toEqual([]);
});

test("the documentation lists every language", async () => {
  const text = await Bun.file(join(ROOT, "docs", "languages.md")).text();
  const [, listed = ""] = /<!-- languages -->\s*(.*?)\s*<!--/s.exec(text) ?? [];
  expect(listed).toBe(LANGUAGES.map((tag) => `\`${tag}\``).join(", "));
});

test("comments for translators are about messages that exist", () => {
  expect(Object.keys(english.comments).filter((key) => !keys.includes(key))).toEqual([]);
});

test("the code uses every message", async () => {
  const sources: string[] = [];
  for await (const file of new Glob("src/**/*.{ts,tsx,js}").scan(ROOT)) {
    sources.push(await Bun.file(join(ROOT, file)).text());
  }
  const code = sources.join("\n");
  const isUsed = (key: string) => {
    const group = key.slice(0, key.lastIndexOf("."));
    return (
      code.includes(`"${key}"`) ||
      code.includes(`\`${group}.\${`) ||
      code.includes(`englishWords("${group}"`)
    );
  };
  expect(keys.filter((key) => !isUsed(key))).toEqual([]);
});

/** Calls that say a message named in the code, with what follows the name. */
const CALL = /\b(?:say|t|parts(?:<[^()]*>)?)\(\s*"([a-z_.]+)"\s*([,)])/g;

/**
 * Returns the names of the properties of an object with which a text begins, sorted. Undefined for anything else, and for
 * an object with the properties of another one.
 */
function propertiesOf(text: string): string[] | undefined {
  const code = text.trimStart();
  if (!code.startsWith("{")) return undefined;
  const properties = [""];
  let depth = 0;
  for (const letter of code) {
    if ("}])".includes(letter)) depth -= 1;
    if (depth === 1 && letter === ",") properties.push("");
    else if (depth > 0) properties.push((properties.pop() ?? "") + letter);
    if ("{[(".includes(letter)) depth += 1;
    if (depth === 0) break;
  }
  const names = properties.map((property) => property.trim()).filter((name) => name !== "");
  if (names.some((name) => name.startsWith("..."))) return undefined;
  return names.map((name) => /^\w+/.exec(name)?.[0] ?? name).toSorted();
}

test("the code gives each message exactly the values of its placeholders", async () => {
  const wrong: string[] = [];
  let checked = 0;
  for await (const file of new Glob("src/**/*.{ts,tsx}").scan(ROOT)) {
    const code = await Bun.file(join(ROOT, file)).text();
    for (const { 0: call, 1: key = "", 2: next, index } of code.matchAll(CALL)) {
      const message = english.messages[key as keyof typeof english.messages];
      const given = next === ")" ? [] : propertiesOf(code.slice(index + call.length));
      // Values that have a name of their own.
      if (given === undefined) continue;
      checked += 1;
      const wanted = placeholdersOf(message ?? "").map((name) => name.replace(/[<>]/g, ""));
      if (!Bun.deepEquals(given, wanted.toSorted())) wrong.push(`${file}: ${key}: ${given.join()}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(checked).toBeGreaterThan(200);
});
