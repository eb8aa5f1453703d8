import type { ComponentChildren } from "preact";
import { STORAGE_FAULTS, type StorageFault, type StorageState } from "../../db";
import { Notice } from "../../ui";

/** Shown after the remedies of faults that end without a restart. */
const RECOVERY =
  "Status pages are still served. Changes are stored again without a restart when the fault is removed.";

const RESTORE = (
  <>
    Stop the server and restore a backup with <code>allclear restore FILE</code>.
  </>
);

/** Instructions by storage fault, shown after its description. */
const REMEDIES: Record<StorageFault, ComponentChildren> = {
  disk_full: `Free some space on the disk of the data directory. ${RECOVERY}`,
  disk_error: `Check the disk of the data directory; the log has the errors. ${RECOVERY}`,
  read_only: `Make the data directory and the files in it writable for the server. ${RECOVERY}`,
  locked: `End the other process that writes to the database. ${RECOVERY}`,
  damaged: RESTORE,
  moved: "Move the data directory back. If you replaced it on purpose, restart the server.",
  failing: "The log has the errors.",
};

/** Warns that changes cannot be stored, with the reason, or that the database is damaged. */
export function StorageNotice({ storage: { fault, isDamaged } }: { storage: StorageState }) {
  if (fault !== undefined) {
    return (
      <Notice tone="major" title="Changes cannot be stored">
        {STORAGE_FAULTS[fault]} {REMEDIES[fault]}
      </Notice>
    );
  }
  if (!isDamaged) return null;
  return (
    <Notice tone="major" title="The database is damaged">
      Parts of the database file cannot be read. {RESTORE}
    </Notice>
  );
}
