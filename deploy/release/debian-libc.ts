/** Takes the libc for the image from the package libc6, which apt downloads and verifies. Needs a machine with Debian. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { extract } from "tar-stream";
import { type ArchiveEntry, readAll } from "./archive";
import type { Component } from "./bill-of-materials";

export interface Libc {
  files: ArchiveEntry[];
  /** The package, for the bill of materials. */
  component: Component;
}

/** The loader, the libraries that the executable names, those by which the libc finds hosts, and the licence. */
const NEEDED =
  /(?:^|\/)(?:ld-linux-[\w-]+\.so\.\d|lib(?:c|m|dl|pthread|rt|resolv|nss_dns|nss_files)\.so\.\d)$|\/libc6\/copyright$/;

/** Downloads the package for an architecture and returns its files. apt keeps its lists in the folder, none in the system. */
export async function debianLibc(architecture: "amd64" | "arm64", parent: string): Promise<Libc> {
  const folder = join(parent, `libc-${architecture}`);
  mkdirSync(join(folder, "state/lists/partial"), { recursive: true });
  mkdirSync(join(folder, "cache/archives/partial"), { recursive: true });
  await Bun.write(join(folder, "status"), "");
  const options = {
    "Dir::State": join(folder, "state"),
    "Dir::State::status": join(folder, "status"),
    "Dir::Cache": join(folder, "cache"),
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
  };
  const words = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  run(["apt-get", "-qq", ...words, "update"], folder);
  run(["apt-get", "-qq", ...words, "download", "libc6"], folder);
  const [file] = [...new Bun.Glob("libc6_*.deb").scanSync(folder)];
  if (file === undefined) throw new Error("apt-get downloaded no libc6.");
  const version = run(["dpkg-deb", "--field", file, "Version"], folder).toString().trim();
  const purl = `pkg:deb/debian/libc6@${encodeURIComponent(version)}?arch=${architecture}`;
  return {
    files: await libcFiles(run(["dpkg-deb", "--fsys-tarfile", file], folder)),
    component: {
      type: "library",
      "bom-ref": purl,
      name: "libc6",
      version,
      description: `The libc of the image for ${architecture}. Archives do not contain it.`,
      licenses: [{ license: { id: "LGPL-2.1-or-later" } }],
      purl,
    },
  };
}

/** Returns the needed files of a package's archive, as in a system whose /lib is a link to /usr/lib if the package expects one. */
export async function libcFiles(archive: Uint8Array): Promise<ArchiveEntry[]> {
  const reader = extract();
  reader.end(Buffer.from(archive));
  const files: ArchiveEntry[] = [];
  for await (const entry of reader) {
    const content = await readAll(entry);
    const { type, mode, linkname } = entry.header;
    const name = entry.header.name.replace(/^\.\//, "");
    if (!NEEDED.test(name)) continue;
    if (type === "file") files.push({ name, content, ...(mode === undefined ? {} : { mode }) });
    else if (type === "symlink" && linkname) files.push({ name, linkname });
    else throw new Error(`libc6 has ${name} as a ${type}.`);
  }
  const linked = ["lib", "lib64"].filter((folder) =>
    files.some(({ name }) => name.startsWith(`usr/${folder}/`)),
  );
  return [...linked.map((folder) => ({ name: folder, linkname: `usr/${folder}` })), ...files];
}

/** Runs a program and returns its output. Throws with its errors if it fails. */
function run(command: string[], cwd: string): Buffer {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd,
    env: { ...process.env, LC_ALL: "C" },
  });
  if (exitCode !== 0) throw new Error(`${command[0]} failed:\n${stderr.toString()}`);
  return stdout;
}
