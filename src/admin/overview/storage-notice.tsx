import { STORAGE_FAULTS, type StorageFault, type StorageState } from "../../db";
import { Notice } from "../../ui";

/** Instructions for each fault, after the sentence that names it. */
const REMEDIES: Record<StorageFault, string> = {
  disk_full: "Free some space on the disk of the data directory.",
  disk_error: "Check the disk of the data directory; the log has the errors.",
  read_only: "Make the data directory and the files in it writable for the server.",
  locked: "End the other process that writes to the database.",
  damaged: "Restore a backup with allclear restore.",
  moved: "Move the data directory back, or restart the server.",
  failing: "The log has the errors.",
};

/** Warns that changes are refused, and why, or that the database is damaged. */
export function StorageNotice({ storage: { fault, isDamaged } }: { storage: StorageState }) {
  if (fault !== undefined) {
    return (
      <Notice tone="danger" title="Changes cannot be stored">
        {STORAGE_FAULTS[fault]} {REMEDIES[fault]} Status pages are still served, and changes are
        stored again without a restart as soon as the cause is gone.
      </Notice>
    );
  }
  if (!isDamaged) return null;
  return (
    <Notice tone="danger" title="The database is damaged">
      Some of its pages cannot be read. {REMEDIES.damaged}
    </Notice>
  );
}
