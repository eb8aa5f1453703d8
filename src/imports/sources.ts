/*
 * The products from which this version imports, with the places and options of their importers. The command, the form
 * of the dashboard and their help are made from them. The code of an importer is loaded when a source is read, so that a
 * start takes no more time or memory.
 */
import type { Config } from "../base/config/options";
import type { FieldError } from "../base/errors";
import { type ImportKind, PRODUCTS } from "../base/import-report";
import { plural } from "../base/text";
import { RefText } from "../base/texts";
import { schemaErrors } from "../base/validation";
import type { Ctx } from "../context";
import { OperatorError } from "../db/errors";
import type { Found } from "./found";

/** Kinds of places from which a source is read. */
type PlaceKind = "file" | "folder" | "url";

/** Option of one importer. */
export interface SourceOption {
  /** Field of the form; the flag has dashes in the place of underscores. */
  name: string;
  /**
   * `secret`: kept for one import only, and never shown. `file`: path of another file of the source. `output`: path of a
   * file that is written, by the command only. `switch`: its value is `yes`.
   */
  type: "text" | "secret" | "file" | "output" | "switch";
  /** Label of the field. */
  label: string;
  /** Purpose, in one sentence. */
  help: string;
  /** Placeholder in the help of the command; none for a switch. */
  placeholder?: string;
  /** True for a secret that the command reads from the first line of a file, by a flag that ends in `-file`. */
  isInFile?: boolean;
  /** Valid values, and the error of others after the name of the field. */
  pattern?: RegExp;
  invalid?: string;
}

/** Values of options by their names, without those that are not set. */
export type OptionValues = Readonly<Partial<Record<string, string>>>;

/** Parts of the context with which importers fetch a source. */
export interface ReadContext {
  allowedNetworks: Ctx["allowedNetworks"];
  clock: Ctx["clock"];
  config: Config;
  /** Shows a line to a person who waits. */
  progress?: (line: string) => void;
  /**
   * Variables of the process, for a source that may refer to them and to files by their paths. Undefined for one that
   * was uploaded, which may not.
   */
  environment: Readonly<Record<string, string | undefined>> | undefined;
}

interface SourceDeclaration {
  takes: readonly PlaceKind[];
  /** Content of the place, as the end of a sentence. */
  content: string;
  /** File name extensions that forms offer, such as `.json`. */
  accept: readonly string[];
  options: readonly SourceOption[];
  /** Reads a source from a path or an address. Throws an OperatorError for one that cannot be used. */
  read(place: string, values: OptionValues, context: ReadContext): Promise<Found>;
}

/** Key of the API of a product. */
const API_KEY: SourceOption = {
  name: "api_key",
  type: "secret",
  label: "API key",
  help: "Read everything by the API with this key; it may be one that only reads.",
  placeholder: "FILE",
  isInFile: true,
  pattern: /^[!-~]{1,200}$/,
  invalid: "is no key",
};

