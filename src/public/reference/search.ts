/* Search over the operations, fields, objects and errors of the reference. */
import { WHOLE_TURN } from "../../base/in-slices";
import { ERROR_CODES, ERRORS } from "../../base/errors";
import { createFieldLists, type Field, fieldsOf } from "./fields";
import {
  ERRORS_PATH,
  INDEX_PATH,
  type NamedObject,
  objectId,
  type Reference,
  type Resource,
} from "./model";

/** Something that a search finds. */
export interface Entry {
  name: string;
  /** Method and path of an operation, or the place of a field. */
  about: string;
  href: string;
  /** Searched text in lower case, without the name. */
  text: string;
}

/** Entries of each kind, in the order in which results show them. */
export interface Entries {
  operations: Entry[];
  errors: Entry[];
  objects: Entry[];
  fields: Entry[];
}

/** The best results of a kind, and the number of all. */
export interface Results {
  kind: keyof Entries;
  found: readonly Entry[];
  count: number;
}

/** Results shown of each kind. */
const SHOWN_MAX = 20;
/** Characters of a search that are read. */
export const SEARCH_MAX = 100;

/** Lists what can be found, a resource in each turn. */
export function* entriesOf(reference: Reference): Generator<number, Entries> {
  const { resources, commonObjects, document } = reference;
  const listFields = createFieldLists(document);
  const entries: Entries = { operations: [], errors: [], objects: [], fields: [] };
  for (const resource of resources) {
    entries.operations.push(...operationsOf(resource));
    entries.objects.push(...resource.objects.map((one) => objectEntry(one, resource.path)));
    entries.fields.push(
      ...parametersOf(resource),
      ...resource.objects.flatMap((one) => objectFields(one, listFields(one), resource.path)),
    );
    yield WHOLE_TURN;
  }
  for (const object of commonObjects) {
    entries.objects.push(objectEntry(object, INDEX_PATH));
    entries.fields.push(...objectFields(object, listFields(object), INDEX_PATH));
  }
  entries.errors.push(
    ...ERROR_CODES.map((code) => {
      const { status, title, meaning } = ERRORS[code];
      return entry(code, `${status} ${title}`, `${ERRORS_PATH}#${code}`, meaning);
    }),
  );
  return entries;
}

function entry(name: string, about: string, href: string, text = ""): Entry {
  return { name, about, href, text: `${about} ${text}`.toLowerCase() };
}

function operationsOf({ name, path, operations }: Resource): Entry[] {
  return operations.map((one) => {
    const scopes = one["x-required-scopes"]?.join(" ") ?? "";
    const text = [one.operationId, name, scopes, one.description].join(" ");
    const about = `${one.isSent ? "EVENT" : one.method} ${one.path}`;
    return entry(one.summary, about, `${path}#${one.operationId}`, text);
  });
}

/** Returns the parameters of the operations, and the fields of bodies without a name. */
function parametersOf({ path, operations }: Resource): Entry[] {
  return operations.flatMap(({ operationId, summary, parameters = [], requestBody }) => {
    const href = `${path}#${operationId}`;
    const body = requestBody?.content["application/json"]?.schema ?? {};
    return [
      ...parameters.map(({ name, description, schema }) =>
        entry(name, `parameter: ${summary}`, href, description ?? schema.description),
      ),
      ...fieldsOf(body).map(({ name, schema }) =>
        entry(name, `body: ${summary}`, href, schema.description),
      ),
    ];
  });
}

function objectEntry({ name, schema }: NamedObject, path: string): Entry {
  return entry(name, "object", `${path}#${objectId(name)}`, schema.description);
}

function objectFields(object: NamedObject, fields: readonly Field[], path: string): Entry[] {
  const href = `${path}#${objectId(object.name)}`;
  return fields.map(({ name, schema }) =>
    entry(name, `field: ${object.name}`, href, schema.description),
  );
}

/** Finds entries that contain all words, those with the words in their names first. Kinds without any are left out. */
export function findEntries(entries: Entries, search: string): Results[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const phrase = words.join(" ");
  const tests = [...new Set(words)].map(testFor);
  return (Object.keys(entries) as (keyof Entries)[]).flatMap((kind): Results[] => {
    const ranked = entries[kind]
      .map((one) => ({ one, rank: rankOf(one, phrase, tests) }))
      .filter(({ rank }) => rank !== undefined)
      .toSorted((a, b) => Number(a.rank) - Number(b.rank));
    if (ranked.length === 0) return [];
    const found = ranked.slice(0, SHOWN_MAX).map(({ one }) => one);
    return [{ kind, found, count: ranked.length }];
  });
}

type WordTest = (text: string) => boolean;

/** Returns 0 for the name itself, 1 for its beginning, 2 for words in it, 3 for words elsewhere; undefined without a match. */
function rankOf(
  { name, text }: Entry,
  phrase: string,
  tests: readonly WordTest[],
): number | undefined {
  const lower = name.toLowerCase();
  if (lower === phrase) return 0;
  const isNamed = tests.every((contains) => contains(lower));
  if (!isNamed) {
    const all = `${lower} ${text}`;
    if (!tests.every((contains) => contains(all))) return undefined;
  }
  if (lower.startsWith(phrase.split(" ", 1)[0] ?? "")) return 1;
  return isNamed ? 2 : 3;
}

/** Returns a test for texts that contain a word, or begin a word with one of up to two letters, as many words contain these. */
function testFor(word: string): WordTest {
  if (word.length > 2) return (text) => text.includes(word);
  // Compiled once for all entries, of which there are thousands.
  const start = new RegExp(`(^|[^a-z0-9])${RegExp.escape(word)}`);
  return (text) => text.includes(word) && start.test(text);
}
