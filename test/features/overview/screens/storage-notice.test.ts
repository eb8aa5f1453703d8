import { expect, test } from "bun:test";
import type { StorageState } from "../../../../src/db/storage-watch";
import { createTestApp } from "../../../support/app";
import { readHtml } from "../../../support/html";

/** Notices of the overview while the database is in the given state. */
async function noticesIn(state: StorageState): Promise<string[]> {
  await using app = await createTestApp();
  const session = await app.signedIn("viewer");
  app.ctx.db.storage = () => state;
  return readHtml((await app.call("/admin", { session })).text).texts(".notice");
}

const GOES_ON =
  "Status pages are still served. Changes are stored again without a restart when the fault is removed.";
const RESTORE = "Stop the server and restore a backup with allclear restore FILE.";

test.each([
  ["disk_full", `The disk is full. Free some space on the disk of the data directory. ${GOES_ON}`],
  [
    "disk_error",
    `The disk reports errors. Check the disk of the data directory; the log has the errors. ${GOES_ON}`,
  ],
  [
    "read_only",
    `The database is read-only. Make the data directory and the files in it writable for the server. ${GOES_ON}`,
  ],
  [
    "locked",
    `Another process holds the database. End the other process that writes to the database. ${GOES_ON}`,
  ],
  ["damaged", `The database file is damaged. ${RESTORE}`],
  [
    "moved",
    "The data directory was moved, deleted or replaced while the server ran. Move the data directory back. If you replaced it on purpose, restart the server.",
  ],
  ["failing", "The database cannot be written. The log has the errors."],
] as const)(
  "the overview names the remedy of the storage fault %s and no other",
  async (fault, text) => {
    expect(await noticesIn({ fault, isDamaged: false })).toEqual([
      `Changes cannot be stored${text}`,
    ]);
  },
);

test("the overview explains how to replace a damaged database, and shows no notice for a sound one", async () => {
  expect(await noticesIn({ fault: undefined, isDamaged: true })).toEqual([
    `The database is damagedParts of the database file cannot be read. ${RESTORE}`,
  ]);
  expect(await noticesIn({ fault: undefined, isDamaged: false })).toEqual([]);
});
