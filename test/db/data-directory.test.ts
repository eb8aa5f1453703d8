import { spawnSync } from "node:child_process";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { openDataDirectory } from "../../src/db/data-directory";
import { type Child, startChild } from "../support/child";
import { temporaryFolder } from "../support/temporary-folder";

/** Nobody in particular: a user and a group that own nothing. */
const UID = 54_321;
const GID = 54_322;

const isRoot = process.getuid?.() === 0;
if (!isRoot) {
  console.warn("SKIPPED: the tests of a directory that is another user's; they need root.");
}

describe("a data directory", () => {
  test("a data directory and its missing parents are created for owner and group only", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "var", "lib", "allclear");
    expect(openDataDirectory(path)).toEqual({
      path,
      database: join(path, "allclear.db"),
      backups: join(path, "backups"),
    });
    expect(statSync(path).mode & 0o007).toBe(0);
    expect(openDataDirectory(path).path).toBe(path);
  });

  test("the database path is the target of a symbolic link, even if that does not exist yet", () => {
    using folder = temporaryFolder();
    const [data, disk] = [join(folder.path, "data"), join(folder.path, "disk")];
    mkdirSync(data);
    mkdirSync(disk);
    const database = join(disk, "status.db");
    symlinkSync("../disk/status.db", join(data, "allclear.db"));
    expect(openDataDirectory(data)).toMatchObject({ path: data, database });
    writeFileSync(database, "");
    expect(openDataDirectory(data)).toMatchObject({ path: data, database });
  });

  test("a data directory cannot be a file", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "file");
    writeFileSync(path, "");
    expect(() => openDataDirectory(path)).toThrow(OperatorError);
    expect(() => openDataDirectory(path)).toThrow(`${path} is not a directory.`);
    expect(() => openDataDirectory(join(path, "below"))).toThrow("is not a directory.");
  });
});

/** Makes a child process open the directory and returns the message that it prints. */
async function tryAs(child: Child): Promise<string> {
  child.send("try");
  return JSON.parse(await child.line()) as string;
}

/** Runs the command that a message advises, without its `sudo`: the test is root already. */
function followAdvice(message: string): string {
  const advice = message.split(":  ")[1] ?? "";
  const done = spawnSync("sh", ["-c", advice.replaceAll("sudo ", "")]);
  expect(done.status).toBe(0);
  return advice;
}

describe.skipIf(!isRoot)("a data directory that its user cannot write", () => {
  test("a data directory of another user is rejected with the chown command that corrects it", async () => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const path = join(folder.path, "its data");
    mkdirSync(path, { mode: 0o755 });
    await using child = startChild("open-directory-as.ts", path, String(UID), String(GID));

    const message = await tryAs(child);
    expect(message).toBe(
      [
        `The data directory ${path} cannot be written by user ${UID}.`,
        `Give it to that user:  sudo chown -R ${UID}:${GID} '${path}'`,
      ].join("\n"),
    );
    followAdvice(message);
    expect(await tryAs(child)).toBe("opened");
  });

  test("a data directory of its user without write permission is rejected with the chmod command that corrects it", async () => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const path = join(folder.path, "its data");
    mkdirSync(path);
    chownSync(path, UID, GID);
    chmodSync(path, 0o500);
    await using child = startChild("open-directory-as.ts", path, String(UID), String(GID));

    const message = await tryAs(child);
    expect(message).toBe(
      [
        `The data directory ${path} cannot be written by user ${UID}.`,
        `Let that user write it:  chmod u+rwx '${path}'`,
      ].join("\n"),
    );
    followAdvice(message);
    expect(await tryAs(child)).toBe("opened");
  });

  test.each(["allclear.db", "allclear.lock"])(
    "a read-only file %s of its user is rejected with the chmod command that corrects it",
    async (name) => {
      using folder = temporaryFolder();
      chmodSync(folder.path, 0o755);
      const path = join(folder.path, "data");
      mkdirSync(path, { mode: 0o750 });
      chownSync(path, UID, GID);
      const file = join(path, name);
      writeFileSync(file, "");
      chownSync(file, UID, GID);
      chmodSync(file, 0o440);
      await using child = startChild("open-directory-as.ts", path, String(UID), String(GID));

      const message = await tryAs(child);
      expect(message).toContain(`${file} cannot be written by user ${UID}.`);
      expect(followAdvice(message)).toBe(`chmod u+rw ${file}`);
      expect(await tryAs(child)).toBe("opened");
    },
  );

  test("a directory behind a link to the database is rejected with the chown command that corrects it", async () => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const path = join(folder.path, "data");
    const disk = join(folder.path, "disk");
    mkdirSync(path, { mode: 0o750 });
    chownSync(path, UID, GID);
    mkdirSync(disk, { mode: 0o755 });
    symlinkSync(join(disk, "allclear.db"), join(path, "allclear.db"));
    await using child = startChild("open-directory-as.ts", path, String(UID), String(GID));

    const message = await tryAs(child);
    expect(message).toContain(`The directory ${disk} of the database cannot be written`);
    expect(followAdvice(message)).toBe(`sudo chown -R ${UID}:${GID} ${disk}`);
    expect(await tryAs(child)).toBe("opened");
  });

  test("a data directory that cannot be created is rejected with commands that leave its parents unchanged", async () => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const path = join(folder.path, "lib", "allclear");
    await using child = startChild("open-directory-as.ts", path, String(UID), String(GID));

    const message = await tryAs(child);
    const advice = followAdvice(message);
    expect(advice).toBe(`sudo mkdir -p ${path} && sudo chown ${UID}:${GID} ${path}`);
    expect(await tryAs(child)).toBe("opened");
    expect(statSync(join(folder.path, "lib")).uid).toBe(0);
    expect(statSync(folder.path).uid).toBe(0);
  });

  test.each(["allclear.db", "allclear.db-wal", "allclear.db-shm", "allclear.lock"])(
    "a file %s of another user is rejected, since SQLite would open it read-only",
    async (name) => {
      using folder = temporaryFolder();
      chmodSync(folder.path, 0o755);
      const path = join(folder.path, "data");
      mkdirSync(path, { mode: 0o750 });
      chownSync(path, UID, GID);
      const file = join(path, name);
      writeFileSync(file, "");
      await using child = startChild("open-directory-as.ts", path, String(UID), String(GID));

      const message = await tryAs(child);
      expect(message).toContain(`${file} cannot be written by user ${UID}.`);
      expect(followAdvice(message)).toBe(`sudo chown -R ${UID}:${GID} ${path}`);
      expect(await tryAs(child)).toBe("opened");
      expect(existsSync(file)).toBe(true);
    },
  );
});
