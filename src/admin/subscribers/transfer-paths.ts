import { SUBSCRIBERS_PATH } from "../paths";

export const IMPORT_PATH = `${SUBSCRIBERS_PATH}/import`;
export const EXPORT_PATH = `${SUBSCRIBERS_PATH}/export`;
export const ERASE_PATH = `${SUBSCRIBERS_PATH}/erase`;

/** Returns the path of the form for erasing the address of a subscriber, which is not in the path itself. */
export function eraseSubscriberPath(id: string): string {
  return `${ERASE_PATH}?subscriber=${encodeURIComponent(id)}`;
}

/** Largest file of an import, in bytes. The command takes any size. */
export const IMPORT_FILE_MAX_BYTES = 900 * 1024;
