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
