/**
 * The database: opened with the settings that the guarantees rest on, migrated, and written through
 * one door, `db.write`, which commits in groups. Stores declare their statements with `selectOne`,
 * `selectMany` and `mutate`.
 */
export { createDb, type Db } from "./database";
export { OperatorError } from "./errors";
export {
  insertAllInto,
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  type Tx,
  updateById,
} from "./statements";
export { STORAGE_FAULTS, type StorageFault } from "./errors";
export type { StorageState } from "./storage-watch";
