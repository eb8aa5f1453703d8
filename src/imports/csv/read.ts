/* A list of monitors as CSV, as people keep it in a spreadsheet: a line each. `readList` is the entrance. */
import { oneLine } from "../../base/text";
import type { SupportedType } from "../../base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import { OperatorError } from "../../db/errors";
import { probeOf } from "../../features/monitors/probes";
import { intervalsOf } from "../../features/monitors/wire";
import { emptyFound, type Found, type FoundMonitor } from "../found";
import {
  basicAuthorization,
  cutName,
  cutTags,
  listUnknown,
  Notes,
  readBytes,
  TAGS_REASON,
  withoutCredentials,
} from "../kit";
import {
  idOfText,
  LIST_MEBIBYTES_MAX,
  OwnPage,
  readTable,
  readTarget,
  type TableRow,
} from "../listed";

/** Columns of a list, and what becomes of each, for the documentation. */
export const LIST_COLUMNS = {
  name: "Name of the monitor, by which the next import knows it. Without one, the host of the URL",
  type: "Type. Without one, that of the scheme of the URL, `tcp` for a host with a port, else `http`",
  url: "Address: a URL, a host, or a host and a port. Not of `push`",
  interval:
    "Time between checks, such as `60`, `30 s`, `5 min`, `1 h`. Without one, that of the type",
  component:
    "Component that the monitor watches: `page:reference` of one that exists, or a name on the page of the list",
  tags: "Tags, separated by commas or semicolons",
} as const;

type Column = keyof typeof LIST_COLUMNS;

const COLUMNS = Object.keys(LIST_COLUMNS) as readonly Column[];

/** Other words for the types that a list can have, in lower case without signs. */
export const LIST_TYPES = {
  http: ["https", "web", "website", "url"],
  tcp: ["port"],
  tls: ["ssl", "certificate"],
  ping: ["icmp"],
  dns: [],
  domain: [],
  websocket: ["ws", "wss"],
  grpc: [],
  ssh: [],
  smtp: [],
  redis: [],
  mqtt: [],
  upstream: ["statuspage"],
  push: ["heartbeat", "cron", "job"],
} as const satisfies Partial<Record<SupportedType, readonly string[]>>;

type ListType = keyof typeof LIST_TYPES;

const TYPES: ReadonlyMap<string, ListType> = new Map(
  (Object.keys(LIST_TYPES) as ListType[]).flatMap((type) =>
    [type, ...LIST_TYPES[type]].map((word) => [word, type] as const),
  ),
);

interface ListOptions {
  /** Name of the page for the components that the list names. */
  pageName: string | undefined;
}

/** Reads a list. Throws an OperatorError for a file that is none. Lines with errors are left out with the reason. */
export async function readList(
  path: string,
  { pageName = "Services" }: ListOptions,
): Promise<Found> {
  const { columns, rows } = await readTable(await readBytes(path, LIST_MEBIBYTES_MAX), path);
  if (!columns.includes("url") && !columns.includes("name")) {
    throw new OperatorError(`The first line of ${path} must name the columns: ${COLUMNS.join()}.`);
  }
  const repeated = COLUMNS.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (repeated !== undefined) {
    throw new OperatorError(`${path} has the column ${repeated} twice.`);
  }
  const found = emptyFound("csv");
  const page = new OwnPage(found, cutName(pageName, "Services"));
  const lines = new Map<string, number>();
  for (const row of rows) addRow(found, page, lines, row);
  const known: readonly string[] = COLUMNS;
  const unknown = columns.filter((name) => name !== "" && !known.includes(name));
  const names = listUnknown([...new Set(unknown)], { noun: "columns" });
  found.notRead.push(...names.map((name) => `column ${name}`));
  return found;
}

/** Error of a line, which ends a sentence that begins with its number. */
class LineError {
  constructor(readonly reason: string) {}
}

function addRow(found: Found, page: OwnPage, lines: Map<string, number>, row: TableRow): void {
  const { line } = row;
  const cells = COLUMNS.map((name) => row.cell(name));
  if (cells.every((cell) => cell === "")) return;
  const read = row.isTooLong
    ? new LineError("has more cells than the first line")
    : monitorOf(row, page);
  const earlier = read instanceof LineError ? undefined : lines.get(read.foreign.id);
  const error =
    earlier === undefined
      ? read
      : new LineError(`has the name of line ${earlier}. Give each monitor its own`);
  if (error instanceof LineError) {
    const name = cutName(row.cell("name"), `Line ${line}`);
    const reason = oneLine(`Line ${line} ${error.reason}.`);
    found.leftOut.push({ foreign: { type: "line", id: String(line), name }, reason });
    return;
  }
  lines.set(error.foreign.id, line);
  found.monitors.push(error);
}

