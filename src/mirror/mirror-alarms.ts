import { toIso } from "../base/time";
import type { Alarms } from "../features/alarms/alarms";

/** Number of paths that the alarm names. */
const PATHS_NAMED = 8;

/** Alarm about files of deleted and private pages in a mirror. */
interface RemovalAlarm {
  /** Names the files that are left. */
  raise(paths: readonly string[]): void;
  /** Says that the files of the mirror are not known. */
  raiseUnknown(): void;
  /** True if the alarm is raised, such as by an earlier process. */
  isRaised(): boolean;
  clear(): void;
}

/** Creates the alarm of a mirror. */
export function createRemovalAlarm(
  mirror: string,
  alarms: Pick<Alarms, "raise" | "clear" | "list">,
): RemovalAlarm {
  const raise = (sentence: string) =>
    alarms.raise("mirror_removal", `${sentence} The removal is tried again.`);
  return {
    raise(paths) {
      const others = paths.length - PATHS_NAMED;
      const named = paths.slice(0, PATHS_NAMED).join(", ");
      raise(
        `The mirror ${mirror} still has ${named}${others > 0 ? ` and ${others} more files` : ""}.`,
      );
    },
    raiseUnknown: () =>
      raise(
        `The files of the mirror ${mirror} cannot be listed. It may still have those of pages that were deleted or made private.`,
      ),
    isRaised: () => alarms.list().some(({ kind }) => kind === "mirror_removal"),
    clear: () => alarms.clear("mirror_removal"),
  };
}

/** Returns the detail of the alarm about a mirror that was last written at `asOf`, in unix ms. */
export function describeStale(name: string, asOf: number | undefined, error = ""): string {
  const since =
    asOf === undefined
      ? "was never written"
      : `was last written at ${toIso(asOf).slice(0, 16).replace("T", " ")} UTC`;
  return `The mirror ${name} ${since}. ${error}`.trim();
}
