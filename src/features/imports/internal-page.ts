import type { ForeignObject, ImportChange } from "../../domain/import-report";
import { numberedRef } from "../../domain/refs";
import { sha256 } from "../../kernel/hash";
import { createComponent, listComponentsOfPage, nextPosition } from "../components";
import { createPage, findPage, findPageBySlug, type PageRow } from "../pages";
import { RefNames } from "./ref-names";
import type { ImportRun } from "./run";

const NAME = "Internal";
/** No other object of a source has this type. */
const TYPE = "internal page";
const REASON = "Monitors that are on no page get a component on this private page.";
/** The source has no settings of it. */
const SETTINGS_HASH = sha256("");

/** Private page on which monitors that are on no page get components. It is made with the first of them. */
export class InternalPage {
  readonly #run: ImportRun;
  #components: { page: PageRow; refs: RefNames; position: number } | null | undefined;

  constructor(run: ImportRun) {
    this.#run = run;
  }

  /** Adds a component. Returns its id; undefined without such a page, by option, or deleted or published here. */
  addComponent(name: string): string | undefined {
    const slug = this.#run.options.internalPage;
    if (slug === null) return undefined;
    if (this.#components === undefined) this.#components = this.#open(slug);
    if (this.#components === null) return undefined;
    const { ctx, tx, actor } = this.#run;
    const { page, refs, position } = this.#components;
    this.#components.position += 1;
    const input = { name, ref: refs.next(name, "component") };
    const placement = { position, managedBy: "import", groupId: null } as const;
    return createComponent(ctx, tx, page, input, placement, actor).id;
  }

  #open(slug: string) {
    const page = this.#findOrCreate(slug);
    if (!page) return null;
    const components = listComponentsOfPage(this.#run.tx, { pageId: page.id });
    const taken = new Set(components.map(({ ref }) => ref));
    const refs = new RefNames((ref) => taken.has(ref));
    return { page, refs, position: nextPosition(components) };
  }

  /** Returns the page of an earlier import, a private page of that name, or a new one. */
  #findOrCreate(slug: string): PageRow | undefined {
    const { tx } = this.#run;
    const foreign = { type: TYPE, id: slug, name: NAME };
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
    const { id, version, ref, name } = page;
    const pausedBy = null;
    this.#run.note(foreign, { kind: "page", id, version, settingsHash: SETTINGS_HASH, pausedBy });
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
