import type { ImportChange } from "../../base/import-report";
import { oneLine } from "../../base/text";

/** Collects what is different here while an object is read. */
export class Notes {
  readonly changes: ImportChange[] = [];
  readonly #reasons: string[] = [];

  /** Notes a difference. `from` and `to` are shown, so they must not be secrets. */
  change(field: string, from: unknown, to: unknown, reason: string): void {
    const shown = (value: unknown) => (typeof value === "string" ? oneLine(value) : value);
    this.changes.push({ field, from: shown(from), to: shown(to), reason });
  }

  /** Notes a secret, or a long text, that is not moved. */
  drop(field: string, reason: string): void {
    this.change(field, "set", "none", reason);
  }

  /** Notes a reason, in one sentence or more, for which it is switched off until something is done. */
  disable(reason: string): void {
    this.#reasons.push(oneLine(reason));
  }

  /** Returns a number within bounds, and notes the difference. */
  clamped(field: string, value: number, least: number, most: number, unit: string): number {
    const clamped = Math.min(Math.max(value, least), most);
    if (clamped !== value) {
      const bounds = `${least.toLocaleString("en")} to ${most.toLocaleString("en")}`;
      this.change(field, value, clamped, `It can be ${bounds} ${unit} here.`);
    }
    return clamped;
  }

  get disabled(): string | undefined {
    return this.#reasons.length > 0 ? this.#reasons.join(" ") : undefined;
  }
}
