import type { Clock, Timer } from "../kernel/clock";

// A property of the request, so that the reader of the body finds it.
const INCOMING_BODY = Symbol("incoming body");
type Arriving = Request & { [INCOMING_BODY]?: IncomingBody };

/** A request body that is under way. */
export class IncomingBody {
  /** True if the answer is given before the whole body was read. */
  isUnread = false;
  readonly #clock: Clock;
  readonly #allowedMs: number;

  constructor(
    clock: Clock,
    /** Milliseconds that the whole body may take. */
    allowedMs: number,
    /** Gives back the room that was reserved; calling it again has no effect. */
    readonly release: () => void,
  ) {
    this.#clock = clock;
    this.#allowedMs = allowedMs;
  }

  /** Runs `expire` once the body has taken too long. Called when its reading begins. */
  startDeadline(expire: () => void): Timer {
    return this.#clock.after(this.#allowedMs, expire);
  }
}

export function setIncomingBody(request: Arriving, body: IncomingBody): void {
  request[INCOMING_BODY] = body;
}

/** Returns the body that the front door has let in; undefined for a request without one. */
export function incomingBodyOf(request: Arriving): IncomingBody | undefined {
  return request[INCOMING_BODY];
}
