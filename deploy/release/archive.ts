/** Tar archives that are equal byte by byte if their files are: in the order given, with one date and one owner. */
import { pack } from "tar-stream";

export interface ArchiveEntry {
  /** Path in the archive. Ends with a slash for a directory. */
  name: string;
  content?: Uint8Array | string;
  /** Target of a symbolic link. */
  linkname?: string;
  /** By default 0755 for directories and 0644 for files. */
  mode?: number;
  /** Number of user and group, by default 0. */
  owner?: number;
}

export async function tar(entries: readonly ArchiveEntry[], date: Date): Promise<Uint8Array> {
  const archive = pack();
  for (const { name, content = "", linkname, mode, owner = 0 } of entries) {
    const type = name.endsWith("/") ? "directory" : linkname === undefined ? "file" : "symlink";
    const header = {
      name,
      type,
      mode: mode ?? (type === "directory" ? 0o755 : type === "symlink" ? 0o777 : 0o644),
      mtime: date,
      uid: owner,
      gid: owner,
      ...(linkname === undefined ? {} : { linkname }),
    } as const;
    if (type === "file") archive.entry(header, Buffer.from(content));
    else archive.entry(header);
  }
  archive.finalize();
  return readAll(archive);
}

/** Reads a stream of bytes to its end. */
export async function readAll(stream: AsyncIterable<unknown>): Promise<Buffer> {
  return Buffer.concat((await Array.fromAsync(stream)) as Buffer[]);
}

/** Compresses without a date or a name in the header. Equal bytes need the same version of Bun. */
export function gzip(bytes: Uint8Array): Uint8Array {
  return Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>, { library: "libdeflate", level: 9 });
}

export function sha256(bytes: Uint8Array | string): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}
