import { invalidFields } from "../base/errors";
import { numberedRef } from "../base/ids";
import type { ForeignObject, ImportChange } from "../base/import-report";
import { createComponent } from "../features/components/components";
import { createPage, validatePageInput } from "../features/pages/pages";
import { findPage, findPageBySlug, type PageRow } from "../features/pages/store";
import type { PagePlaces } from "./components";
import { pageMark } from "./here";
import type { ImportRun } from "./run";

const NAME = "Internal";
/** No other object of a source has this type. */
export const INTERNAL_TYPE = "internal page";
const REASON = "Monitors that are on no page get a component on this private page.";

/** Private page on which monitors that are on no page get components. It is made with the first of them. */
export class InternalPage {
  readonly #run: ImportRun;
  readonly #places: PagePlaces;
  #page: PageRow | null | undefined;

  /** Throws `validation_failed` for a slug that no page can have. */
  constructor(run: ImportRun, places: PagePlaces) {
    this.#run = run;
    this.#places = places;
    const slug = run.options.internalPage;
    const errors = slug === null ? [] : validatePageInput({ slug, name: NAME });
    if (errors.length > 0) throw invalidFields(errors);
  }

  /** Adds a component. Returns its id; undefined without such a page, by option, or deleted or published here. */
  addComponent(name: string): string | undefined {
    const slug = this.#run.options.internalPage;
    if (slug === null) return undefined;
    if (this.#page === undefined) this.#page = this.#findOrCreate(slug) ?? null;
    if (this.#page === null) return undefined;
    const { ctx, tx, actor } = this.#run;
    const { ref, position } = this.#places.ofComponent(this.#page, name);
    const placement = { position, managedBy: "import", groupId: null } as const;
    return createComponent(ctx, tx, this.#page, { name, ref }, placement, actor).id;
  }

  /** Returns the page of an earlier import, a private page of that name, or a new one. */
  #findOrCreate(slug: string): PageRow | undefined {
    const { tx } = this.#run;
    const foreign = { type: INTERNAL_TYPE, id: slug, name: NAME };
    const noted = this.#run.findRef(foreign);
    if (noted) {
      const page = findPage(tx, { id: noted.id });
      if (page?.visibility === "private") return page;
      const reason = `It was ${page ? "published" : "deleted"} here, so new monitors have no component.`;
      this.#run.report("kept", foreign, { reason });
      return undefined;
    }
    const holder = findPageBySlug(tx, { slug });
    return holder?.visibility === "private" ? holder : this.#create(foreign, slug);
  }

  #create(foreign: ForeignObject, desired: string): PageRow {
    const { ctx, tx, actor } = this.#run;
    let count = 1;
    while (findPageBySlug(tx, { slug: numberedRef(desired, count) })) count += 1;
    const slug = numberedRef(desired, count);
    const input = { slug, name: NAME, visibility: "private" } as const;
    // The first public page becomes the default.
    const metadata = { managedBy: "import", canBeDefault: false } as const;
    const page = createPage(ctx, tx, input, actor, metadata);
    const { id, ref, name } = page;
    // The source has no settings of it.
    const settingsHash = this.#run.macOf(null);
    const mark = pageMark(page);
    this.#run.note(foreign, { kind: "page", id, mark, settingsHash, pausedBy: null });
    const changes: ImportChange[] =
      count === 1 ? [] : [{ field: "slug", from: desired, to: slug, reason: "The slug is taken." }];
    this.#run.report(count === 1 ? "created" : "changed", foreign, {
      target: this.#run.newTarget({ kind: "page", id, ref, name }),
      changes,
      reason: REASON,
    });
    return page;
  }
}
