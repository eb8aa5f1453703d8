/** Restores a backup into a data directory. Arguments: the directory and the backup. */
import { lockOrExplain, openDataDirectory } from "../../../src/db/data-directory";
import { restoreDatabase } from "../../../src/db/restore";

// Each file would otherwise be opened to all by this umask.
process.umask(0);
const [, , path = "", backup = ""] = process.argv;
const directory = openDataDirectory(path);
const lock = lockOrExplain(directory, "restore");
restoreDatabase(directory, backup);
lock.release();
console.log("restored");
