import type { StorageState } from "../../../src/db/storage-watch";
import type { Screen } from "./screen";

/** Opens the overview of an installation whose database is in the given state. */
function inState(state: StorageState): Screen["open"] {
  return ({ failing }) => {
    failing.app.ctx.db.storage = () => state;
    return { site: failing, path: "/admin", session: failing.session };
  };
}

/** Warnings about the database. */
export const STORAGE_SCREENS: readonly Screen[] = [
  { name: "storage-fault", open: inState({ fault: "disk_error", isDamaged: false }) },
  { name: "storage-moved", open: inState({ fault: "moved", isDamaged: false }) },
  { name: "storage-damaged", open: inState({ fault: undefined, isDamaged: true }) },
];
