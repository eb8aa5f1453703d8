import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ArchiveEntry, sha256, tar } from "../../deploy/release/archive";
import { debianLibc, libcFiles } from "../../deploy/release/debian-libc";
import {
  containerSettings,
  imageLayout,
  imageName,
  type ImageOptions,
} from "../../deploy/release/image";
import manifest from "../../package.json" with { type: "json" };
import { executable, holds, PROCESS_TEST_MS } from "../support/binary";
import { freePort } from "../support/free-port";
import { findProgram } from "../support/servers/server-process";
import { temporaryFolder } from "../support/temporary-folder";

const DOCKERFILE = readFileSync(join(import.meta.dir, "../../Dockerfile"), "utf8");

/** An image of two architectures with small files. */
const OPTIONS: ImageOptions = {
  version: "1.2.3",
  date: new Date("2026-11-29T00:00:00Z"),
  dockerfile: DOCKERFILE,
  documents: [
    { name: "LICENSE", content: "licence" },
    { name: "compose.yaml", content: "services: {}" },
  ],
  parts: [
    { architecture: "amd64", executable: Buffer.from("one"), libc: libc("lib/x86_64/libc.so.6") },
    { architecture: "arm64", executable: Buffer.from("two"), libc: libc("lib/aarch64/libc.so.6") },
  ],
};

function libc(name: string): ArchiveEntry[] {
  return [{ name, content: "libc", mode: 0o755 }];
}

/** Names content of an image by its digest. */
interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { architecture: string; os: string };
  annotations?: Record<string, string>;
}

/** Returns the reason why a test cannot run. In CI it throws instead. */
function missing(reason: string | undefined, tests: string): boolean {
  if (reason === undefined) return false;
  if (process.env["CI"]) throw new Error(reason);
  console.warn(`SKIPPED: “${tests}”. ${reason}`);
  return true;
}

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
  return stdout.toString();
}

/** Unpacks a layout into a folder, and returns functions that read it. */
async function unpack(layout: Uint8Array, folder: string) {
  await Bun.write(join(folder, "image.tar"), layout);
  run("tar", "-xf", join(folder, "image.tar"), "-C", folder);
  const pathOf = (digest: string) => join(folder, "blobs", digest.replace(":", "/"));
  /** Reads an object, after a comparison with its digest and size. */
  const read = ({ digest, size }: Descriptor) => {
    const bytes = readFileSync(pathOf(digest));
    expect([digest, size]).toEqual([`sha256:${sha256(bytes)}`, bytes.byteLength]);
    return bytes;
  };
  const json = (descriptor: Descriptor) => JSON.parse(read(descriptor).toString());
  const [named] = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")).manifests;
  const images: Descriptor[] = json(named).manifests;
  return { pathOf, read, json, named: named as Descriptor, images };
}

