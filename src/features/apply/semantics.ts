import type { FieldError } from "../../errors";
import { toRef } from "../../kernel/text";
import { validateDeclaredMonitor } from "../monitors";
import { validatePageInput, type PageInput } from "../pages";
import { validateDeclaredWebhook } from "../webhooks";
import type { ApplyFile, FilePage } from "./model";
import { componentsIn, monitorsIn, type Placed, placed } from "./placed";

/** Object identified by a ref. Only webhooks have no name. */
export interface Named {
  ref?: string;
  name?: string;
  /** Slug, only of pages. */
  slug?: string;
  description?: string | null;
  previous_refs?: string[];
}

/**
 * Returns the ref of an object in a file: its own, or one made from its name or description, or
 * from the slug of a page.
 */
export function refOf({ ref, name, description, slug = "" }: Named): string {
  return ref ?? (toRef(name ?? description ?? "") || slug);
}

/** Returns the fields of the page itself. */
export function pageFields(page: FilePage): PageInput {
  const { groups: _g, components: _c, previous_refs: _r, previous_slugs: _s, ...fields } = page;
  return fields;
}

/**
 * Returns errors that the schema cannot express: reserved slugs, unknown time zones, bad URLs,
 * names without a ref, duplicates.
 */
export function validateSemantics(content: ApplyFile): FieldError[] {
  const pages = placed(content.pages, "#/pages");
  const monitors = monitorsIn(content);
  const webhooks = placed(content.webhooks, "#/webhooks");
  return [
    ...pages.flatMap(validatePage),
    ...validateRefs(pages),
    ...validateRefs(monitors),
    ...monitors.flatMap(({ item, at }) => below(at, validateDeclaredMonitor(item))),
    ...validateRefs(webhooks),
    ...webhooks.flatMap(({ item, at }) => below(at, validateDeclaredWebhook(item))),
    ...validateUnique(pages, ({ slug }) => slug, "slug"),
    ...pages
      .filter(({ item }) => item.default === true)
      .slice(1)
      .map(({ at }) => ({
        pointer: `${at}/default`,
        detail: "is already true for an earlier page",
      })),
  ];
}

function validatePage({ item: page, at }: Placed<FilePage>): FieldError[] {
  return [
    ...below(at, validatePageInput(pageFields(page))),
    ...validateRefs(placed(page.groups, `${at}/groups`)),
    ...validateRefs(componentsIn({ item: page, at })),
  ];
}

/** Returns the errors of a part with pointers from the root of the file. */
function below(at: string, errors: readonly FieldError[]): FieldError[] {
  return errors.map(({ pointer, detail }) => ({ pointer: at + pointer.slice(1), detail }));
}

function validateRefs<Item extends Named>(items: readonly Placed<Item>[]): FieldError[] {
  const nameless = items
    .filter(({ item }) => refOf(item) === "")
    .map(({ item, at }) =>
      item.name === undefined
        ? { pointer: at, detail: "must have a ref, or a description to make one from" }
        : {
            pointer: `${at}/ref`,
            detail: "is required, such as api, since none can be made from the name",
          },
    );
  return [...nameless, ...validateUnique(items, refOf, "ref"), ...validateRenames(items)];
}

/** Returns errors of earlier refs that another object in the file has. */
function validateRenames(items: readonly Placed<Named>[]): FieldError[] {
  const present = new Set(items.map(({ item }) => refOf(item)));
  return items.flatMap(({ item, at }) =>
    (item.previous_refs ?? [])
      .filter((ref) => ref !== refOf(item) && present.has(ref))
      .map((ref) => ({
        pointer: `${at}/previous_refs`,
        detail: `names ${ref}, which is the ref of another object in the file`,
      })),
  );
}

function validateUnique<Item>(
  items: readonly Placed<Item>[],
  nameIn: (item: Item) => string,
  what: string,
): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap(({ item, at }) => {
    const name = nameIn(item);
    if (name === "" || !seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ pointer: at, detail: `has the same ${what} as an earlier one: ${name}` }];
  });
}
