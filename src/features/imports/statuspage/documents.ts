import { OperatorError } from "../../../db";
import { type CutList, isObject, LISTED_MAX, type SourceDocuments } from "./document";

/** Deepest nesting that is read. Documents of Statuspage have 6 levels. */
const DEPTH_MAX = 100;

/**
 * Parses a JSON text. Throws an OperatorError, with the name of the document, for a text that is no JSON or is nested
 * too deep.
 */
export function parseDocument(text: string, name: string): unknown {
  if (isTooDeep(text))
    throw new OperatorError(`${name} is nested deeper than ${DEPTH_MAX} levels.`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new OperatorError(`${name} is no JSON.`);
  }
}

/** Returns true if brackets outside texts are nested too deep. A text that is no JSON may have any result. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (isInText) {
      if (char === "\\") at += 1;
      else if (char === '"') isInText = false;
    } else if (char === '"') isInText = true;
    else if (char === "{" || char === "[") {
      depth += 1;
      if (depth > DEPTH_MAX) return true;
    } else if (char === "}" || char === "]") depth -= 1;
  }
  return false;
}

/** Collects the documents of one page. An object that several documents have is taken from the last one. */
export class Documents {
  #page: unknown;
  readonly #components = new Map<unknown, unknown>();
  readonly #incidents = new Map<unknown, unknown>();
  readonly #cut = new Set<CutList>();

  /**
   * Adds a document. `name` is its kind, which only a bare list needs: `components`, `component-groups`, `incidents`
   * or `scheduled-maintenances`. Returns false for anything else.
   */
  add(document: unknown, name = ""): boolean {
    if (Array.isArray(document)) return this.#addList(document, name.replaceAll("_", "-"));
    if (!isObject(document)) return false;
    const { page, summary, components, incidents, scheduled_maintenances: maintenances } = document;
    if (isObject(page)) {
      this.#page = page;
      this.#addAll(this.#components, components);
      this.#addListed("incidents", incidents);
      this.#addListed("maintenances", maintenances);
      return true;
    }
    if (summary !== undefined) {
      // The complete lists follow the summary.
      return [
        this.add(summary),
        components === undefined || this.add(components, "components"),
        incidents === undefined || this.add(incidents, "incidents"),
        maintenances === undefined || this.add(maintenances, "scheduled-maintenances"),
      ].every(Boolean);
    }
    if (name !== "page") return false;
    this.#page = document;
    return true;
  }

  #addList(rows: readonly unknown[], name: string): boolean {
    switch (name) {
      case "components":
        this.#addAll(this.#components, rows);
        return true;
      case "component-groups":
        this.#addAll(
          this.#components,
          rows.map((row) => (isObject(row) ? { ...row, group: true } : row)),
        );
        return true;
      case "incidents":
      case "scheduled-maintenances":
        this.#addAll(this.#incidents, rows);
        return true;
      default:
        return false;
    }
  }

  /** Adds a list of a public document, and notes if it may be cut. */
  #addListed(name: CutList, rows: unknown): void {
    if (Array.isArray(rows) && rows.length >= LISTED_MAX) this.#cut.add(name);
    this.#addAll(this.#incidents, rows);
  }

  #addAll(to: Map<unknown, unknown>, rows: unknown): void {
    if (!Array.isArray(rows)) return;
    for (const row of rows as unknown[]) {
      // What has no id is reported each.
      const id = isObject(row) && typeof row["id"] === "string" ? row["id"] : Symbol("no id");
      to.set(id, row);
    }
  }

  /** Returns everything that was added. */
  all(): SourceDocuments {
    return {
      page: this.#page,
      components: [...this.#components.values()],
      incidents: [...this.#incidents.values()],
      cut: this.#cut,
    };
  }
}
