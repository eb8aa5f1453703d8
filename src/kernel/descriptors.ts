import { closeSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";

/* File descriptors of this process: each connection takes one, incoming and outgoing. */

/** Message for people: no file descriptor is left. */
export const NO_DESCRIPTOR_LEFT = "This server has too many open files and connections.";

const NOT_LEFT: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

/** Returns the most that may be open, undefined where the system does not say. */
export function descriptorLimit(): number | undefined {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
    return Number.isInteger(limit) ? limit : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the lowest descriptor that is free, undefined if none is. All below it are in use. */
export function lowestFreeDescriptor(): number | undefined {
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
 * Returns how many outgoing connections one kind of work may have at once: `most`, or a quarter of the
 * limit, so that listening and files always have room.
 */
export function outgoingShare(most: number, limit = descriptorLimit()): number {
  return limit === undefined ? most : Math.max(1, Math.min(most, Math.floor(limit / 4)));
}
