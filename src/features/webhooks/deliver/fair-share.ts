/** Maximum number of concurrent attempts, to one endpoint and in all. */
export const MOST_FOR_ONE = 8;
export const MOST_IN_ALL = 256;

/**
 * Divides what may be under way among the endpoints. One half is divided evenly, and nobody else can use
 * a share of it; the other half is for whoever has more to send. So endpoints that hang take from the
 * others at most what is more than their share.
 */
export class FairShare {
  readonly #most: number;
  readonly #share: number;
  readonly #mostBeyond: number;
  #inAll = 0;
  /** Under way beyond the shares of their endpoints. */
  #beyond = 0;

  /** `underWay`: how many there are to each endpoint; `most`: how many there may be in all. */
  constructor(underWay: readonly number[], most: number = MOST_IN_ALL) {
    this.#most = most;
    const endpoints = Math.max(1, underWay.length);
    this.#share = Math.min(MOST_FOR_ONE, Math.max(1, Math.floor(most / 2 / endpoints)));
    this.#mostBeyond = most - this.#share * endpoints;
    for (const count of underWay) {
      this.#inAll += count;
      this.#beyond += Math.max(0, count - this.#share);
    }
  }

  /** Takes a place for one more to an endpoint that has so many under way; false if there is none. */
  take(underWay: number): boolean {
    if (underWay >= MOST_FOR_ONE || this.#inAll >= this.#most) return false;
    const isBeyond = underWay >= this.#share;
    if (isBeyond && this.#beyond >= this.#mostBeyond) return false;
    this.#inAll += 1;
    if (isBeyond) this.#beyond += 1;
    return true;
  }
}
