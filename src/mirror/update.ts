import { setImmediate } from "node:timers/promises";
import { Problem } from "../base/errors";
import { WHOLE_TURN } from "../base/in-slices";
import type { Ctx } from "../context";
import type { ReadRecords } from "../features/incidents/records";
import { findDefaultPage, listAllPages } from "../features/pages/store";
import type { Snapshots } from "../features/status/snapshots";
import { IMMUTABLE } from "../http/cdn";
import { ObjectStoreError } from "../object-store/object-store";
import { PUBLIC_ASSETS } from "../public/asset-routes";
import { ROOT_FILE_CACHE, ROOT_FILES } from "../public/root-files";
import { createAssets } from "../ui/assets";
import { createPageDocuments, fixed, type MirrorDocument } from "./documents";
import { type MirrorFiles, SHARED } from "./files";

export interface UpdateDependencies {
  ctx: Ctx;
  snapshots: Snapshots;
  readIncidents: ReadRecords;
}

/** Brings the files of a mirror up to date. */
interface Updates {
  /** Returns the paths of files whose page is deleted, private, or has another slug by now. */
  listGone(): string[];
  /**
   * Writes the changed documents of these pages, by id, or of all, and removes those that they no longer have.
   * Resolves to false if `isCancelled` ended it, or if a page changed meanwhile in a way that needs a new update.
   */
  write(pageIds: ReadonlySet<string> | "all", isCancelled: () => boolean): Promise<boolean>;
}

export function createUpdates(deps: UpdateDependencies, files: MirrorFiles): Updates {
  const { snapshots } = deps;
  const { clock, db } = deps.ctx;
  const documentsOf = createPageDocuments(deps);
  let rootOwner: string | undefined;

  /** Returns the slugs of public pages by id. */
  function readSlugs(): Map<string, string> {
    const pages = listAllPages(db, {}).filter(({ visibility }) => visibility === "public");
    return new Map(pages.map(({ id, slug }) => [id, slug]));
  }

  /** Returns the id of the default page, unless it is private. */
  function readDefault(): string | undefined {
    const page = findDefaultPage(db, {});
    return page?.visibility === "public" ? page.id : undefined;
  }

  /** Writes the documents of one page. Returns their paths, or undefined if the update must end. */
  async function writePage(
    id: string,
    slug: string,
    isCancelled: () => boolean,
  ): Promise<Set<string> | undefined> {
    const paths = new Set<string>();
    let work = 0;
    try {
      await snapshots.prepare(slug, clock.now());
      for (const step of documentsOf(slug, { isDefault: id === readDefault() })) {
        if (typeof step !== "number") {
          paths.add(step.path);
          await files.write(step, id, isCancelled);
          // Pages come after the pictures that they name.
          if (step.cacheControl === IMMUTABLE) await files.flush();
        }
        work += typeof step === "number" ? step : WHOLE_TURN;
        if (work >= WHOLE_TURN) {
          work = 0;
          await setImmediate();
        }
        if (isCancelled()) return undefined;
      }
      return paths;
    } catch (error) {
      // The page or an entry was deleted or made private since the last step.
      if (error instanceof Problem && error.code === "not_found") return undefined;
      throw error;
    }
  }

  return {
    listGone() {
      const slugs = readSlugs();
      const current = new Set(slugs.values());
      const hasDefault = readDefault() !== undefined;
      return Array.from(files.byPath)
        .filter(([path, { owner }]) => {
          const slug = slugInPath(path);
          if (owner === SHARED) return false;
          if (owner === undefined) {
            return slug === undefined ? !hasDefault : !current.has(slug);
          }
          return slug === undefined ? !slugs.has(owner) : slugs.get(owner) !== slug;
        })
        .map(([path]) => path);
    },

    async write(pageIds, isCancelled) {
      const current = new Set<string>();
      // The first update is one of all pages.
      for (const document of pageIds === "all" ? await makeSharedDocuments() : []) {
        current.add(document.path);
        await files.write(document, SHARED, isCancelled);
      }
      await files.flush();
      const slugs = readSlugs();
      const owner = readDefault();
      const chosen = pageIds === "all" ? new Set(slugs.keys()) : new Set(pageIds);
      if (owner !== rootOwner) {
        for (const id of [owner, rootOwner]) if (id !== undefined) chosen.add(id);
      }
      /** Pages that cannot be made, by id. */
      const failures = new Map<string, unknown>();
      for (const id of chosen) {
        const slug = slugs.get(id);
        if (slug === undefined) continue;
        try {
          const paths = await writePage(id, slug, isCancelled);
          if (!paths) return false;
          for (const path of paths) current.add(path);
        } catch (error) {
          // A page that cannot be made does not keep the others from being written.
          if (error instanceof ObjectStoreError) throw error;
          failures.set(id, error);
        }
      }
      await files.flush();
      const failedSlugs = new Set(Array.from(failures.keys(), (id) => slugs.get(id)));
      const stale = Array.from(files.byPath)
        .filter(([path, { owner: id = "" }]) => {
          if (current.has(path) || failures.has(id)) return false;
          if (id !== "") return pageIds === "all" || chosen.has(id);
          // A page that cannot be made may need files of an earlier process at the root, such as its script.
          const slug = slugInPath(path);
          const isNeeded = slug === undefined ? failures.size > 0 : failedSlugs.has(slug);
          return pageIds === "all" && !isNeeded;
        })
        .map(([path]) => path);
      await files.remove(stale);
      for (const error of failures.values()) throw error;
      rootOwner = owner;
      return true;
    },
  };
}

/** Returns the slug in the path of a document; undefined for documents at the root. */
function slugInPath(path: string): string | undefined {
  return /^status\/([^/]+)\//.exec(path)?.[1];
}

/** Returns the files that the copies of all pages name. */
async function makeSharedDocuments(): Promise<MirrorDocument[]> {
  const assets = createAssets(PUBLIC_ASSETS);
  const documents = ROOT_FILES.map(({ path, mediaType, read }) =>
    fixed(path.slice(1), read(), mediaType, ROOT_FILE_CACHE),
  );
  for (const { name, mediaType } of PUBLIC_ASSETS) {
    const path = await assets.pathOf(name);
    const asset = await assets.find(path.slice(path.lastIndexOf("/") + 1));
    if (!asset) throw new Error(`there is no asset ${name}`);
    documents.push(fixed(path.slice(1), asset.bytes, mediaType, IMMUTABLE));
  }
  return documents;
}
