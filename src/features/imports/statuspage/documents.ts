import { OperatorError } from "../../../db/errors";
import { parseModestJson } from "../read-text";
import { type CutList, isObject, LISTED_MAX, type SourceDocuments } from "./document";

/** Parses a JSON text. Throws an OperatorError, with the name of the document, for one that cannot be read. */
export function parseDocument(text: string, name: string): unknown {
  const document = parseModestJson(text, name);
  if (document === undefined) throw new OperatorError(`${name} is no JSON.`);
  return document;
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
