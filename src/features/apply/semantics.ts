import type { FieldError } from "../../base/errors";
import { toRef } from "../../base/text";
import { validateDeclaredMonitor } from "../monitors/declared";
import { validatePageInput } from "../pages/pages";
import type { PageInput } from "../pages/wire";
import { validateDeclaredWebhook } from "../webhooks/declared";
import type { ApplyFile, FilePage } from "./model";
import { componentsIn, monitorsIn, type WithPointer, withPointers } from "./pointers";

/** An object of the file that is identified by a ref: a page, group, component, monitor, webhook, template or schedule. */
export interface Named {
  ref?: string;
  /** Undefined only for webhooks. */
  name?: string;
  /** Slug, only of pages. */
  slug?: string;
  description?: string | null;
  previous_refs?: string[];
}

/**
 * Returns the ref of an object in a file: the one it states, else one derived from its name, else
 * from its description (webhooks). A page whose name gives none uses its slug. Empty if none of them
 * gives a ref.
 */
export function refOf({ ref, name, description, slug = "" }: Named): string {
  return ref ?? (toRef(name ?? description ?? "") || slug);
}

/** Returns the fields of a page that the page service takes: without its parts and earlier names. */
export function pageFields(page: FilePage): PageInput {
  const { groups: _g, components: _c, previous_refs: _r, previous_slugs: _s, ...fields } = page;
  return fields;
}

/**
 * Returns errors that the schema cannot express: reserved slugs, unknown time zones, bad URLs,
 * names without a ref, duplicates.
 */
export function validateSemantics(content: ApplyFile): FieldError[] {
  const pages = withPointers(content.pages, "#/pages");
  const monitors = monitorsIn(content);
  const webhooks = withPointers(content.webhooks, "#/webhooks");
  return [
    ...pages.flatMap(validatePage),
    ...validateRefs(pages),
    ...validateRefs(monitors),
    ...monitors.flatMap(({ item, pointer }) => withinItem(pointer, validateDeclaredMonitor(item))),
    ...validateRefs(webhooks),
    ...webhooks.flatMap(({ item, pointer }) => withinItem(pointer, validateDeclaredWebhook(item))),
    ...validateRefs(withPointers(content.incident_templates, "#/incident_templates")),
    ...validateRefs(withPointers(content.maintenance_schedules, "#/maintenance_schedules")),
    ...validateUnique(pages, ({ slug }) => slug, "slug"),
    ...pages
      .filter(({ item }) => item.default === true)
      .slice(1)
      .map(({ pointer }) => ({
        pointer: `${pointer}/default`,
        detail: "is already true for an earlier page",
      })),
  ];
}

function validatePage({ item: page, pointer }: WithPointer<FilePage>): FieldError[] {
  return [
    ...withinItem(pointer, validatePageInput(pageFields(page))),
    ...validateRefs(withPointers(page.groups, `${pointer}/groups`)),
    ...validateRefs(componentsIn({ item: page, pointer })),
  ];
}

/** Makes the pointers of an item's errors, such as `#/name`, start at the root of the file. */
function withinItem(itemPointer: string, errors: readonly FieldError[]): FieldError[] {
  return errors.map(({ pointer, detail }) => ({
    pointer: itemPointer + pointer.slice("#".length),
    detail,
  }));
}

/** Returns errors of items without a ref, of refs that occur twice, and of wrong earlier refs. */
function validateRefs<Item extends Named>(items: readonly WithPointer<Item>[]): FieldError[] {
  const withoutRef = items
    .filter(({ item }) => refOf(item) === "")
    .map(({ item, pointer }) =>
      item.name === undefined
        ? { pointer, detail: "must have a ref, or a description to make one from" }
        : {
            pointer: `${pointer}/ref`,
            detail: "is required, such as api, since none can be made from the name",
          },
    );
  return [...withoutRef, ...validateUnique(items, refOf, "ref"), ...validateEarlierRefs(items)];
}

/** Returns errors of items whose `previous_refs` name the ref of another item. */
function validateEarlierRefs(items: readonly WithPointer<Named>[]): FieldError[] {
  const refs = new Set(items.map(({ item }) => refOf(item)));
  return items.flatMap(({ item, pointer }) =>
    (item.previous_refs ?? [])
      .filter((ref) => ref !== refOf(item) && refs.has(ref))
      .map((ref) => ({
        pointer: `${pointer}/previous_refs`,
        detail: `names ${ref}, which is the ref of another object in the file`,
      })),
  );
}

/** Returns an error for each item whose value an earlier item has. `noun` names the value. */
function validateUnique<Item>(
  items: readonly WithPointer<Item>[],
  valueOf: (item: Item) => string,
  noun: string,
): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap(({ item, pointer }) => {
    const value = valueOf(item);
    // Missing refs have an error of their own.
    if (value === "" || !seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [{ pointer, detail: `has the same ${noun} as an earlier one: ${value}` }];
  });
}
