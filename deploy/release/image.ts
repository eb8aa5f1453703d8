/**
 * Writes a container image as an OCI image layout, without a daemon: the executable and the libc of Debian, with the settings of the
 * stage `server` of the Dockerfile. https://github.com/opencontainers/image-spec
 */
import { gzip, type ArchiveEntry, sha256, tar } from "./archive";

/** The user of the image, as in the Dockerfile. */
const OWNER = 65_532;

/** Parts of the image of one architecture. */
export interface ImagePart {
  architecture: "amd64" | "arm64";
  executable: Uint8Array;
  /** Files of the libc. */
  libc: readonly ArchiveEntry[];
}

export interface ImageOptions {
  version: string;
  /** Date of all files, and of the image. */
  date: Date;
  /** Content of the Dockerfile. */
  dockerfile: string;
  /** Files of archives, of which the image has the licences. */
  documents: readonly ArchiveEntry[];
  parts: readonly ImagePart[];
}

/** Reference by which the loaded image is run. */
export function imageName(version: string): string {
  return `allclear:${version}`;
}

/** Returns the layout as a tar archive, which programs call oci-archive. Its index lists the images of all architectures. */
export async function imageLayout(options: ImageOptions): Promise<Uint8Array> {
  const { version, date, parts, documents } = options;
  const blobs = new Map<string, Uint8Array>();
  const add = (mediaType: string, content: Uint8Array | object) => {
    const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
    const digest = sha256(bytes);
    blobs.set(digest, bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.byteLength };
  };

  const manifests: object[] = [];
  for (const part of parts) {
    const layers = [
      await tar(inFolders(systemFiles(part.libc)), date),
      await tar(inFolders(programFiles(part.executable, documents)), date),
    ];
    const manifest = add("application/vnd.oci.image.manifest.v1+json", {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: add("application/vnd.oci.image.config.v1+json", imageConfig(options, part, layers)),
      layers: layers.map((layer) =>
        add("application/vnd.oci.image.layer.v1.tar+gzip", gzip(layer)),
      ),
    });
    manifests.push({ ...manifest, platform: { architecture: part.architecture, os: "linux" } });
  }
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests,
  };
  const named = {
    ...add(index.mediaType, index),
    annotations: {
      // Names of the image for Docker, and for other programs.
      "io.containerd.image.name": `docker.io/library/${imageName(version)}`,
      "org.opencontainers.image.ref.name": version,
    },
  };
  const files = [
    { name: "oci-layout", content: JSON.stringify({ imageLayoutVersion: "1.0.0" }) },
    { name: "index.json", content: JSON.stringify({ ...index, manifests: [named] }) },
    { name: "blobs/" },
    { name: "blobs/sha256/" },
    ...[...blobs]
      .toSorted(byName)
      .map(([digest, content]) => ({ name: `blobs/sha256/${digest}`, content })),
  ];
  return tar(files, date);
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}

/** Files of every image besides the program: users, the order of name look-ups, a folder for temporary files, and the libc. */
function systemFiles(libc: readonly ArchiveEntry[]): ArchiveEntry[] {
  return [
    {
      name: "etc/passwd",
      content: `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${OWNER}:${OWNER}:nonroot:/data:/sbin/nologin\n`,
    },
    { name: "etc/group", content: `root:x:0:\nnonroot:x:${OWNER}:\n` },
    { name: "etc/nsswitch.conf", content: "hosts: files dns\n" },
    { name: "tmp/", mode: 0o1777 },
    ...libc,
  ];
}

function programFiles(executable: Uint8Array, documents: readonly ArchiveEntry[]): ArchiveEntry[] {
  return [
    { name: "allclear", content: executable, mode: 0o755 },
    { name: "data/", owner: OWNER },
    ...documents
      .filter(({ name }) => name.includes("LICENSE"))
      .map((file) => ({ ...file, name: `usr/share/doc/allclear/${file.name}` })),
  ];
}

/** Adds the folders that contain the files, and sorts all by name. */
function inFolders(files: readonly ArchiveEntry[]): ArchiveEntry[] {
  const names = files.map(({ name }) => name);
  const folders = new Set(names.flatMap(foldersAbove).filter((folder) => !names.includes(folder)));
  return [...[...folders].map((name) => ({ name })), ...files].toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
}

/** Returns the folders that contain a path, such as `usr/` and `usr/lib/`. */
function foldersAbove(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join("/")}/`);
}

function imageConfig(
  { version, date, dockerfile }: ImageOptions,
  part: ImagePart,
  layers: readonly Uint8Array[],
): object {
  const created = date.toISOString();
  const layerNames = ["Debian's libc, users and folders", "Allclear"];
  return {
    created,
    architecture: part.architecture,
    os: "linux",
    config: {
      ...containerSettings(dockerfile),
      WorkingDir: "/",
      Labels: {
        "org.opencontainers.image.title": "Allclear",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "MIT",
      },
    },
    rootfs: { type: "layers", diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
    history: layerNames.map((name) => ({ created, created_by: name })),
  };
}

const SECOND_NS = 1_000_000_000;

/** The files that the Dockerfile copies into the image. */
const COPIED: ReadonlySet<string> = new Set([
  "--from=build /out/allclear /allclear",
  `--from=build --chown=${OWNER}:${OWNER} /out/data /data`,
]);

/**
 * Returns the settings of the Dockerfile's stage `server`, as a configuration names them. Throws for an instruction whose effect
 * the image would lack.
 */
export function containerSettings(dockerfile: string): Record<string, unknown> {
  const [, stage = ""] = /^FROM \S+ AS server\n([\s\S]*?)^FROM /m.exec(dockerfile) ?? [];
  const settings: Record<string, unknown> = {};
  const text = stage.replaceAll(/^#.*\n/gm, "").replaceAll(/\\\n\s*/g, "");
  for (const [line, instruction = "", value = ""] of text.matchAll(/^(\S+) (.*)$/gm)) {
    if (instruction === "ENV" && !("Env" in settings)) settings["Env"] = value.split(/\s+/);
    else if (instruction === "USER") settings["User"] = value;
    else if (instruction === "VOLUME") settings["Volumes"] = { [value]: {} };
    else if (instruction === "EXPOSE") settings["ExposedPorts"] = { [`${value}/tcp`]: {} };
    else if (instruction === "ENTRYPOINT") settings["Entrypoint"] = JSON.parse(value);
    else if (instruction === "CMD") settings["Cmd"] = JSON.parse(value);
    else if (instruction === "HEALTHCHECK") settings["Healthcheck"] = healthCheck(value);
    else if (instruction !== "COPY" || !COPIED.has(value)) {
      throw new Error(`The image of a release lacks what the Dockerfile has: ${line}`);
    }
  }
  return settings;
}

/** Reads `--interval=30s … CMD ["…"]`. Durations of a configuration are nanoseconds. */
function healthCheck(value: string): object {
  const [, options = "", command = ""] = /^(.*)CMD (.*)$/.exec(value) ?? [];
  const nanoseconds = (name: string) => {
    const [, seconds] = new RegExp(`--${name}=(\\d+)s`).exec(options) ?? [];
    return Number(seconds) * SECOND_NS;
  };
  return {
    Test: ["CMD", ...(JSON.parse(command) as string[])],
    Interval: nanoseconds("interval"),
    Timeout: nanoseconds("timeout"),
    StartPeriod: nanoseconds("start-period"),
  };
}
