/* File descriptors of this process: each connection takes one, incoming and outgoing. */
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { devNull } from "node:os";

/** Message for people: no file descriptor is left. */
export const NO_DESCRIPTOR_LEFT = "This server has too many open files and connections.";

const NOT_LEFT: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

/** Returns the limit of open descriptors; undefined if it cannot be read. */
export function descriptorLimit(): number | undefined {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
    return Number.isInteger(limit) ? limit : undefined;
  } catch {
    return undefined;
  }
}

/** Largest limit up to which descriptors are counted one by one, which takes a few milliseconds. */
const COUNTED_MAX = 20_000;

/**
 * Returns the number of open descriptors: the limit if no more can be opened. If counting them would be
 * slow, returns the lowest free one: all below it are open.
 */
export function openDescriptors(limit: number): number {
  const lowestFree = lowestFreeDescriptor();
  if (lowestFree === undefined) return limit;
  try {
    // Linux gives their number as the size of this folder since version 6.2.
    const { size } = statSync("/proc/self/fd");
    if (size > 0) return size;
    return limit <= COUNTED_MAX ? readdirSync("/proc/self/fd").length : lowestFree;
  } catch {
    return lowestFree;
  }
}

/** Returns the lowest free descriptor, undefined if all are in use, or 0 if the platform does not show it. */
function lowestFreeDescriptor(): number | undefined {
  try {
    const descriptor = openSync(devNull, "r");
    closeSync(descriptor);
    return descriptor;
  } catch (error) {
    return isDescriptorError(error) ? undefined : 0;
  }
}

/** Returns true if this many can be opened now. */
export function hasFreeDescriptors(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, "r"));
    return true;
  } catch (error) {
    return !isDescriptorError(error);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Returns true for an error that says that no descriptor is left. */
export function isDescriptorError(error: unknown): boolean {
  return NOT_LEFT.has((error as { code?: unknown } | undefined)?.code);
}

/**
 * Returns the limit of simultaneous outgoing connections for one kind of work: `max`, but at most a
 * quarter of all descriptors, so that incoming connections and files have room.
 */
export function outgoingShare(max: number): number {
  const limit = descriptorLimit();
  return limit === undefined ? max : Math.max(1, Math.min(max, Math.floor(limit / 4)));
}
