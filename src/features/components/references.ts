import { Type } from "@sinclair/typebox";
import { invalidParameter } from "../../base/errors";
import { Text } from "../../base/schema";
import type { ComponentStatus } from "../../base/status";
import type { FieldErrors } from "../../base/validation";
import type { Reader } from "../../db/statements";
import { findPageBySlug } from "../pages/store";
import {
  type ComponentOnPage,
  type ComponentRow,
  findComponent,
  findComponentByRef,
  findComponents,
} from "./store";

/**
 * Longest reference that is accepted, in characters. The longest one that can name something has 127; a
 * longer text within the limit is refused as an unknown object, not for its length.
 */
export const REFERENCE_MAX = 200;

/** Field of a body that names a component. */
export const ComponentReference = Text({
  minLength: 1,
  maxLength: REFERENCE_MAX,
  description: "A component's id, or its page's slug and its `ref`, such as `acme:checkout-api`.",
});

/**
 * Returns the id of the component that a reference names. A reference is an id, or `<page slug>:<ref>` for a
 * component, the `ref` for a monitor or webhook. An earlier slug of the page is accepted. An unknown
 * reference is returned unchanged, so that looking it up fails as for an unknown id.
 */
export function resolveComponentId(reader: Reader, reference: string): string {
  return resolveComponentIds(reader, [reference]).get(reference) ?? reference;
}

/** Returns the ids that `resolveComponentId` returns for several references, by reference. */
function resolveComponentIds(
  reader: Reader,
  references: readonly string[],
): ReadonlyMap<string, string> {
  const pageIds = new Map<string, string | undefined>();
  const pageIdOf = (slug: string) => {
    if (!pageIds.has(slug)) pageIds.set(slug, findPageBySlug(reader, { slug })?.id);
    return pageIds.get(slug);
  };
  return new Map(
    references.map((reference) => {
      const colon = reference.indexOf(":");
      // No id has a colon.
      const pageId = colon < 0 ? undefined : pageIdOf(reference.slice(0, colon));
      const ref = reference.slice(colon + 1);
      const componentRow =
        pageId === undefined ? undefined : findComponentByRef(reader, { pageId, ref });
      return [reference, componentRow?.id ?? reference];
    }),
  );
}

/** A component that a reference in a body names. */
export interface ResolvedComponent {
  reference: string;
  id: string;
  /** Undefined only for an unknown component that the caller allows. */
  row: ComponentOnPage | undefined;
}

/**
 * Returns the components that references name, in their order. Adds an error for each reference that
 * `problemOf` refuses, by default an unknown one, and for each that names an earlier one's component again.
 * `pathOf` returns the path of a reference in the body; undefined skips it (see `pathInList`).
 */
export function resolveComponents(
  reader: Reader,
  references: readonly string[],
  errors: FieldErrors,
  pathOf: (reference: string, index: number) => readonly (string | number)[] | undefined,
  problemOf: (row: ComponentRow | undefined, id: string) => string | undefined = existenceProblem,
): ResolvedComponent[] {
  const ids = resolveComponentIds(reader, references);
  const rows = findComponents(reader, [...ids.values()]);
  const resolved = new Map<string, ResolvedComponent>();
  for (const [index, reference] of references.entries()) {
    const path = pathOf(reference, index);
    if (path === undefined) continue;
    const id = ids.get(reference) ?? reference;
    const row = rows.get(id);
    const problem =
      problemOf(row, id) ?? (resolved.has(id) ? "names the same component twice" : undefined);
    if (problem === undefined) resolved.set(id, { reference, id, row });
    else errors.add(path, problem);
  }
  return [...resolved.values()];
}

/**
 * Returns the components that the field `components` of a body names. Adds an error for each reference to
 * an unknown component, to one of another page, or to one that an earlier reference names. Every page's
 * components are allowed if `pageId` is undefined.
 */
export function resolveNamedComponents(
  reader: Reader,
  errors: FieldErrors,
  pageId: string | undefined,
  statuses: Readonly<Record<string, ComponentStatus>> = {},
): ResolvedComponent[] {
  return resolveComponents(
    reader,
    Object.keys(statuses),
    errors,
    (reference) => ["components", reference],
    (row) => {
      const isElsewhere = row && pageId !== undefined && row.pageId !== pageId;
      return isElsewhere ? "is a component of another page" : existenceProblem(row);
    },
  );
}

/**
 * Returns the function that gives the path of each reference in a list. It skips empty ones, which stand for entries that break the
 * schema and have their error already.
 */
export function pathInList(field: string) {
  return (reference: string, index: number) => (reference === "" ? undefined : [field, index]);
}

/** Returns the error of a reference to an unknown component. */
function existenceProblem(row: ComponentRow | undefined): string | undefined {
  return row ? undefined : "is not a component";
}

/** Query parameter that filters by a component. */
export const ComponentFilter = {
  component: Type.Optional(
    Text({
      maxLength: REFERENCE_MAX,
      description: "A component's id, or `<page slug>:<ref>`. Default: all.",
    }),
  ),
};

/**
 * Returns the id of the component that the query parameter `component` names; undefined without the
 * parameter. Throws `invalid_request` for an unknown component.
 */
export function readComponentFilter(
  reader: Reader,
  { component }: { component?: string | undefined },
): string | undefined {
  if (component === undefined) return undefined;
  const id = resolveComponentId(reader, component);
  if (!findComponent(reader, { id })) {
    throw invalidParameter(
      "component",
      "must be the id of a component, or its page slug and ref, such as acme:api",
    );
  }
  return id;
}
