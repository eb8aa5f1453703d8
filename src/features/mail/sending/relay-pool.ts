import type { Ctx } from "../../../context";
import type { Timer } from "../../../base/clock";
import { SECOND_MS } from "../../../base/time";
import { noteRelayOffers } from "../relay-offers";
import type { MailSettings } from "../settings";
import type { RelayConnection, RelayOptions } from "../smtp/relay";
import { noReply, type Reply } from "../smtp/reply";

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
    const { helloName, openRelay } = await import("../smtp/relay");
    const { baseUrl, clock } = this.#ctx;
    const deps = { egress: this.#egress, clock, signal: this.#signal };
    const opened = await openRelay({ settings, name: helloName(baseUrl), ...deps });
    if (!("reply" in opened)) void noteRelayOffers(this.#ctx, settings, opened.extensions);
    return opened;
  }
}
