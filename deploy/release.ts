/**
 * Writes all files of a release into dist/allclear-<version>: `bun run release`. Stops before it builds if a catalog lacks a message,
 * or CHANGELOG.md has no dated section of the version. `--out DIR` names another folder, `--target NAME` one of
 * several platforms, and `--without-image` leaves out the image, which needs Debian.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listCommands } from "../src/cli/main";
import { VERSION } from "../src/version";
import { build, type Target, TARGETS } from "./build";
import { listMissingMessages } from "./missing-messages";
import { type ArchiveEntry, gzip, sha256, tar } from "./release/archive";
import {
  billOfMaterials,
  type BillOfMaterials,
  type Component,
  thirdPartyLicences,
} from "./release/bill-of-materials";
import { debianLibc } from "./release/debian-libc";
import { imageLayout, imageName, type ImagePart } from "./release/image";
import { manPage } from "./release/man-page";

const ROOT = join(import.meta.dir, "..");
const NAME = `allclear-${VERSION}`;

/** Platforms with an archive. Windows has none, since no test runs there. */
const RELEASED: readonly Target[] = (Object.keys(TARGETS) as Target[]).filter(
  (name) => name !== "windows-x64",
);

/** Architectures of the image, with the platforms of their executables. */
const ARCHITECTURES = [
  ["amd64", "linux-x64"],
  ["arm64", "linux-arm64"],
] as const;

interface ReleaseOptions {
  /** New or empty folder for the files. */
  out: string;
  targets: readonly Target[];
  hasImage: boolean;
  /** Day of the version, such as 2026-11-29. All files in archives are from its midnight in UTC. */
  day: string;
  /** Writes the executable of a platform. */
  compile(outfile: string, target: Target): Promise<void>;
}

export async function release(options: ReleaseOptions): Promise<void> {
  const { out, targets, hasImage, day } = options;
  const date = new Date(`${day}T00:00:00Z`);
  const folder = mkdtempSync(join(tmpdir(), "allclear-release-"));
  const sums = new Map<string, string>();
  const write = async (name: string, content: Uint8Array | string) => {
    await Bun.write(join(out, name), content);
    sums.set(name, sha256(content));
    console.log(join(out, name));
  };
  try {
    mkdirSync(out, { recursive: true });
    const bill = await billOfMaterials(folder);
    const documents = await releaseDocuments(bill, day);
    for (const target of targets) {
      const name = `${NAME}-${target}`;
      const program = await executable(options, target, folder);
      await write(`${name}.tar.gz`, await releaseArchive(name, program, documents, date));
    }

    const libcs: Component[] = [];
    if (hasImage) {
      const parts: ImagePart[] = [];
      for (const [architecture, target] of ARCHITECTURES) {
        const libc = await debianLibc(architecture, folder);
        libcs.push(libc.component);
        const program = await executable(options, target, folder);
        parts.push({ architecture, executable: program, libc: libc.files });
      }
      const dockerfile = await read("Dockerfile");
      const image = await imageLayout({ version: VERSION, date, dockerfile, documents, parts });
      await write(`${NAME}-image.tar`, image);
    }
    const components = [...bill.components, ...libcs];
    await write(`${NAME}.cdx.json`, `${JSON.stringify({ ...bill, components }, null, 2)}\n`);
    await Bun.write(join(out, "SHA256SUMS"), checksums(sums));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the executable for a platform, which is built once. */
async function executable(
  { compile }: ReleaseOptions,
  target: Target,
  folder: string,
): Promise<Uint8Array> {
  // The name of the file is part of the executable.
  const file = join(folder, target, "allclear");
  if (!existsSync(file)) await compile(file, target);
  return Bun.file(file).bytes();
}

/** Returns the files of an archive besides the executable. */
export async function releaseDocuments(
  bill: BillOfMaterials,
  day: string,
): Promise<ArchiveEntry[]> {
  const sampleOf = async (name: string) =>
    composeFile(await read(`deploy/${name}`), imageName(VERSION));
  return [
    { name: "LICENSE", content: await read("LICENSE") },
    { name: "THIRD-PARTY-LICENSES.txt", content: thirdPartyLicences(bill) },
    { name: "allclear.1", content: manPage(await listCommands(), day) },
    { name: "allclear.service", content: await read("deploy/allclear.service") },
    { name: "allclear-agent.service", content: await read("deploy/allclear-agent.service") },
    { name: "compose.yaml", content: await sampleOf("compose.yaml") },
    { name: "compose.agent.yaml", content: await sampleOf("compose.agent.yaml") },
  ];
}

/** Returns the archive of a platform, whose files are in a folder of its name. */
export async function releaseArchive(
  name: string,
  program: Uint8Array,
  documents: readonly ArchiveEntry[],
  date: Date,
): Promise<Uint8Array> {
  const files = [{ name: "allclear", content: program, mode: 0o755 }, ...documents];
  const inFolder = files.map((file) => ({ ...file, name: `${name}/${file.name}` }));
  return gzip(await tar(inFolder, date));
}

/** Returns the day of a version from its heading in the changelog, `## 0.3.0 - 2026-11-29`; undefined without one. */
export function releaseDay(changelog: string, version: string): string | undefined {
  const beginning = `## ${version} - `;
  const heading = changelog.split("\n").find((line) => line.startsWith(beginning)) ?? "";
  return /^\d{4}-\d{2}-\d{2}$/.exec(heading.slice(beginning.length))?.[0];
}

/** Returns the sample for Compose as a file of an archive: with the image of the release, and nothing to build. */
export function composeFile(sample: string, image: string): string {
  const built = "    build: ..\n    image: allclear\n";
  if (!sample.includes(built)) throw new Error("A sample for Compose builds no image allclear.");
  const loaded = sample.replace(built, `    image: ${image}\n`);
  return loaded.replaceAll(/deploy\/(?=compose\.|token)/g, "");
}

/** Returns SHA-256 sums by name in the format of `sha256sum`. */
function checksums(sums: ReadonlyMap<string, string>): string {
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`);
  return lines.toSorted((one, other) => (one.slice(64) < other.slice(64) ? -1 : 1)).join("");
}

function read(path: string): Promise<string> {
  return Bun.file(join(ROOT, path)).text();
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      out: { type: "string" },
      target: { type: "string", multiple: true, default: [...RELEASED] },
      "without-image": { type: "boolean", default: false },
    },
  });
  const problems = await listMissingMessages();
  const day = releaseDay(await read("CHANGELOG.md"), VERSION);
  if (day === undefined) {
    problems.push(`CHANGELOG.md: no section ${VERSION} with its day, such as 2026-11-29`);
  }
  const targets = values.target as Target[];
  for (const name of targets.filter((target) => !RELEASED.includes(target))) {
    problems.push(`--target: ${name} is none of ${RELEASED.join(", ")}`);
  }
  if (values.out !== undefined && existsSync(values.out) && readdirSync(values.out).length > 0) {
    problems.push(`--out: ${values.out} is not empty`);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0 || day === undefined) process.exit(1);

  const standard = join(ROOT, "dist", NAME);
  if (values.out === undefined) rmSync(standard, { recursive: true, force: true });
  const hasImage = !values["without-image"];
  await release({ out: values.out ?? standard, targets, hasImage, day, compile: build });
}
