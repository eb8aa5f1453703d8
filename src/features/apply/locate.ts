import { type Document, isMap, isNode, isScalar } from "yaml";

/** Position in a file: keys and indexes from its root. */
export type Path = readonly (string | number)[];

/** Returns the path of a JSON pointer such as `#/pages/0/slug`. */
export function pathOf(pointer: string): Path {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Returns a path in readable form, such as `pages[0].slug`; empty for the root. */
export function nameOf(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

/**
 * Returns the offset of a part: of its key if it has one, or of the part around it if it is
 * missing.
 */
export function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = document.getIn(path.slice(0, length - 1), true);
    const step = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair && isNode(pair.key)) return pair.key.range?.[0] ?? 0;
    }
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node)) return node.range?.[0] ?? 0;
  }
  return document.contents?.range?.[0] ?? 0;
}
