import type { Config } from "./config";
import type { Db } from "./db";
import type { Outbox } from "./events";
import type { Clock } from "./kernel/clock";
import type { NewId } from "./kernel/ids";
import type { Log } from "./kernel/log";
import type { RandomBytes } from "./kernel/random";
import type { Signal } from "./kernel/signal";

/** What wakes whom after a commit. They carry no data: a listener reads the database again. */
export interface Signals {
  /** A key was created, edited, rotated or revoked. */
  keysChanged: Signal<void>;
  /** What a page shows was changed; the value is the page's id. */
  pageChanged: Signal<string>;
  /** Where a page is found may be another: its slugs, its custom domains, whether it is public. */
  addressesChanged: Signal<void>;
  /**
   * A webhook endpoint has something to be sent, or was enabled, disabled or deleted; the value is its
   * id.
   */
  deliveriesQueued: Signal<string>;
  /** Deliveries of a large change wait to be written as rows. */
  deliveriesBatched: Signal<void>;
  /** A monitor was created, changed, paused, resumed or deleted, or its token rotated. */
  monitorsChanged: Signal<void>;
  /** The public address, from which links are built, is another one. */
  settingsChanged: Signal<void>;
  /** Another process has committed something, whatever it was. */
  databaseChangedElsewhere: Signal<void>;
}

/** What a service is given: all that it may reach beyond its arguments. */
export interface AppContext {
  config: Config;
  /** The address that links are built from, without a slash at its end. */
  baseUrl: string;
  db: Db;
  clock: Clock;
  random: RandomBytes;
  newId: NewId;
  log: Log;
  outbox: Outbox;
  signals: Signals;
}
