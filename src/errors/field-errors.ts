import { type FieldError, invalidFields, pointer } from "./problem";

/** Maximum number of invalid fields that one response lists. */
const LISTED_MAX = 100;

/** Returns true if a top-level field of a body, or a part of it, is invalid. */
export type IsInvalidField = (field: string) => boolean;

/**
 * Collects invalid fields, so that one response reports all. Lists the first ones and counts the
 * rest.
 */
export class FieldErrors {
  readonly #listed: FieldError[] = [];
  readonly #limit: number;
  #unlisted = 0;

  constructor(limit = LISTED_MAX) {
    this.#limit = limit;
  }

  /** Listed errors. */
  get all(): readonly FieldError[] {
    return this.#listed;
  }

  /** Number of errors that are not listed. */
  get unlisted(): number {
    return this.#unlisted;
  }

  get isEmpty(): boolean {
    return this.#listed.length === 0;
  }

  /** True if no more errors are listed. */
  get isFull(): boolean {
    return this.#listed.length >= this.#limit;
  }

  add(steps: readonly (string | number)[], detail: string): void {
    if (this.isFull) this.#unlisted += 1;
    else this.#listed.push({ pointer: pointer(...steps), detail });
  }

  /** Adds a number of errors that are only counted. */
  addUnlisted(count: number): void {
    this.#unlisted += count;
  }

  /**
   * Adds the errors of a part that was validated separately. Their pointers are relative to the
   * part, at `steps`.
   */
  addAll(steps: readonly (string | number)[], part: readonly FieldError[] | FieldErrors): void {
    const fields = part instanceof FieldErrors ? part.all : part;
    const listed = fields.slice(0, this.#limit - this.#listed.length);
    const at = pointer(...steps);
    for (const field of listed) {
      this.#listed.push({ ...field, pointer: at + field.pointer.slice(1) });
    }
    this.#unlisted += fields.length - listed.length;
    if (part instanceof FieldErrors) this.#unlisted += part.unlisted;
  }

  /** Adds the errors of fields that have none yet. Each field keeps its first error. */
  addMissing(further: FieldErrors): void {
    const listed = new Set(this.#listed.map((field) => field.pointer));
    this.addAll(
      [],
      further.all.filter((field) => !listed.has(field.pointer)),
    );
    this.#unlisted += further.unlisted;
  }

  /** Throws `validation_failed` if anything was added. */
  throwIfAny(): void {
    if (!this.isEmpty) throw invalidFields(this.#listed, this.#unlisted);
  }
}
