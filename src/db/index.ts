/**
 * The database: opening, migrating, and writing through `db.write`, which commits in groups. Stores
 * declare their statements with `selectOne`, `selectMany` and `mutate`.
 */
export { mutateByIds, selectByIds } from "./by-ids";
export { countChanges } from "./change-count";
export { createDb, type Db } from "./database";
export { type DiskSpace, readDiskSpace } from "./disk";
export {
  isUnreadable,
  OperatorError,
  STORAGE_FAULTS,
  type StorageFault,
  storageFaultOf,
} from "./errors";
export { returnFreePages } from "./free-pages";
export type { Orm } from "./statement-cache";
export {
  changedRow,
  insertAllInto,
  insertInto,
  insertMissingInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  type Tx,
  updateById,
} from "./statements";
export type { StorageState } from "./storage-watch";
export { declareSearch, isFound, type PartSearch, wordsOf } from "./word-search";
