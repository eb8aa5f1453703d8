import { numberedRef } from "../../base/ids";
import { toRef } from "../../base/text";

/** Gives free refs for names. Remembers the last number of each, since thousands of objects may have one name. */
export class RefNames {
  readonly #isTaken: (ref: string) => boolean;
  readonly #given = new Set<string>();
  readonly #next = new Map<string, number>();

  constructor(isTaken: (ref: string) => boolean) {
    this.#isTaken = isTaken;
  }

  /** Returns a ref that is free and that no earlier call returned. */
  next(name: string, fallback: string): string {
    const desired = toRef(name) || fallback;
    for (let count = this.#next.get(desired) ?? 1; ; count++) {
      const ref = numberedRef(desired, count);
      if (this.#given.has(ref) || this.#isTaken(ref)) continue;
      this.#given.add(ref);
      this.#next.set(desired, count + 1);
      return ref;
    }
  }
}