const DECLARATIONS: Readonly<Record<ImportKind, SourceDeclaration>> = {
  statuspage: {
    takes: ["url", "file", "folder"],
    content: "a page of Statuspage, one with the same JSON, or its saved documents",
    accept: [".json", "application/json"],
    options: [
      {
        name: "api_key",
        type: "secret",
        label: "API key",
        help: "Read everything by the REST API with this key. Without it, the 50 newest incidents.",
        placeholder: "FILE",
        isInFile: true,
        pattern: /^[!-~]{1,200}$/,
        invalid: "is no key",
      },
      {
        name: "page_id",
        type: "text",
        label: "Page ID",
        help: "Id of the page for the API key, if the page is not public.",
        placeholder: "ID",
        pattern: /^[A-Za-z0-9_-]{1,100}$/,
        invalid: "is no id",
      },
      {
        name: "subscribers",
        type: "output",
        label: "Subscribers",
        help: "Write subscribers by e-mail to this file, for `subscriber import`.",
        placeholder: "OUT.csv",
      },
    ],
    async read(place, { api_key: apiKey, page_id: pageId, subscribers: file }, context) {
      const { readStatuspage } = await import("./statuspage/read");
      const deps = await fetching(context);
      return readStatuspage(place, { apiKey, pageId, subscribersFile: file }, deps);
    },
  },
  "uptime-kuma": {
    takes: ["file", "folder"],
    content: "kuma.db, a data directory with kuma.db, or a JSON backup of 1.x",
    accept: [".db", ".json", "application/json"],
    options: [],
    async read(path, _values, { config, clock }) {
      const { readUptimeKuma } = await import("./uptime-kuma/read");
      return readUptimeKuma(path, { ...config, now: clock.now() });
    },
  },
  healthchecks: {
    takes: ["file"],
    content: "an answer of Healthchecks to GET /api/v3/checks/ with a read-write key",
    accept: [".json", "application/json"],
    options: [
      {
        name: "ping_key",
        type: "secret",
        label: "Ping key",
        help: "Take over addresses with this ping key and slugs.",
        placeholder: "KEY",
        pattern: /^[A-Za-z0-9_-]{1,100}$/,
        invalid: "is no key",
      },
    ],
    async read(path, { ping_key: pingKey }) {
      const { readHealthchecks } = await import("./healthchecks/read");
      return readHealthchecks(path, { pingKey });
    },
  },
  gatus: {
    takes: ["file", "folder"],
    content: "the configuration of Gatus or a folder of its files",
    accept: [".yaml", ".yml"],
    options: [
      {
        name: "history",
        type: "file",
        label: "Database",
        help: "Take over the history in this SQLite file of Gatus.",
        placeholder: "FILE",
      },
      {
        name: "env_file",
        type: "file",
        label: "Variables",
        help: "Take variables from this file, with a line NAME=value each, before those of the environment.",
        placeholder: "FILE",
      },
      {
        name: "allow_unset_env",
        type: "switch",
        label: "Allow variables that are not set",
        help: "Take variables that are not set as empty, as Gatus does.",
      },
    ],
    async read(path, { history, env_file: envFile, allow_unset_env: allows }, { environment }) {
      const { readGatus } = await import("./gatus/read");
      return readGatus(path, {
        history,
        envFile,
        environment: environment ?? {},
        allowsUnset: allows !== undefined,
        readsNamedFiles: environment !== undefined,
      });
    },
  },
  uptimerobot: {
    takes: ["url", "file"],
    content: "https://api.uptimerobot.com with an API key, a saved answer of it, or a CSV file",
    accept: [".csv", ".json", "text/csv", "application/json"],
    options: [
      API_KEY,
      {
        name: "time_zone",
        type: "text",
        label: "Time zone",
        help: "Time zone of the account, in which its maintenance windows are.",
        placeholder: "ZONE",
        pattern: /^[A-Za-z0-9_+/-]{1,64}$/,
        invalid: "is no time zone, such as Europe/Berlin",
      },
    ],
    async read(place, { api_key: apiKey, time_zone: timeZone }, context) {
      const { readUptimeRobot } = await import("./uptimerobot/read");
      return readUptimeRobot(place, { apiKey, timeZone }, await fetching(context));
    },
  },
  "better-stack": {
    takes: ["url", "file"],
    content: "https://uptime.betterstack.com with an API token, or a saved answer of it",
    accept: [".json", "application/json"],
    options: [API_KEY],
    async read(place, { api_key: apiKey }, context) {
      const { readBetterStack } = await import("./better-stack/read");
      return readBetterStack(place, { apiKey }, await fetching(context));
    },
  },
  csv: {
    takes: ["file"],
    content: "a list with the columns name, type, url, interval, component and tags",
    accept: [".csv", "text/csv"],
    options: [
      {
        name: "page_name",
        type: "text",
        label: "Page",
        help: "Name of the private page for components that the list names; default: Services.",
        placeholder: "NAME",
        pattern: /^[^\p{C}]{1,255}$/u,
        invalid: "is no name",
      },
    ],
    async read(path, { page_name: pageName }) {
      const { readList } = await import("./csv/read");
      return readList(path, { pageName });
    },
  },
};

/** Returns what an importer fetches documents with. */
async function fetching(context: ReadContext) {
  const { createEgress } = await import("../egress/egress");
  const { clock, progress = () => {} } = context;
  // Unlike a timer of the clock, it keeps the process of a command alive.
  const wait = (ms: number) => Bun.sleep(ms);
  return { egress: createEgress(context), clock, progress, wait };
}

/** A product from which this version imports. */
export interface ImportSource extends Omit<SourceDeclaration, "read"> {
  kind: ImportKind;
  product: string;
}

/** All sources, in the order of the products. */
export const IMPORT_SOURCES: readonly ImportSource[] = Object.entries(PRODUCTS).map(
  ([kind, product]) => ({
    ...DECLARATIONS[kind as ImportKind],
    kind: kind as ImportKind,
    product,
  }),
);

