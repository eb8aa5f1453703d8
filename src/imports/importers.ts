import type { Config } from "../base/config/options";
import type { FieldError } from "../base/errors";
import type { ImportSource, OptionValues, SourceKind } from "../base/import-sources";
import { plural } from "../base/text";
import type { Ctx } from "../context";
import { OperatorError } from "../db/errors";
import { createEgress } from "../egress/egress";
import type { Found } from "./source";

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

/** Reads a source from a path or an address. Throws an OperatorError for one that cannot be used. */
type ReadSource = (place: string, values: OptionValues, context: ReadContext) => Promise<Found>;

/** The importers. Their code is loaded when a source is read, so that a start takes no more time or memory. */
const IMPORTERS: Readonly<Record<SourceKind, () => Promise<ReadSource>>> = {
  async "uptime-kuma"() {
    const { readUptimeKuma } = await import("./uptime-kuma/read");
    return (path, _values, { config, clock }) =>
      readUptimeKuma(path, { ...config, now: clock.now() });
  },
  async gatus() {
    const { readGatus } = await import("./gatus/read");
    return (path, { history, env_file: envFile, allow_unset_env: allows }, { environment }) =>
      readGatus(path, {
        history,
        envFile,
        environment: environment ?? {},
        allowsUnset: allows !== undefined,
        readsNamedFiles: environment !== undefined,
      });
  },
  async healthchecks() {
    const { readHealthchecks } = await import("./healthchecks/read");
    return (path, { ping_key: pingKey }) => readHealthchecks(path, { pingKey });
  },
  async statuspage() {
    const { readStatuspage } = await import("./statuspage/read");
    return (place, { api_key: apiKey, page_id: pageId, subscribers: file }, context) => {
      const { clock, progress = () => {} } = context;
      // Unlike a timer of the clock, it keeps the process of a command alive.
      const wait = (ms: number) => Bun.sleep(ms);
      const deps = { egress: createEgress(context), clock, progress, wait };
      return readStatuspage(place, { apiKey, pageId, subscribersFile: file }, deps);
    };
  },
};

/** Maximum number of objects of a source: 12,000 endpoints of Gatus are 24,000. */
const OBJECTS_MAX = 100_000;

/** Reads a source. Throws an OperatorError for one that cannot be used. */
export async function readSource(
  kind: SourceKind,
  place: string,
  values: OptionValues,
  context: ReadContext,
): Promise<Found> {
  const read = await IMPORTERS[kind]();
  const found = await read(place, values, context);
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
