import type { ImportChange } from "../../base/import-report";

/** Differences and reasons that reading one object found. */
export class Notes {
  readonly changes: ImportChange[] = [];
  readonly #reasons: string[] = [];

  change(field: string, from: unknown, to: unknown, reason: string): void {
    this.changes.push({ field, from, to, reason });
  }

  /** Switches the object off, for a reason in one sentence. */
  disable(reason: string): void {
    this.#reasons.push(reason);
  }

  /** Reasons for which the object is switched off; undefined without one. */
  get disabled(): string | undefined {
    if (this.#reasons.length === 0) return undefined;
    return `${this.#reasons.join(" ")} Change that here, and resume it.`;
  }

  /** Returns a number within limits, and notes a difference. */
  limited(field: string, value: number, { min, max }: { min: number; max: number }): number {
    const limited = Math.min(Math.max(Math.round(value), min), max);
    if (limited !== value) {
      const reason = `It can be a whole number from ${min.toLocaleString("en")} to ${max.toLocaleString("en")} here.`;
      this.change(field, value, limited, reason);
    }
    return limited;
  }
}

/** Headers whose values are no secrets. */
const OPEN_HEADERS = /^(accept.*|cache-control|content-type|host|origin|referer|user-agent)$/i;

/** Texts that no report may show. */
export class Secrets {
  /** Secrets by their first characters, since a configuration may have thousands. */
  readonly #texts = new Map<string, Set<string>>();

  /** Remembers a secret, unless it is so short that it stands in other words. */
  add(text: string | null | undefined): void {
    const trimmed = text?.trim() ?? "";
    if (trimmed.length < SHORTEST) return;
    const start = trimmed.slice(0, SHORTEST);
    const known = this.#texts.get(start);
    if (known) known.add(trimmed);
    else this.#texts.set(start, new Set([trimmed]));
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(headers)) {
      if (OPEN_HEADERS.test(name)) continue;
      this.add(value);
      // Behind the scheme, such as Bearer.
      this.add(/^\S+\s+(.*)$/s.exec(value)?.[1]);
    }
  }

  /** Replaces all secrets in a text. */
  hide(text: string): string {
    if (this.#texts.size === 0) return text;
    let hidden = "";
    let shownUntil = 0;
    for (let at = 0; at + SHORTEST <= text.length; at += 1) {
      const length = this.#lengthAt(text, at);
      if (length === 0) continue;
      hidden += `${text.slice(shownUntil, at)}[redacted]`;
      shownUntil = at + length;
      at = shownUntil - 1;
    }
    return hidden + text.slice(shownUntil);
  }

  /** Returns the length of the longest secret, or of the start of one that was cut, at a place of a text; 0 without one. */
  #lengthAt(text: string, at: number): number {
    let longest = 0;
    for (const secret of this.#texts.get(text.slice(at, at + SHORTEST)) ?? []) {
      const end = text.indexOf(CUT, at);
      if (secret.length > longest && text.startsWith(secret, at)) longest = secret.length;
      else if (end - at > longest && secret.startsWith(text.slice(at, end))) longest = end - at;
    }
    return longest;
  }
}

const SHORTEST = 6;

/** Sign at which a text on one line was cut. */
const CUT = "…";