describe("the image of a release", () => {
  test("is a layout with an image for each architecture, by digest and size", async () => {
    using folder = temporaryFolder();
    const { read, json, named, images } = await unpack(await imageLayout(OPTIONS), folder.path);
    const version = JSON.parse(readFileSync(join(folder.path, "oci-layout"), "utf8"));
    expect(version).toEqual({ imageLayoutVersion: "1.0.0" });
    expect(named.annotations).toEqual({
      "io.containerd.image.name": "docker.io/library/allclear:1.2.3",
      "org.opencontainers.image.ref.name": "1.2.3",
    });
    expect(imageName("1.2.3")).toBe("allclear:1.2.3");
    expect(images.map(({ platform }) => platform)).toEqual([
      { architecture: "amd64", os: "linux" },
      { architecture: "arm64", os: "linux" },
    ]);
    for (const image of images) {
      const { config, layers } = json(image) as { config: Descriptor; layers: Descriptor[] };
      const { architecture, os, rootfs, history } = json(config);
      expect({ architecture, os }).toEqual(image.platform!);
      const unpacked = layers.map((layer) => Bun.gunzipSync(Buffer.from(read(layer))));
      expect(rootfs.diff_ids).toEqual(unpacked.map((layer) => `sha256:${sha256(layer)}`));
      expect(history).toHaveLength(layers.length);
    }
  });

  test("has users, folders, the libc, the executable and the licences", async () => {
    using folder = temporaryFolder();
    const { json, images, pathOf } = await unpack(await imageLayout(OPTIONS), folder.path);
    const { layers } = json(images[0]!) as { layers: Descriptor[] };
    const files = layers.map(({ digest }) => {
      const list = run("tar", "--numeric-owner", "-tvzf", pathOf(digest)).trim().split("\n");
      return list.map((line) => line.replace(/^(\S+ \S+) .* (\S+)$/, "$1 $2"));
    });
    expect(files).toEqual([
      [
        "drwxr-xr-x 0/0 etc/",
        "-rw-r--r-- 0/0 etc/group",
        "-rw-r--r-- 0/0 etc/nsswitch.conf",
        "-rw-r--r-- 0/0 etc/passwd",
        "drwxr-xr-x 0/0 lib/",
        "drwxr-xr-x 0/0 lib/x86_64/",
        "-rwxr-xr-x 0/0 lib/x86_64/libc.so.6",
        "drwxrwxrwt 0/0 tmp/",
      ],
      [
        "-rwxr-xr-x 0/0 allclear",
        "drwxr-xr-x 65532/65532 data/",
        "drwxr-xr-x 0/0 usr/",
        "drwxr-xr-x 0/0 usr/share/",
        "drwxr-xr-x 0/0 usr/share/doc/",
        "drwxr-xr-x 0/0 usr/share/doc/allclear/",
        "-rw-r--r-- 0/0 usr/share/doc/allclear/LICENSE",
      ],
    ]);
  });

  test("has the settings of the Dockerfile", () => {
    expect(containerSettings(DOCKERFILE)).toEqual({
      Env: [
        "ALLCLEAR_LISTEN=0.0.0.0:8080",
        "ALLCLEAR_DATA_DIR=/data",
        "SQLITE_TMPDIR=/data",
        "UV_THREADPOOL_SIZE=4",
        "BUN_BE_BUN=",
        "BUN_OPTIONS=",
      ],
      User: "65532:65532",
      Volumes: { "/data": {} },
      ExposedPorts: { "8080/tcp": {} },
      Healthcheck: {
        Test: ["CMD", "/allclear", "healthcheck"],
        Interval: 30e9,
        Timeout: 5e9,
        StartPeriod: 10e9,
      },
      Entrypoint: ["/allclear"],
      Cmd: ["serve"],
    });
  });

  test.each(["STOPSIGNAL SIGINT", "COPY --from=build /out/more /more", "ENV MORE=1"])(
    "is refused while the Dockerfile has %j in addition",
    (line) => {
      const further = DOCKERFILE.replace("USER 65532", `${line}\nUSER 65532`);
      expect(() => containerSettings(further)).toThrow(`the Dockerfile has: ${line}`);
    },
  );

  test("takes the needed files of a libc, and the links to /usr where the package expects them", async () => {
    const needed = [
      { name: "./usr/lib/x86_64-linux-gnu/libc.so.6", content: "libc", mode: 0o755 },
      { name: "./usr/lib64/ld-linux-x86-64.so.2", linkname: "../lib/x86_64-linux-gnu/ld.so" },
      { name: "./usr/share/doc/libc6/copyright", content: "licence" },
    ];
    const others = [
      { name: "./usr/lib/x86_64-linux-gnu/libthread_db.so.1", content: "other" },
      { name: "./usr/share/doc/libc6/changelog.gz", content: "other" },
    ];
    const files = await libcFiles(await tar([...others, ...needed], OPTIONS.date));
    expect(files.map(({ name, linkname, mode }) => [name, linkname, mode])).toEqual([
      ["lib", "usr/lib", undefined],
      ["lib64", "usr/lib64", undefined],
      ["usr/lib/x86_64-linux-gnu/libc.so.6", undefined, 0o755],
      ["usr/lib64/ld-linux-x86-64.so.2", "../lib/x86_64-linux-gnu/ld.so", undefined],
      ["usr/share/doc/libc6/copyright", undefined, 0o644],
    ]);
  });

  test("is equal each time, and another one for another executable or another day", async () => {
    const digest = async (options: ImageOptions) => sha256(await imageLayout(options));
    const first = await digest(OPTIONS);
    expect(await digest({ ...OPTIONS, date: new Date(OPTIONS.date) })).toBe(first);
    const [amd64, arm64] = OPTIONS.parts;
    const changed = { ...arm64!, executable: Buffer.from("three") };
    const others = [
      await digest({ ...OPTIONS, parts: [amd64!, changed] }),
      await digest({ ...OPTIONS, date: new Date("2026-11-30T00:00:00Z") }),
      await digest({ ...OPTIONS, version: "1.2.4" }),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
  });

  const skopeo = findProgram("skopeo");
  const noSkopeo = skopeo === undefined ? "The program skopeo is not installed." : undefined;
  test.skipIf(missing(noSkopeo, "skopeo reads the image"))(
    "is read and copied by skopeo for both architectures",
    async () => {
      using folder = temporaryFolder();
      const file = join(folder.path, "image.tar");
      await Bun.write(file, await imageLayout(OPTIONS));
      const source = `oci-archive:${file}:1.2.3`;
      for (const architecture of ["amd64", "arm64"]) {
        const override = ["--override-os", "linux", "--override-arch", architecture];
        const { Architecture, Labels } = JSON.parse(run(skopeo!, ...override, "inspect", source));
        expect([Architecture, Labels["org.opencontainers.image.version"]]).toEqual([
          architecture,
          "1.2.3",
        ]);
        const config = JSON.parse(run(skopeo!, ...override, "inspect", "--config", source));
        expect(config.config.Entrypoint).toEqual(["/allclear"]);
      }
      const target = `dir:${join(folder.path, "copy")}`;
      run(skopeo!, "--insecure-policy", "copy", "--all", source, target);
      expect(statSync(join(folder.path, "copy/manifest.json")).size).toBeGreaterThan(100);

      const damaged = { ...OPTIONS, parts: OPTIONS.parts.slice(1) };
      await Bun.write(file, await imageLayout(damaged));
      expect(() => run(skopeo!, "--override-arch", "amd64", "inspect", source)).toThrow("amd64");
    },
    PROCESS_TEST_MS,
  );
});

const programs = ["apt-get", "dpkg-deb", "unshare", "chroot"];
const absent = programs.find((name) => findProgram(name) === undefined);
const architecture = ({ x64: "amd64", arm64: "arm64" } as const)[process.arch as "x64"];
const reason =
  absent !== undefined
    ? `The program ${absent} is not installed.`
    : process.getuid?.() === 0
      ? undefined
      : "Only root can run a program in a folder as its system.";

describe.skipIf(missing(reason, "the executable runs with the libc of the image"))(
  "the files of the image",
  () => {
    const folder = temporaryFolder();
    const root = join(folder.path, "root");
    let env: Record<string, string>;

    beforeAll(async () => {
      const { files, component } = await debianLibc(architecture, folder.path);
      expect(component.purl).toStartWith(`pkg:deb/debian/libc6@2.`);
      const program = await Bun.file(await executable()).bytes();
      const part = { architecture, executable: program, libc: files };
      const layout = await imageLayout({ ...OPTIONS, parts: [part] });
      const { json, images, pathOf } = await unpack(layout, folder.path);
      const { config, layers } = json(images[0]!) as { config: Descriptor; layers: Descriptor[] };
      mkdirSync(join(root, "proc"), { recursive: true });
      for (const { digest } of layers) run("tar", "-xzpf", pathOf(digest), "-C", root);
      const settings: string[] = json(config).config.Env;
      env = Object.fromEntries(settings.map((setting) => setting.split("=", 2)));
    }, PROCESS_TEST_MS);
    afterAll(() => folder[Symbol.dispose]());

    /** Returns the words of a command in the image, run by its user. */
    function inImage(...command: string[]): string[] {
      const start = 'mount --bind /proc "$0/proc" && exec chroot --userspec=65532:65532 "$0" "$@"';
      return [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        start,
        root,
        ...command,
      ];
    }

    test("start the executable", () => {
      expect(run(...inImage("/allclear", "--version"))).toBe(`${manifest.version}\n`);
    });

    test(
      "serve pages and are healthy, and the data is in the volume",
      async () => {
        const port = await freePort();
        const settings = {
          ...env,
          ALLCLEAR_LISTEN: `127.0.0.1:${port}`,
          PATH: process.env["PATH"],
        };
        const server = Bun.spawn(inImage("/allclear", "serve"), {
          env: settings,
          stdout: "ignore",
          stderr: "ignore",
        });
        try {
          const isHealthy = async () => {
            const command = inImage("/allclear", "healthcheck");
            return (await Bun.spawn(command, { env: settings, stderr: "ignore" }).exited) === 0;
          };
          expect(await holds(isHealthy)).toBe(true);
          const page = await fetch(`http://127.0.0.1:${port}/`);
          expect([page.status, page.headers.get("content-type")]).toEqual([
            200,
            "text/html;charset=utf-8",
          ]);
          expect(statSync(join(root, "data/allclear.db")).uid).toBe(65_532);
        } finally {
          server.kill("SIGTERM");
        }
        expect(await server.exited).toBe(0);
      },
      PROCESS_TEST_MS,
    );
  },
);
