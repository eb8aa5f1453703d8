import { isForPeople, type WebhookFormat } from "../../../base/webhook";
import type { Clock } from "../../../base/clock";
import { sha256Hex } from "../../../base/hash";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import { Backoff } from "../../outgoing/timing";
import { FORMATS } from "../formats";
import type { Limit } from "../formats/format";

/** Pause after a refusal without a time: doubles. */
const UNNAMED_PAUSE_MS = { first: 5 * SECOND_MS, longest: MINUTE_MS };

/**
 * Time added to the intervals of a limit, since messages do not arrive exactly at the intervals at which they start.
 */
const MARGIN_MS = 50;

/** Time for which a message keeps the next one back, so that messages arrive in order. */
const PATIENCE_MS = SECOND_MS;

/** Time after a pause in which messages of all formats follow each other. */
const CAREFUL_MS = MINUTE_MS;

/** Time without a refusal after which the next one begins a new series. Longer than any pause. */
const BREAK_MS = HOUR_MS;

/** Number of starts that are kept: at least as many as any limit counts. */
const STARTS_MAX = 60;

/** Endpoint as its destination is found. */
interface Addressee {
  format: WebhookFormat;
  url: string;
  settings: Readonly<Record<string, unknown>>;
}

/**
 * Returns the digest by which a destination is known: that of the URL without its fragment, or of what the format
 * names. Undefined for e-mail. Logs and screens must not show it, since short URLs can be guessed from it.
 */
export function destinationKey({ format, url, settings }: Addressee): string | undefined {
  const target = URL.parse(url);
  if (format === "email" || !target) return undefined;
  target.hash = "";
  return sha256Hex(FORMATS[format].destination?.(target, settings) ?? target.href);
}

/** A message under way to a destination. */
export interface Slot {
  destination: Destination;
  format: WebhookFormat;
  startedAt: number;
}

/** Pace and pause of a receiver, which all its endpoints share. Times are monotonic, in ms. */
export class Destination {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Times of the last requests, the last one at the end. */
  readonly #starts: number[] = [];
  /** Times at which limits of bursts are as if unused. */
  readonly #unusedAt = new Map<Limit, number>();
  readonly #backoff = new Backoff(UNNAMED_PAUSE_MS.first, UNNAMED_PAUSE_MS.longest);
  #underWay = 0;
  #pausedUntil: number;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** Start of the refusals without a success or a break; undefined after a success. */
  #refusingSince: number | undefined;

  /** `pausedMs` is the rest of a pause that an earlier process has recorded; 0 without one. */
  constructor(
    readonly key: string,
    clock: Pick<Clock, "monotonic">,
    pausedMs: number,
  ) {
    this.#clock = clock;
    this.#pausedUntil = pausedMs > 0 ? clock.monotonic() + pausedMs : Number.NEGATIVE_INFINITY;
  }

  /** Returns the wait in ms before a message of a format may start; 0 if it may start now. */
  waitMs(format: WebhookFormat): number {
    const now = this.#clock.monotonic();
    const waits = FORMATS[format].pace.map((limit) => this.#freeAt(limit) - now);
    const isCareful = isForPeople(format) || now - this.#pausedUntil < CAREFUL_MS;
    if (isCareful && this.#underWay > 0) {
      waits.push((this.#starts.at(-1) ?? now) + PATIENCE_MS - now);
    }
    return Math.max(0, this.#pausedUntil - now, ...waits);
  }

  /** Counts a message of a format that starts. */
  begin(format: WebhookFormat): Slot {
    const startedAt = this.#clock.monotonic();
    this.#underWay += 1;
    this.#starts.push(startedAt);
    if (this.#starts.length > STARTS_MAX) this.#starts.shift();
    for (const { limit, everyMs } of burstsOf(format)) {
      const unusedAt = Math.max(startedAt, this.#unusedAt.get(limit) ?? startedAt);
      this.#unusedAt.set(limit, unusedAt + everyMs);
    }
    return { destination: this, format, startedAt };
  }

  /**
   * Counts the end of an attempt, whose request and answer took `latencyMs` together. One without a request
   * (undefined) does not count as started.
   */
  end({ format, startedAt }: Slot, latencyMs: number | undefined): void {
    this.#underWay -= 1;
    const index = this.#starts.lastIndexOf(startedAt);
    if (latencyMs !== undefined) {
      // The request can be much later than the start, such as the first one of a process.
      const sentAt = Math.max(startedAt, this.#clock.monotonic() - latencyMs);
      if (index !== -1) this.#starts[index] = sentAt;
      return;
    }
    if (index !== -1) this.#starts.splice(index, 1);
    for (const { limit, everyMs } of burstsOf(format)) {
      this.#unusedAt.set(limit, (this.#unusedAt.get(limit) ?? startedAt) - everyMs);
    }
  }

  /** Ends the doubling of pauses and the series of refusals. */
  succeed(): void {
    this.#backoff.reset();
    this.#refusingSince = undefined;
  }

  /** Time in ms for which this process has seen nothing but refusals, with breaks of at most an hour; 0 without any. */
  get refusingMs(): number {
    return this.#refusingSince === undefined ? 0 : this.#refusedAt - this.#refusingSince;
  }

  /** Begins or prolongs a pause for a refusal, by the time that it names. Returns its rest in whole ms. */
  refuse(namedMs: number | undefined): number {
    const now = this.#clock.monotonic();
    if (now - this.#refusedAt > BREAK_MS) this.#refusingSince = undefined;
    this.#refusingSince ??= now;
    this.#refusedAt = now;
    const pauseMs = namedMs ?? this.#backoff.nextWaitMs(now);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    return Math.ceil(this.#pausedUntil - now);
  }

  #freeAt(limit: Limit): number {
    if ("burst" in limit) {
      const unusedAt = this.#unusedAt.get(limit) ?? Number.NEGATIVE_INFINITY;
      return unusedAt - (limit.burst - 1) * (limit.everyMs + MARGIN_MS);
    }
    const first = this.#starts.at(-limit.count);
    return first === undefined ? Number.NEGATIVE_INFINITY : first + limit.inMs + MARGIN_MS;
  }
}

/** Lists the limits of bursts of a format, with the intervals that are kept after a burst. */
function burstsOf(format: WebhookFormat): { limit: Limit; everyMs: number }[] {
  return FORMATS[format].pace.flatMap((limit) =>
    "burst" in limit ? [{ limit, everyMs: limit.everyMs + MARGIN_MS }] : [],
  );
}