function monitorOf(row: TableRow, page: OwnPage): FoundMonitor | LineError {
  const notes = new Notes();
  const address = row.cell("url");
  const type = typeOf(row.cell("type"), address);
  if (type instanceof LineError) return type;
  const config = configOf(type, address);
  if (config instanceof LineError) return config;
  const name = cutName(row.cell("name"), readTarget(address)?.host ?? "");
  if (name === "") return new LineError("has no name");
  const interval = intervalIn(row.cell("interval"), type, notes);
  if (interval instanceof LineError) return interval;
  const words = row
    .cell("tags")
    .split(/[,;]/)
    .flatMap((word) => word.trim() || []);
  const tags = cutTags(words, "tag");
  notes.text("tags", words.join(", "), tags.join(", "), TAGS_REASON);
  if (type === "push") {
    notes.disable(
      "No job has its address yet. Give it a token, let the job call it, and resume it.",
    );
  }
  const component = row.cell("component");
  const isHere = /^[a-z0-9-]{1,100}:[a-z0-9-]{1,100}$/.test(component);
  return {
    // A digest, since reports show ids as they are, and secrets are left out of names alone.
    foreign: { type: "monitor", id: idOfText(name), name },
    body: { type, name, config, tags, ...interval },
    changes: notes.changes,
    disabled: notes.disabled,
    ...(component === ""
      ? { components: "internal" }
      : isHere
        ? { components: [], watches: [component] }
        : { components: [page.component(idOfText(component), component)], watches: [] }),
  };
}

/** Returns the type that a word means, or that an address has. */
function typeOf(word: string, address: string): ListType | LineError {
  const plain = word.toLowerCase().replaceAll(/[^a-z]/g, "");
  const known = TYPES.get(plain);
  if (known) return known;
  if (word !== "") {
    return new LineError(`has a type that is not one of ${Object.keys(LIST_TYPES).join(", ")}`);
  }
  const [, scheme] = /^([a-z]+):\/\//i.exec(address) ?? [];
  const ofScheme = TYPES.get(scheme?.toLowerCase() ?? "");
  if (ofScheme) return ofScheme;
  if (scheme !== undefined) return new LineError("has an address of which the type is not known");
  return readTarget(address)?.port === undefined ? "http" : "tcp";
}

/** Returns the config of a type for an address. */
function configOf(type: ListType, address: string): Record<string, unknown> | LineError {
  if (type === "push") return {};
  if (address === "") return new LineError("has no url");
  if (type === "http" || type === "websocket" || type === "upstream") {
    const scheme = type === "websocket" ? "wss" : "https";
    const whole = /^[a-z]+:\/\//i.test(address) ? address : `${scheme}://${address}`;
    const { url, credentials } = withoutCredentials(whole);
    if (!URL.canParse(url)) return new LineError("has a url that is none");
    if (!credentials) return { url };
    if (type === "upstream") return new LineError("has a url with a password");
    return { url, headers: { Authorization: basicAuthorization(credentials) } };
  }
  const target = readTarget(address);
  if (!target) return new LineError("has a url that is no host");
  const { host, port } = target;
  switch (type) {
    case "dns":
      return { name: host };
    case "domain":
      return { domain: host };
    case "ping":
      return { host };
    case "tcp":
    case "grpc":
      return port === undefined ? new LineError("has a url without a port") : { host, port };
    default:
      return { host, ...(port !== undefined && { port }) };
  }
}

const UNITS: readonly (readonly [words: RegExp, ms: number])[] = [
  [/^(s|secs?|seconds?)?$/, SECOND_MS],
  [/^(m|mins?|minutes?)$/, MINUTE_MS],
  [/^(h|hrs?|hours?)$/, HOUR_MS],
  [/^(d|days?)$/, DAY_MS],
];

/** Returns the interval of a cell; nothing for an empty one. */
function intervalIn(
  text: string,
  type: ListType,
  notes: Notes,
): { interval_seconds?: number } | LineError {
  if (text === "") return {};
  const [, count = "", word = ""] = /^(\d{1,9}(?:[.,]\d{1,3})?)\s*([a-z]*)\.?$/i.exec(text) ?? [];
  const unit = UNITS.find(([words]) => words.test(word.toLowerCase()))?.[1];
  if (count === "" || unit === undefined) {
    return new LineError("has an interval that is no time, such as 60, 30 s, 5 min or 1 h");
  }
  const seconds = (Number(count.replace(",", ".")) * unit) / SECOND_MS;
  const { maxIntervalSeconds: max = DAY_MS / SECOND_MS } = probeOf(type);
  const bounds = { min: intervalsOf(type).least, max };
  return { interval_seconds: notes.limited("interval", seconds, bounds) };
}
