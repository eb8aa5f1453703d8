import { sha256Hex } from "../kernel/hash";
import { IMMUTABLE, Representation } from "../http";

/** A file that pages refer to: on disk, or inside the executable. */
export interface AssetSource {
  /** Its name without the hash, such as `docs.css`. */
  name: string;
  mediaType: string;
  /** Path of the file, or its text. */
  content: { path: string } | { text: string };
}

/** Assets under names that hold a hash of their bytes, so that they can be cached for ever. */
export interface Assets {
  /** The path to refer to an asset by. Throws for a name that is none. */
  pathOf(name: string): Promise<string>;
  /** The asset at the last segment of such a path. */
  find(hashedName: string): Promise<Representation | undefined>;
}

interface Loaded {
  hashedName: string;
  representation: Representation;
}

/** Reads each asset at its first use: a server that nobody asks for one holds none in memory. */
export function createAssets(sources: readonly AssetSource[]): Assets {
  const loaded = new Map<string, Promise<Loaded>>();

  function load(source: AssetSource): Promise<Loaded> {
    let loading = loaded.get(source.name);
    if (!loading) {
      loading = read(source);
      loaded.set(source.name, loading);
    }
    return loading;
  }

  return {
    async pathOf(name) {
      const source = sources.find((candidate) => candidate.name === name);
      if (!source) throw new Error(`there is no asset ${name}`);
      return `/assets/${(await load(source)).hashedName}`;
    },
    async find(hashedName) {
      const name = hashedName.replace(/\.[0-9a-f]{16}(?=\.[a-z]+$)/, "");
      const source = sources.find((candidate) => candidate.name === name);
      if (!source) return undefined;
      const asset = await load(source);
      return asset.hashedName === hashedName ? asset.representation : undefined;
    },
  };
}

/** The path of an asset whose content is at hand. */
export function assetPath(name: string, content: string | Uint8Array): string {
  return `/assets/${nameWithHash(name, content)}`;
}

/** The name under which bytes are served for ever: their hash before the ending. */
function nameWithHash(name: string, bytes: string | Uint8Array): string {
  const dot = name.lastIndexOf(".");
  return `${name.slice(0, dot)}.${sha256Hex(bytes).slice(0, 16)}${name.slice(dot)}`;
}

async function read(source: AssetSource): Promise<Loaded> {
  const { content, name, mediaType } = source;
  const bytes =
    "path" in content
      ? await Bun.file(content.path).bytes()
      : new TextEncoder().encode(content.text);
  return {
    hashedName: nameWithHash(name, bytes),
    representation: new Representation(bytes, { mediaType, cacheControl: IMMUTABLE }),
  };
}
