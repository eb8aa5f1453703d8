import type { Timer } from "../../../base/clock";
import { SECOND_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { RelayConnection, RelayOptions } from "../relay";
import { formatReply, noReply, type Reply, withoutAddresses } from "../reply";
import { relayWaitMs } from "../rules";
import { type MailSettings, noteRelayOffers, type RelayRecord } from "../settings";

const MAILS_PER_CONNECTION = 100;
const CLOSE_AFTER_MS = 30 * SECOND_MS;

interface Idle {
  connection: RelayConnection;
  timer: Timer;
}

/** Open connections to the relay. Their number is limited by the caller. */
export class RelayPool {
  readonly #ctx: Ctx;
  readonly #egress: RelayOptions["egress"];
  readonly #signal: AbortSignal;
  readonly #settings: () => MailSettings | undefined;
  readonly #idle: Idle[] = [];
  readonly #inUse = new Set<RelayConnection>();
  /** Connections in use that are closed after their mail. */
  readonly #retired = new WeakSet<RelayConnection>();

  /** `signal` closes all connections, whatever they do. */
  constructor(
    ctx: Ctx,
    egress: RelayOptions["egress"],
    signal: AbortSignal,
    settings: () => MailSettings | undefined,
  ) {
    this.#ctx = ctx;
    this.#egress = egress;
    this.#signal = signal;
    this.#settings = settings;
    // Each connection closes itself; what is left are the timers of idle ones.
    signal.addEventListener("abort", () => this.retire());
  }

  /** Returns an open connection, or the reply for which there is none. */
  async take(): Promise<RelayConnection | { reply: Reply }> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      idle.timer.cancel();
      if (idle.connection.isUsable) {
        this.#inUse.add(idle.connection);
        return idle.connection;
      }
      idle.connection.close();
    }
    const opened = await this.#open();
    if (!("reply" in opened)) this.#inUse.add(opened);
    return opened;
  }

  /** Keeps a connection for the next mail, or closes it. */
  give(connection: RelayConnection): void {
    this.#inUse.delete(connection);
    const isOver = this.#retired.has(connection) || connection.sent >= MAILS_PER_CONNECTION;
    if (isOver || !connection.isUsable) return connection.close();
    const timer = this.#ctx.clock.after(CLOSE_AFTER_MS, () => {
      this.#idle.splice(this.#idle.indexOf(idle), 1);
      connection.close();
    });
    const idle = { connection, timer };
    this.#idle.push(idle);
  }

  /** Closes a connection that must not be used again. */
  discard(connection: RelayConnection): void {
    this.#inUse.delete(connection);
    connection.close();
  }

  /** Closes idle connections now and the others after their mail, such as after a change of the settings. */
  retire(): void {
    for (const connection of this.#inUse) this.#retired.add(connection);
    for (const { connection, timer } of this.#idle.splice(0)) {
      timer.cancel();
      connection.close();
    }
  }

  async #open(): Promise<RelayConnection | { reply: Reply }> {
    const settings = this.#settings();
    if (!settings) return { reply: noReply("connect", "There is no relay.") };
    const { helloName, openRelay } = await import("../relay");
    const { baseUrl, clock } = this.#ctx;
    const deps = { egress: this.#egress, clock, signal: this.#signal };
    const opened = await openRelay({ settings, name: helloName(baseUrl), ...deps });
    if (!("reply" in opened)) void noteRelayOffers(this.#ctx, settings, opened.extensions);
    return opened;
  }
}

/** Availability of the relay, for people. */
export interface RelayFigures {
  isAvailable: boolean;
  /** Time (unix ms) since which it is unavailable. */
  since: number | null;
  /** Last reply while it is unavailable. */
  reply: Reply | null;
}

/** Failures of the relay since it was last available. */
interface Failures {
  since: number;
  reply: Reply;
  count: number;
  /** Times of the last failure and of the next try (monotonic ms). */
  failedAt: number;
  retryAt: number;
}

/** Availability of the relay, and the wait until one mail tries it again. */
export class RelayState {
  readonly #ctx: Ctx;
  readonly #changed: (record: RelayRecord | undefined) => void;
  #failures: Failures | undefined;
  /** False until the relay answered a mail. */
  #isKnown = false;

  /** `changed` is called with the new state for people; undefined if it is not known any more. */
  constructor(ctx: Ctx, changed: (record: RelayRecord | undefined) => void) {
    this.#ctx = ctx;
    this.#changed = changed;
  }

  get figures(): RelayFigures {
    const { since = null, reply = null } = this.#failures ?? {};
    return { isAvailable: this.isAvailable, since, reply };
  }

  get isAvailable(): boolean {
    return this.#failures === undefined;
  }

  /** Returns the wait in ms until one mail may try the relay again; 0 if it is available. */
  waitMs(): number {
    return this.#failures ? Math.max(0, this.#failures.retryAt - this.#ctx.clock.monotonic()) : 0;
  }

  /** Records a failure. Mails that began together share one wait; the next one is twice as long. */
  fail(reply: Reply): void {
    const now = this.#ctx.clock.monotonic();
    const { count = 0, retryAt = now } = this.#failures ?? {};
    const waitMs = relayWaitMs(count);
    if (now < retryAt) this.#set(reply, { count, retryAt });
    else this.#set(reply, { count: count + 1, retryAt: now + waitMs });
  }

  /** Records that the relay answered no mail of late. Mails are tried one at a time, and do not wait. */
  suspect(reply: Reply): void {
    const { count = 0, retryAt = this.#ctx.clock.monotonic() } = this.#failures ?? {};
    this.#set(reply, { count, retryAt });
  }

  #set(reply: Reply, { count, retryAt }: Pick<Failures, "count" | "retryAt">): void {
    const { clock, log } = this.#ctx;
    const now = clock.monotonic();
    const earlier = this.#failures;
    const words = withoutAddresses(formatReply(reply));
    if (!earlier) {
      log.warn({ ...reply, text: withoutAddresses(reply.text) }, "the mail relay is unavailable");
    }
    const since = earlier?.since ?? clock.now();
    this.#failures = { since, count, failedAt: now, retryAt, reply };
    if (earlier && earlier.retryAt === retryAt) return;
    this.#isKnown = true;
    const nextTryAt = clock.now() + Math.max(0, retryAt - now);
    this.#changed({ isAvailable: false, since, reply: words, nextTryAt });
  }

  /** Records an answer to a mail that began at `begunAt` (monotonic ms): after a failure, or it proves nothing. */
  succeed(begunAt: number): void {
    if (!this.#failures && this.#isKnown) return;
    if (this.#failures && begunAt <= this.#failures.failedAt) return;
    if (this.#failures) this.#ctx.log.info({}, "the mail relay is available again");
    this.#failures = undefined;
    this.#isKnown = true;
    const since = this.#ctx.clock.now();
    this.#changed({ isAvailable: true, since, reply: null, nextTryAt: null });
  }

  /** Forgets failures, such as after a change of the settings. */
  reset(): void {
    this.#failures = undefined;
    this.#isKnown = false;
    // Another process or an earlier start may have stored one.
    this.#changed(undefined);
  }
}
