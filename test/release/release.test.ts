import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { composeFile, release, releaseDay } from "../../deploy/release";
import { sha256 } from "../../deploy/release/archive";
import manifest from "../../package.json" with { type: "json" };
import { temporaryFolder } from "../support/temporary-folder";

const ROOT = join(import.meta.dir, "../..");

/** Files that a release reads. */
const SOURCES = ["src", "deploy", "migrations", "package.json", "bun.lock", "tsconfig.json"];

/** A copy of the sources, with the packages. */
const copy = temporaryFolder();
const changelog = join(copy.path, "CHANGELOG.md");
const german = join(copy.path, "src/languages/de.json");

beforeAll(() => {
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(copy.path, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy.path, "node_modules"));
});
afterAll(() => copy[Symbol.dispose]());

/** Runs the command in the copy. Its target does not exist, so that it never builds. */
function runRelease(...args: string[]): { code: number; errors: string[]; hasBuilt: boolean } {
  const command = [process.execPath, "deploy/release.ts", "--target", "none", ...args];
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: copy.path });
  const errors = stderr.toString().trim().split("\n");
  return { code: exitCode, errors, hasBuilt: existsSync(join(copy.path, "dist")) };
}

describe("a release", () => {
  const unknown = expect.stringMatching(/^--target: none is none of linux-x64, linux-arm64, /);
  const section = `## ${manifest.version} - 2026-11-29\n`;

  test("reports only an unknown platform if messages and changelog are complete", () => {
    writeFileSync(changelog, section);
    expect(runRelease()).toEqual({ code: 1, errors: [unknown], hasBuilt: false });
  });

  test("fails before it builds if a catalog lacks a message, and lists it", () => {
    writeFileSync(changelog, section);
    const text = readFileSync(german, "utf8");
    const catalog = JSON.parse(text) as { messages: Record<string, string> };
    const [first = "", second = ""] = Object.keys(catalog.messages);
    delete catalog.messages[first];
    catalog.messages[second] = " ";
    writeFileSync(german, JSON.stringify(catalog));
    try {
      const errors = [`de.json: ${first}`, `de.json: ${second}`, unknown];
      expect(runRelease()).toEqual({ code: 1, errors, hasBuilt: false });
    } finally {
      writeFileSync(german, text);
    }
  });

  test.each(["", `## ${manifest.version} - unreleased\n`, "## 9.9.9 - 2026-11-29\n"])(
    "fails before it builds if the changelog is %j",
    (text) => {
      writeFileSync(changelog, text);
      const missing = expect.stringMatching(/^CHANGELOG\.md: no section .* with its day/);
      expect(runRelease()).toEqual({ code: 1, errors: [missing, unknown], hasBuilt: false });
    },
  );

  test("refuses a folder with files, and leaves them", () => {
    writeFileSync(changelog, section);
    const folder = join(copy.path, "kept");
    mkdirSync(folder);
    writeFileSync(join(folder, "file"), "content");
    const { code, errors } = runRelease("--out", folder);
    expect([code, errors]).toEqual([1, [unknown, `--out: ${folder} is not empty`]]);
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("content");
  });
});

test("a release has an archive of each platform, the bill of materials and their checksums", async () => {
  const out = join(copy.path, "release");
  const compiled: string[] = [];
  await release({
    out,
    targets: ["linux-x64", "darwin-arm64"],
    hasImage: false,
    day: "2026-11-29",
    compile: async (outfile, target) => {
      compiled.push(target);
      await Bun.write(outfile, `program for ${target}`);
    },
  });
  expect(compiled).toEqual(["linux-x64", "darwin-arm64"]);
  const name = `allclear-${manifest.version}`;
  const files = [`${name}-darwin-arm64.tar.gz`, `${name}-linux-x64.tar.gz`, `${name}.cdx.json`];
  expect(readdirSync(out).toSorted()).toEqual(["SHA256SUMS", ...files]);
  const sums = files.map((file) => `${sha256(readFileSync(join(out, file)))}  ${file}\n`);
  expect(readFileSync(join(out, "SHA256SUMS"), "utf8")).toBe(sums.join(""));
  for (const target of compiled) {
    const file = `${name}-${target}/allclear`;
    const archive = join(out, `${name}-${target}.tar.gz`);
    const { stdout } = Bun.spawnSync(["tar", "-xzOf", archive, file]);
    expect(stdout.toString()).toBe(`program for ${target}`);
  }
  const bill = JSON.parse(readFileSync(join(out, `${name}.cdx.json`), "utf8"));
  expect(bill.metadata.component.version).toBe(manifest.version);
});

test("the day of a release is that of its heading in the changelog", () => {
  const text = "# Changelog\n\n## 1.10.0 - 2027-01-02\n\n## 1.1.0 - 2026-11-29\n";
  expect(releaseDay(text, "1.1.0")).toBe("2026-11-29");
  expect(releaseDay(text, "1.10.0")).toBe("2027-01-02");
  expect(releaseDay(text, "1.0")).toBeUndefined();
  expect(releaseDay("## 1.1.0 - soon\n", "1.1.0")).toBeUndefined();
});

test("the changelog has a section of the version", () => {
  const text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const versions = [...text.matchAll(/^## (\S+) - /gm)].map(([, version]) => version);
  expect(versions).toContain(manifest.version);
});

test("the Compose file of an archive runs the image of the release, and is otherwise the sample", () => {
  const sample = readFileSync(join(ROOT, "deploy/compose.yaml"), "utf8");
  const written = composeFile(sample, "allclear:1.2.3");
  const { build, ...service } = parse(sample).services.allclear;
  expect(build).toBe("..");
  expect(parse(written)).toEqual({
    ...parse(sample),
    services: { allclear: { ...service, image: "allclear:1.2.3" } },
  });
  expect(written).not.toContain("deploy/");
  expect(() => composeFile("services: {}\n", "allclear:1.2.3")).toThrow("builds no image");
});
