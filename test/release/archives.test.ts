import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { releaseArchive, releaseDocuments } from "../../deploy/release";
import { type ArchiveEntry, sha256, tar } from "../../deploy/release/archive";
import { type BillOfMaterials, billOfMaterials } from "../../deploy/release/bill-of-materials";
import manifest from "../../package.json" with { type: "json" };
import { executable, PROCESS_TEST_MS } from "../support/binary";
import { temporaryFolder } from "../support/temporary-folder";

const DAY = "2026-11-29";
const DATE = new Date(`${DAY}T00:00:00Z`);

let bill: BillOfMaterials;
let documents: ArchiveEntry[];
beforeAll(async () => {
  using folder = temporaryFolder();
  bill = await billOfMaterials(folder.path);
  documents = await releaseDocuments(bill, DAY);
});

/** Runs a program in a folder and returns its output. */
function run(cwd: string, ...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, env: { TZ: "UTC" } });
  expect([command[0], exitCode, stderr.toString()]).toEqual([command[0], 0, ""]);
  return stdout.toString();
}

describe("an archive of a release", () => {
  test(
    "has the executable, which runs, and its documents in a folder",
    async () => {
      const program = await Bun.file(await executable()).bytes();
      const archive = await releaseArchive("allclear-1.2.3-linux-x64", program, documents, DATE);
      using folder = temporaryFolder();
      await Bun.write(join(folder.path, "archive.tar.gz"), archive);

      const listed = run(folder.path, "/usr/bin/tar", "--numeric-owner", "-tvzf", "archive.tar.gz");
      const lines = listed
        .trim()
        .split("\n")
        .map((line) => line.replace(/ +\d+ /, " "));
      expect(lines).toEqual(
        ["allclear", ...documents.map(({ name }) => name)].map((name) => {
          const mode = name === "allclear" ? "-rwxr-xr-x" : "-rw-r--r--";
          return `${mode} 0/0 ${DAY} 00:00 allclear-1.2.3-linux-x64/${name}`;
        }),
      );

      run(folder.path, "/usr/bin/tar", "-xzf", "archive.tar.gz");
      const unpacked = join(folder.path, "allclear-1.2.3-linux-x64");
      expect(run(unpacked, "./allclear", "--version")).toBe(`${manifest.version}\n`);
      for (const { name, content } of documents) {
        expect([name, readFileSync(join(unpacked, name), "utf8")]).toEqual([
          name,
          content as string,
        ]);
      }
    },
    PROCESS_TEST_MS,
  );

  test("has the licences, the manual page, the unit and the Compose file", () => {
    const texts = new Map(documents.map(({ name, content }) => [name, String(content)]));
    expect([...texts.keys()]).toEqual([
      "LICENSE",
      "THIRD-PARTY-LICENSES.txt",
      "allclear.1",
      "allclear.service",
      "allclear-agent.service",
      "compose.yaml",
      "compose.agent.yaml",
    ]);
    expect(texts.get("LICENSE")).toStartWith("MIT License\n");
    expect(texts.get("THIRD-PARTY-LICENSES.txt")).toContain("\nelysia ");
    expect(texts.get("allclear.1")).toContain(`.TH ALLCLEAR 1 ${DAY} `);
    expect(texts.get("allclear.service")).toContain("\nExecStart=/usr/local/bin/allclear serve\n");
    expect(texts.get("compose.yaml")).toContain(`image: allclear:${manifest.version}\n`);
  });

  test("is equal each time, and another one for another file or another day", async () => {
    const program = new Uint8Array(100_000).fill(7);
    const digest = async (...args: Parameters<typeof releaseArchive>) => {
      return sha256(await releaseArchive(...args));
    };
    const first = await digest("allclear", program, documents, DATE);
    const again = await releaseDocuments(bill, DAY);
    expect(await digest("allclear", new Uint8Array(program), again, new Date(DATE))).toBe(first);
    const others = [
      await digest("other", program, documents, DATE),
      await digest("allclear", program.toReversed().fill(8, 0, 1), documents, DATE),
      await digest("allclear", program, documents.toReversed(), DATE),
      await digest("allclear", program, documents, new Date(DATE.getTime() + 1_000)),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
  });
});

test("an archive keeps folders, modes, owners and links", async () => {
  using folder = temporaryFolder();
  const entries = [
    { name: "kept/", mode: 0o1777 },
    { name: "data/", owner: 65_532 },
    { name: "data/file", content: "text", owner: 65_532 },
    { name: "kept/link", linkname: "../data/file" },
  ];
  await Bun.write(join(folder.path, "archive.tar"), await tar(entries, DATE));
  const listed = run(folder.path, "/usr/bin/tar", "--numeric-owner", "-tvf", "archive.tar");
  expect(listed.replaceAll(/ +/g, " ").trim().split("\n")).toEqual([
    `drwxrwxrwt 0/0 0 ${DAY} 00:00 kept/`,
    `drwxr-xr-x 65532/65532 0 ${DAY} 00:00 data/`,
    `-rw-r--r-- 65532/65532 4 ${DAY} 00:00 data/file`,
    `lrwxrwxrwx 0/0 0 ${DAY} 00:00 kept/link -> ../data/file`,
  ]);
  run(folder.path, "/usr/bin/tar", "--no-same-owner", "-xpf", "archive.tar");
  expect(readFileSync(join(folder.path, "kept/link"), "utf8")).toBe("text");
  expect(statSync(join(folder.path, "kept")).mode & 0o7777).toBe(0o1777);
});
