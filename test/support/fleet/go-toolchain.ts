import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";

/** Go for machines without it, as the module proxy has it for Go itself. */
const VERSION = "v0.0.1-go1.26.8.linux-amd64";
const SHA256 = "30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7";

/** Longest download, in ms. */
const DOWNLOAD_MAX_MS = 5 * 60_000;

/** Returns the path of `go`, which is downloaded into a folder if it is not there. Throws on other machines. */
export async function getToolchain(cache: string): Promise<string> {
  const folder = join(cache, VERSION);
  const program = join(folder, "bin", "go");
  if (existsSync(program)) return program;
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("Go 1.21 or later is not installed");
  }
  const url = `https://proxy.golang.org/golang.org/toolchain/@v/${VERSION}.zip`;
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MAX_MS) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const archive = Buffer.from(await response.arrayBuffer());
  const hash = Bun.SHA256.hash(archive, "hex");
  if (hash !== SHA256) throw new Error(`${url} has the SHA-256 ${hash}`);
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  unpack(archive, `golang.org/toolchain@${VERSION}/`, unfinished);
  renameSync(unfinished, folder);
  return program;
}

/** Writes the files of a zip archive whose names begin with `prefix` into a folder. */
function unpack(archive: Buffer, prefix: string, folder: string): void {
  const end = archive.lastIndexOf(Buffer.from("PK\x05\x06"));
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < count; entry++) {
    const method = archive.readUInt16LE(at + 10);
    const size = archive.readUInt32LE(at + 20);
    const nameLength = archive.readUInt16LE(at + 28);
    const skipped = archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    const local = archive.readUInt32LE(at + 42);
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    at += 46 + nameLength + skipped;
    if (!name.startsWith(prefix) || name.endsWith("/")) continue;
    const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const bytes = archive.subarray(from, from + size);
    const file = join(folder, name.slice(prefix.length));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, method === 0 ? bytes : inflateRawSync(bytes));
    // Archives of modules hold no rights of files.
    if (/^(bin|pkg\/tool)\//.test(name.slice(prefix.length))) chmodSync(file, 0o755);
  }
}
