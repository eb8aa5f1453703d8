import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { folderAddress, parseStoreAddress, type StoreAddress } from "../store-address";

/** Names of the options of the mirror. */
export type MirrorOptionName = "mirror" | "mirrorKeyId" | "mirrorSecret";

/** Parses the address of a bucket or of a folder, which may be a path. */
export function parseMirror(text: string): StoreAddress {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseStoreAddress(text);
  if (text === "") throw new Error("is empty");
  if (text.includes("\0") || resolve(text) === "/") throw new Error("must be the path of a folder");
  return folderAddress(text);
}

/** Returns the contradictions between options as sentences. */
export function contradictions(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: MirrorOptionName) => boolean,
  nameOf: (name: MirrorOptionName) => string,
): string[] {
  const mirror = values["mirror"] as StoreAddress | undefined;
  if (mirror === undefined && isGiven("mirror")) return [];
  const credentials = ["mirrorKeyId", "mirrorSecret"] as const;
  if (mirror?.kind === "s3") {
    return credentials
      .filter((name) => !isGiven(name))
      .map((name) => `${nameOf(name)} is required for a mirror in a bucket.`);
  }
  const problems = credentials
    .filter(isGiven)
    .map((name) => `${nameOf(name)} is only for a mirror in a bucket.`);
  const dataDir = values["dataDir"];
  if (mirror && typeof dataDir === "string" && isWithin(mirror.path, dataDir)) {
    problems.push(`${nameOf("mirror")} must not contain the data directory, which is private.`);
  }
  return problems;
}

/** Returns true if a path is that of a folder or of something in it, also through links. */
function isWithin(folder: string, path: string): boolean {
  const way = relative(withoutLinks(folder), withoutLinks(resolve(path)));
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

/** Returns an absolute path without the links in its existing part. */
function withoutLinks(path: string): string {
  for (let part = path; ; part = dirname(part)) {
    try {
      return join(realpathSync(part), relative(part, path));
    } catch {
      if (part === dirname(part)) return path;
    }
  }
}
