import { IMMUTABLE } from "../http/cdn";
import { PUBLIC_ASSETS } from "../public/asset-routes";
import { ROOT_FILE_CACHE, ROOT_FILES } from "../public/root-files";
import { createAssets } from "../ui/assets";
import { fixed, type MirrorDocument } from "./documents";

/** Returns the files that the copies of all pages name. */
export async function makeSharedDocuments(): Promise<MirrorDocument[]> {
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
