import type { FollowedDb, Txid } from "../../db/followed-database";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import type { Signal } from "../../base/signal";
import type { Confirmed } from "./as-of";
import type { LogSource } from "./log-fetcher";

/** A copy of the primary's database that is kept up to date. */
export interface Following {
  readonly db: FollowedDb;
  /**
   * Emitted when there is a new version. Listeners read it, without waiting, before they return. If one throws, it is
   * emitted again.
   */
  changed: Signal<void>;
  /** Returns all figures. Requests read the ones below, for which nothing is copied. */
  state(): FollowState;
  /** Times up to which the present database is complete. */
  confirmed(): Confirmed;
  /** Prefix of the log that the present database has; undefined before the first restore. */
  prefix(): string | undefined;
  /** Last applied transaction; 0 if not known. */
  txid(): Txid;
  /** Looks for a transaction at once, since the primary has uploaded it. */
  hint(txid: Txid): void;
  /** Resolves to true when a transaction is applied, or to false after `limitMs`. */
  waitFor(txid: Txid, limitMs: number): Promise<boolean>;
  /** Restores the log of another prefix, and reads the present database until that is done. */
  changePrefix(prefix: string): void;
  /**
   * Applies all that the store has, then ends everything. Resolves to the path of the database, which is not open.
   * Rejects, and goes on to follow, if that takes longer than `limitMs` or the store cannot be read.
   */
  finish(limitMs: number): Promise<string>;
  /** Ends everything. The database is closed. */
  stop(): Promise<void>;
}

export interface FollowState extends Confirmed {
  /** Prefix whose log is read; undefined before the first restore. */
  prefix: string | undefined;
  /** Last applied transaction, and the last one in the store; 0 if not known. */
  txid: Txid;
  newest: Txid;
  /** Reads that found a transaction half applied. */
  unsettled: number;
  restarts: number;
  restores: number;
}

export interface FollowOptions extends LogSource {
  /** Prefix of the log in the store. */
  prefix: string;
  /** Folder for the copies of log and database. Only one process may use it. */
  folder: string;
  /** Path or name of Litestream's program. */
  program: string;
  clock: Clock;
  log: Log;
  /** True while the leader record changes. */
  isPrimaryAlive(): boolean;
  /** True while hints of the primary would arrive. */
  hasHints(): boolean;
}
