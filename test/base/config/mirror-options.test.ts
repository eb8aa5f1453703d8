import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadConfig, readConfig, writeConfig } from "../../../src/base/config/load";
import { temporaryFolder } from "../../support/temporary-folder";

const KEYS = { ALLCLEAR_MIRROR_KEY_ID: "AKIA1", ALLCLEAR_MIRROR_SECRET: "hidden-secret" };

function load(flag: string, env: Record<string, string> = {}) {
  const loaded = loadConfig({ mirror: flag }, env);
  return "problems" in loaded ? loaded.problems : loaded.config.mirror;
}

describe("the options of the mirror", () => {
  test("a mirror is a folder or a bucket with credentials", () => {
    expect(load("mirror")).toEqual({ kind: "folder", path: resolve("mirror") });
    expect(load("file:///srv/mirror")).toEqual({ kind: "folder", path: "/srv/mirror" });
    const bucket = "s3://status/mirror?endpoint=https://s3.example.com&region=eu-central-1";
    expect(load(bucket, KEYS)).toEqual({
      kind: "s3",
      bucket: "status",
      path: "mirror",
      region: "eu-central-1",
      endpoint: "https://s3.example.com",
    });
  });

  test("a bucket without credentials, and credentials without a bucket, are rejected", () => {
    expect(load("s3://status")).toEqual([
      "ALLCLEAR_MIRROR_KEY_ID is required for a mirror in a bucket.",
      "ALLCLEAR_MIRROR_SECRET is required for a mirror in a bucket.",
    ]);
    expect(load("/srv/mirror", KEYS)).toEqual([
      "ALLCLEAR_MIRROR_KEY_ID is only for a mirror in a bucket.",
      "ALLCLEAR_MIRROR_SECRET is only for a mirror in a bucket.",
    ]);
    expect(loadConfig({}, KEYS)).toEqual({
      problems: [
        "ALLCLEAR_MIRROR_KEY_ID is only for a mirror in a bucket.",
        "ALLCLEAR_MIRROR_SECRET is only for a mirror in a bucket.",
      ],
    });
  });

  test("addresses that are not those of a folder or a bucket are rejected without repeating them", () => {
    for (const wrong of [
      "",
      "/",
      "sftp://user:hidden-secret@host/path",
      "s3://AKIA1:hidden-secret@status/path",
      "s3://status?secret=hidden-secret",
    ]) {
      const problems = load(wrong, KEYS);
      expect(problems).toHaveLength(1);
      expect(String(problems)).toMatch(/^--mirror /);
      expect(String(problems)).not.toContain("hidden-secret");
    }
  });

  test("a folder that contains the data directory is rejected", () => {
    const message = "--mirror must not contain the data directory, which is private.";
    expect(load("/srv/data", { ALLCLEAR_DATA_DIR: "/srv/data" })).toEqual([message]);
    expect(load("/srv", { ALLCLEAR_DATA_DIR: "/srv/data" })).toEqual([message]);
    expect(load("/srv/data/mirror", { ALLCLEAR_DATA_DIR: "/srv/data" })).toBeObject();
    expect(load("/srv/data-mirror", { ALLCLEAR_DATA_DIR: "/srv/data" })).toBeObject();
    expect(load("/srv", { ALLCLEAR_DATA_DIR: "/srv/..data" })).toEqual([message]);
  });

  test("a folder that contains the data directory through a link is rejected", () => {
    using folder = temporaryFolder();
    const { path } = folder;
    mkdirSync(join(path, "site/data"), { recursive: true });
    symlinkSync("site/data", join(path, "data"));
    symlinkSync("site", join(path, "mirror"));
    const problem = [expect.stringContaining("must not contain the data directory")];
    const dataDir = (name: string) => ({ ALLCLEAR_DATA_DIR: join(path, name) });
    expect(load(join(path, "site"), dataDir("data"))).toEqual(problem);
    expect(load(join(path, "mirror"), dataDir("site/data/new"))).toEqual(problem);
    expect(load(join(path, "other"), dataDir("data"))).toBeObject();
  });

  test("the options reach another process as they are", () => {
    const loaded = loadConfig({ mirror: "s3://status" }, KEYS);
    if ("problems" in loaded) throw new Error(loaded.problems.join());
    expect(readConfig(writeConfig(loaded.config))).toEqual(loaded.config);
  });
});
