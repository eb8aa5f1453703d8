import type { Config } from "./base/config/options";
import type { Network } from "./base/config/parse";
import type { Db } from "./db/database";
import type { OutsideAnswers } from "./egress/outside";
import type { ChangeSignals } from "./events/changes";
import type { Outbox } from "./events/outbox";
import type { Clock } from "./base/clock";
import type { NewId } from "./base/ids";
import type { Log } from "./base/log";
import type { RandomBytes } from "./base/hash";
import type { Signal } from "./base/signal";

/** Signals sent after a commit. They carry no rows; listeners read the database again. */
export interface Signals extends ChangeSignals {
  /**
   * A webhook endpoint has new deliveries, or was enabled, disabled or deleted; the value is its
   * id.
   */
  deliveriesQueued: Signal<string>;
  /** An attempt of a delivery was recorded; the value is the delivery's id. */
  deliveryTried: Signal<string>;
  /** Deliveries of a large change wait to be written as rows. */
  deliveriesBatched: Signal<void>;
  /** Mails were queued, cancelled, held or released. */
  mailsQueued: Signal<void>;
  /** A try of an alert by mail was recorded; the value is the id of its delivery. */
  alertTried: Signal<string>;
  /** A visitor signed up for e-mail; the request waits for a decision. */
  signUpsRequested: Signal<void>;
  /** Someone forgot a password; the request waits for a decision. */
  passwordsForgotten: Signal<void>;
  /** A mailing was recorded or released. */
  mailingsRecorded: Signal<void>;
  /** Another process committed a change. Its change signals were emitted before. */
  databaseChangedElsewhere: Signal<void>;
  /**
   * The database has another history than before, such as that of another primary. With the next
   * `databaseChangedElsewhere` everything counts as changed.
   */
  databaseReplaced: Signal<void>;
}

/** Record of attempts to send outside of the database, so that the next primary does not repeat those that have ended. */
export interface AttemptRecord {
  /** Notes that an attempt begins. Resolves to its outcome if one is noted. Never rejects. */
  begin(id: string, attempt: number): Promise<object | undefined>;
  /** Notes the outcome of an attempt. Never rejects. */
  end(id: string, attempt: number, outcome: object): Promise<void>;
}

/** State of a key value that the primary has told before its transaction is applied. Times in unix ms. */
export interface NewerKeyState {
  expiresAt: number | null;
  revokedAt: number | null;
  endsAt: number | null;
  rateLimit: number;
}

/** Dependencies of services in addition to their arguments. */
export interface Ctx {
  config: Config;
  /** Public address from which links are built, without a trailing slash. */
  baseUrl: string;
  /** Private networks that webhooks may reach. */
  allowedNetworks: readonly Network[];
  /** Start of the process, in unix ms. */
  startedAt: number;
  /** Time of the data on a replica that has heard nothing of the primary for a minute, in unix ms. */
  shownAsOf: number | undefined;
  /** States of key values on a replica that are newer than its database, by the hashes of the values. */
  newerKeys: ReadonlyMap<string, NewerKeyState> | undefined;
  /**
   * Waits, for two seconds at most, until all nodes know of the last change of keys, and returns those that have not
   * confirmed it. Undefined without Valkey.
   */
  findNodesBehind: (() => Promise<string[]>) | undefined;
  /** Record of attempts on the primary of a fleet with Valkey. */
  attempts: AttemptRecord | undefined;
  /**
   * Waits on the primary of a fleet, for two seconds at most, until the delivery or mail with an id is in the store, so
   * that the next primary repeats it with the same id. Resolves to false if it must not be sent, since another node may
   * be the primary. Never rejects. Undefined on one machine, and with `--ack local`.
   */
  waitToSend: ((id: string) => Promise<boolean>) | undefined;
  /** Answers from outside, which show that this server has its network. */
  outside: OutsideAnswers;
  db: Db;
  clock: Clock;
  random: RandomBytes;
  newId: NewId;
  log: Log;
  outbox: Outbox;
  signals: Signals;
  /**
   * False while another node may be the primary. Then no check, delivery, mail or step of the clock begins, and
   * changes are refused. Always true on one machine.
   */
  isPrimary(): boolean;
}
