import { join } from "node:path";
import { type DataDirectory, openDataDirectory } from "../../src/db/data-directory";
import { restoreDatabase, type RestoreReport } from "../../src/db/restore";
import { createTestApp, type TestApp } from "./app";
import { createTestClock, TEST_START } from "./clock";
import { recordingMonitoring } from "./monitor-api";
import { temporaryFolder } from "./temporary-folder";

/** Time of the restore and of reopening the application. */
const LATER = TEST_START + 3_600_000;

/** A data directory that was used before and after a backup. */
interface RestoredSite extends Disposable {
  directory: DataDirectory;
  backup: string;
  /** Opens an application on the data directory an hour later and closes it after `work`. */
  withApp<T>(work: (app: TestApp) => Promise<T>): Promise<T>;
  /** Restores the backup, or another file. */
  restore(file?: string): RestoreReport;
}

/** Runs `before`, makes a backup, and runs `since` with the result of `before`. */
export async function backedUpSite<T>(
  before: (app: TestApp) => Promise<T>,
  since: (app: TestApp, made: T) => Promise<unknown> = async () => {},
): Promise<RestoredSite & { made: T }> {
  const folder = temporaryFolder();
  const directory = openDataDirectory(join(folder.path, "data"));
  const backup = join(folder.path, "backup.db");
  const open = async <R>(start: number, work: (app: TestApp) => Promise<R>): Promise<R> => {
    await using app = await createTestApp({
      clock: createTestClock(start),
      databasePath: directory.database,
      monitoring: (ctx) => recordingMonitoring(ctx, [], []),
    });
    // Awaited, since the application is closed when this function returns.
    return await work(app);
  };
  const made = await open(TEST_START, async (app) => {
    const result = await before(app);
    app.ctx.db.copyTo(backup);
    await app.clock.advance(60_000);
    await since(app, result);
    return result;
  });
  let restores = 0;
  return {
    made,
    directory,
    backup,
    withApp: (work) => open(LATER, work),
    restore(file = backup) {
      restores += 1;
      return restoreDatabase(directory, file, { now: LATER + restores });
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