/** Finds a source by its kind. */
export function findImportSource(kind: string): ImportSource | undefined {
  return IMPORT_SOURCES.find((source) => source.kind === kind);
}

/** Maximum number of objects of a source: 12,000 endpoints of Gatus are 24,000. */
const OBJECTS_MAX = 100_000;

/** Reads a source. Throws an OperatorError for one that cannot be used. */
export async function readSource(
  kind: ImportKind,
  place: string,
  values: OptionValues,
  context: ReadContext,
): Promise<Found> {
  const found = await DECLARATIONS[kind].read(place, values, context);
  const { pages, groups, components, monitors, webhooks, maintenance, schedules, incidents } =
    found;
  const lists = [pages, groups, components, monitors, webhooks, maintenance, schedules, incidents];
  const count = lists.reduce((sum, { length }) => sum + length, found.leftOut.length);
  if (count > OBJECTS_MAX) {
    const most = OBJECTS_MAX.toLocaleString("en");
    found.history?.[Symbol.dispose]();
    throw new OperatorError(`The source has ${plural(count, "object")}; ${most} is the most.`);
  }
  return found;
}

/** Returns the errors of the values of options. Values themselves are not in them, since they may be secrets. */
export function validateOptions({ options }: ImportSource, values: OptionValues): FieldError[] {
  return options.flatMap(({ name, pattern, invalid = "is not valid" }) => {
    const value = values[name];
    const isValid = value === undefined || !pattern || pattern.test(value);
    return isValid ? [] : [{ pointer: `#/${name}`, detail: invalid }];
  });
}

/** Returns the name of an option's flag. */
export function flagOf({ name, isInFile }: SourceOption): string {
  return `${name.replaceAll("_", "-")}${isInFile ? "-file" : ""}`;
}

/** Options of every import as people type them; undefined for the default. */
interface TypedOptions {
  source: string | undefined;
  only: string | undefined;
  /** Slug, or `none`. */
  internal_page: string | undefined;
  /** Number, `all` or `none`. */
  history_days?: string | undefined;
  isPaused: boolean;
  isDryRun: boolean;
  takesDomains: boolean;
}

/** Returns the options of an import, and their errors by the names of the fields. */
export function parseOptions(typed: TypedOptions): {
  options: ImportOptions;
  errors: FieldError[];
} {
  const { source = "default", only, internal_page: page = "internal", isPaused } = typed;
  const { history_days: days = "all", isDryRun, takesDomains } = typed;
  const [fault] = schemaErrors(RefText, source);
  const part = IMPORT_PARTS.find((each) => each === only);
  const errors = fault ? [{ pointer: "#/source", detail: fault.detail }] : [];
  if (only !== undefined && !part) {
    errors.push({ pointer: "#/only", detail: `is one of ${IMPORT_PARTS.join(", ")}` });
  }
  const historyDays = daysOf(days);
  if (historyDays === undefined) {
    errors.push({ pointer: "#/history_days", detail: "is a number from 1 to 36500, all or none" });
  }
  const internalPage = page === "none" ? null : page;
  const switches = { isPaused, isDryRun, takesDomains };
  const options = { ...switches, source, only: part, internalPage };
  return { options: { ...options, historyDays: historyDays ?? null }, errors };
}

/** Returns the number of days of history; null for all, and undefined for another text. */
function daysOf(text: string): number | null | undefined {
  if (text === "all") return null;
  if (text === "none") return 0;
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return days >= 1 && days <= 36_500 ? days : undefined;
}

/** Parts to which an import can be limited. Pages have their components, maintenance and incidents. */
export const IMPORT_PARTS = ["pages", "monitors", "webhooks", "history"] as const;

export type ImportPart = (typeof IMPORT_PARTS)[number];

export interface ImportOptions {
  /** Name of the source. */
  source: string;
  isDryRun: boolean;
  /** True to create monitors paused and webhooks disabled, until the import is started. */
  isPaused: boolean;
  /** Undefined for all parts. */
  only: ImportPart | undefined;
  /** Number of days of history to import; null for all, and 0 for none. */
  historyDays: number | null;
  /** Slug of the private page for monitors that are on no page; null for none. */
  internalPage: string | null;
  /** True to give pages the custom domains that they have in the source. */
  takesDomains: boolean;
  /** Digest of the plan that was confirmed, without which any plan is imported. */
  planned?: string;
  /** Addresses of receivers of webhooks by host name, as far as they are known. */
  receivers?: ReadonlyMap<string, readonly string[]>;
}
