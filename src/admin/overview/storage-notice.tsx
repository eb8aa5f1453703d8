import type { ComponentChildren } from "preact";
import { STORAGE_FAULTS, type StorageFault, type StorageState } from "../../db";
import { Notice } from "../../ui";

/** Shown after the remedies of faults that end without a restart. */
const GOES_ON =
  "Status pages are still served. Changes are stored again, without a restart, once the cause is gone.";

const RESTORE = (
  <>
    Stop the server and restore a backup with <code>allclear restore FILE</code>.
  </>
);

/** Instructions by storage fault, shown after its description. */
const REMEDIES: Record<StorageFault, ComponentChildren> = {
  disk_full: `Free some space on the disk of the data directory. ${GOES_ON}`,
  disk_error: `Check the disk of the data directory; the log has the errors. ${GOES_ON}`,
  read_only: `Make the data directory and the files in it writable for the server. ${GOES_ON}`,
  locked: `End the other process that writes to the database. ${GOES_ON}`,
  damaged: RESTORE,
  moved:
    "Move the data directory back. If its replacement is intended, restart the server to use it.",
  failing: "The log has the errors.",
};

/** Warns that changes are refused, with the reason, or that the database is damaged. */
export function StorageNotice({ storage: { fault, isDamaged } }: { storage: StorageState }) {
  if (fault !== undefined) {
    return (
      <Notice tone="danger" title="Changes cannot be stored">
        {STORAGE_FAULTS[fault]} {REMEDIES[fault]}
      </Notice>
    );
  }
  if (!isDamaged) return null;
  return (
    <Notice tone="danger" title="The database is damaged">
      Parts of the database file cannot be read. {RESTORE}
    </Notice>
  );
}
