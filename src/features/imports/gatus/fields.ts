import { readGoDuration } from "../../../base/go-duration";
import { cutName } from "../texts";
import { wholeNumber } from "./condition";
import { isYamlList, isYamlMap, type Yaml } from "./yaml";

/*
 * Fields of Gatus' files by name, each with what becomes of it. The tables read the files, find the fields that this
 * version does not know, and are the text of the documentation.
 */

/** Place of a value, such as `endpoints[].client`, and the unknown places found so far. */
export interface Place {
  path: string;
  notRead: Set<string>;
}

export interface Field<Value> {
  /** Its fate, in one phrase or more for people. */
  becomes: string;
  /** Reads a value that is not null. Throws a WrongField. */
  read(value: Yaml, place: Place): Value;
}

export type Table = Readonly<Record<string, Field<unknown>>>;

/** Values of a table. Absent fields and those that are null are undefined. */
export type Values<Fields extends Table> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Field<infer Value>
    ? Value | undefined
    : never;
};

/** A value of a wrong type, which Gatus would not accept either. */
export class WrongField extends Error {
  constructor({ path }: Place, detail: string) {
    super(`${path} ${detail}`);
  }
}

/** Maximum number of characters of an unknown field that are named. */
const FIELD_NAME_MAX = 50;

/** Reads a map by its table, and notes the fields that the table lacks. Throws a WrongField. */
export function readTable<Fields extends Table>(
  table: Fields,
  value: Yaml,
  place: Place,
): Values<Fields> {
  if (!isYamlMap(value)) throw new WrongField(place, "must be a map");
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(table, name)) {
      const shown = cutName(name, "a field", FIELD_NAME_MAX);
      place.notRead.add(place.path === "" ? shown : `${place.path}.${shown}`);
    }
  }
  const pairs = Object.entries(table).map(([name, field]) => {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    const path = place.path === "" ? name : `${place.path}.${name}`;
    return [
      name,
      own === undefined || own === null ? undefined : field.read(own, { ...place, path }),
    ];
  });
  return Object.fromEntries(pairs) as Values<Fields>;
}

function scalar(value: Yaml, place: Place): string {
  if (typeof value !== "string") throw new WrongField(place, "must be text");
  return value;
}

export function text(becomes: string): Field<string> {
  return { becomes, read: scalar };
}

const TRUE: ReadonlySet<string> = new Set(["true", "yes", "on", "y"]);
const FALSE: ReadonlySet<string> = new Set(["false", "no", "off", "n"]);

export function flag(becomes: string): Field<boolean> {
  return {
    becomes,
    read(value, place) {
      const word = scalar(value, place).toLowerCase();
      if (!TRUE.has(word) && !FALSE.has(word)) throw new WrongField(place, "must be true or false");
      return TRUE.has(word);
    },
  };
}

export function whole(becomes: string): Field<number> {
  return {
    becomes,
    read(value, place) {
      const number = wholeNumber(scalar(value, place));
      if (number === undefined) throw new WrongField(place, "must be a whole number");
      return number;
    },
  };
}

/** Duration in ms. */
export function duration(becomes: string): Field<number> {
  return {
    becomes,
    read(value, place) {
      const read = readGoDuration(scalar(value, place));
      if ("error" in read) throw new WrongField(place, "must be a duration, such as 1m30s");
      return read.ms;
    },
  };
}

/** Value that is kept or left out as it is. */
export function anything(becomes: string): Field<Yaml> {
  return { becomes, read: (value) => value };
}

export function map<Fields extends Table>(fields: Fields, becomes: string): Field<Values<Fields>> {
  return { becomes, read: (value, place) => readTable(fields, value, place) };
}

/** Texts by name. */
export function texts(becomes: string): Field<Readonly<Record<string, string>>> {
  return {
    becomes,
    read(value, place) {
      if (!isYamlMap(value)) throw new WrongField(place, "must be a map");
      const pairs = Object.entries(value).map(([name, each]) => [name, scalar(each ?? "", place)]);
      return Object.fromEntries(pairs);
    },
  };
}

/** List whose values are read one by one, so that a wrong one leaves the others. */
export function list(becomes: string): Field<readonly Yaml[]> {
  return {
    becomes,
    read(value, place) {
      if (!isYamlList(value)) throw new WrongField(place, "must be a list");
      return value;
    },
  };
}

export function textList(becomes: string): Field<readonly string[]> {
  const { read } = list(becomes);
  return { becomes, read: (value, place) => read(value, place).map((each) => scalar(each, place)) };
}
