import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { encryptFile } from "../../src/features/backups/age";
import { backupName } from "../../src/features/backups/schedule";
import { DAY_MS } from "../../src/base/time";
import { commandLine } from "../support/command-line";
import { describeWithPrograms } from "../support/fleet/describe";
import { type S3Server, startS3 } from "../support/fleet/s3";
import { temporaryFolder } from "../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

const START = Date.parse("2026-11-01T03:00:00Z");
const PLAIN = backupName(START, false);
const ENCRYPTED = backupName(START + DAY_MS, true);

/** A folder with two backups, of which the newer one is encrypted and has one key more, and a database to replace. */
async function createSite(parent = temporaryFolder()) {
  const path = (name: string) => join(parent.path, name);
  const source = commandLine(path("source"));
  const create = ["key", "create", "--scope", "read:status", "--name"];
  mkdirSync(path("backups"));
  await source([...create, "first"]);
  await source(["backup", path("first.db")]);
  copyFileSync(path("first.db"), path(`backups/${PLAIN}`));
  await source([...create, "second"]);
  await source(["backup", path("second.db")]);
  const identity = await generateX25519Identity();
  await encryptFile(path("second.db"), path(`backups/${ENCRYPTED}`), [
    await identityToRecipient(identity),
  ]);
  writeFileSync(path("identity.txt"), `# created: today\n${identity}\n`);
  writeFileSync(path("other.txt"), `${await generateX25519Identity()}\n`);
  for (const name of ["zzz.txt", "allclear-backup-2027-01-01T03-00-00Z.db.part"]) {
    writeFileSync(path(`backups/${name}`), "not a backup");
  }
  const dataDir = path("data");
  const run = commandLine(dataDir);
  await run([...create, "present"]);
  return {
    path,
    dataDir,
    run,
    identity,
    names: async () => {
      const { out } = await run(["key", "list", "--json"]);
      return (JSON.parse(out.join("\n")) as { name: string }[]).map(({ name }) => name).toSorted();
    },
    /** Files of the data directory that are no part of the database. */
    leftovers: () => readdirSync(dataDir).filter((name) => !/^allclear\.(db|lock)/.test(name)),
    [Symbol.dispose]: parent[Symbol.dispose],
  };
}

type Site = Awaited<ReturnType<typeof createSite>>;

/** Runs a restore that must fail, and expects that the database is the same. Returns its message. */
async function refused(site: Site, args: string[], env: Record<string, string> = {}) {
  const before = readFileSync(join(site.dataDir, "allclear.db"));
  const { exitCode, err } = await site.run(["restore", ...args], env);
  expect(exitCode).not.toBe(0);
  expect(readFileSync(join(site.dataDir, "allclear.db"))).toEqual(before);
  expect(site.leftovers()).toEqual([]);
  const text = err.join("\n");
  expect(text).not.toContain(site.identity);
  expect(text).not.toContain(" at ");
  return text;
}

describe("allclear restore --from a folder", () => {
  test("the newest of its backups is decrypted, verified and restored", async () => {
    using site = await createSite();
    const from = ["--from", site.path("backups"), "--identity", site.path("identity.txt")];
    const { exitCode, err } = await site.run(["restore", ...from]);
    expect([exitCode, err[0]]).toEqual([
      0,
      `Restored ${site.path(`backups/${ENCRYPTED}`)}. All sessions have ended, and one-time links no longer work.`,
    ]);
    expect(err.join("\n")).not.toContain("has no digest");
    expect(await site.names()).toEqual(["first", "second"]);
    expect(site.leftovers()).toEqual([]);
  });

  test("a file in it is restored by its path, with FILE too, and a plain one needs no identity", async () => {
    using site = await createSite();
    expect(
      await site.run(["restore", "--from", `file://${site.path(`backups/${PLAIN}`)}`]),
    ).toEqual(expect.objectContaining({ exitCode: 0 }));
    expect(await site.names()).toEqual(["first"]);
    const file = site.path(`backups/${ENCRYPTED}`);
    expect(await refused(site, [file])).toContain(`${file} is encrypted.`);
    const { exitCode } = await site.run(["restore", file, "--identity", site.path("identity.txt")]);
    expect([exitCode, await site.names()]).toEqual([0, ["first", "second"]]);
  });

  test("a wrong, missing or unreadable identity changes nothing", async () => {
    using site = await createSite();
    const from = ["--from", site.path("backups")];
    expect(await refused(site, from)).toContain("--identity FILE");
    expect(await refused(site, [...from, "--identity", site.path("other.txt")])).toBe(
      `${site.path(`backups/${ENCRYPTED}`)} is encrypted for other recipients than the identities in ${site.path("other.txt")}.`,
    );
    expect(await refused(site, [...from, "--identity", site.path("none.txt")])).toContain(
      "cannot be read",
    );
  });

  test.each([100, 5_000, 120_000])(
    "a backup without its last %i bytes changes nothing",
    async (cut) => {
      using site = await createSite();
      for (const name of [PLAIN, ENCRYPTED]) {
        const file = site.path(`backups/${name}`);
        truncateSync(file, readFileSync(file).length - cut);
        expect(
          await refused(site, ["--from", file, "--identity", site.path("identity.txt")]),
        ).toContain(file);
      }
    },
  );

  test("an encrypted file that holds no backup changes nothing, and is named", async () => {
    using site = await createSite();
    const file = site.path("notes.age");
    writeFileSync(site.path("notes"), "hello");
    await encryptFile(site.path("notes"), file, [await identityToRecipient(site.identity)]);
    expect(await refused(site, ["--from", file, "--identity", site.path("identity.txt")])).toBe(
      `${file} is not an Allclear database, or it is damaged.`,
    );
  });

  test("a folder without backups, and none, are named", async () => {
    using site = await createSite();
    mkdirSync(site.path("empty"));
    expect(await refused(site, ["--from", site.path("empty")])).toBe(
      `There is no backup in ${site.path("empty")}.`,
    );
    expect(await refused(site, ["--from", site.path("none")])).toBe(
      `There is no file or folder ${site.path("none")}.`,
    );
    expect(await refused(site, ["--from", "ftp://host/x"])).toBe(
      "The address after --from must begin with s3:// or file://.",
    );
  });

  test("one source is named", async () => {
    using site = await createSite();
    expect(await refused(site, [])).toContain("FILE is missing.");
    expect(await refused(site, ["a.db", "--from", "b.db"])).toContain("Unexpected: a.db");
    const env = { ALLCLEAR_FLEET_STORE: "file:///store", ALLCLEAR_FLEET_SECRET: "x".repeat(32) };
    expect(await refused(site, ["--from", "b.db", "--from-store"], env)).toContain(
      "--from cannot be used with --from-store.",
    );
  });

  test.skipIf(!hasTinyDisks())(
    "a disk without room for the decrypted backup changes nothing",
    async () => {
      using disk = mountTinyDisk("16m");
      using site = await createSite({ path: disk.path, [Symbol.dispose]() {} });
      disk.fill(150_000);
      const args = ["--from", site.path("backups"), "--identity", site.path("identity.txt")];
      expect(await refused(site, args)).toContain("ENOSPC");
      disk.free();
      expect((await site.run(["restore", ...args])).exitCode).toBe(0);
      expect(await site.names()).toEqual(["first", "second"]);
    },
  );
});

await describeWithPrograms("allclear restore --from a bucket", { go: ["versitygw"] }, () => {
  let server: S3Server;
  let site: Site;
  let env: Record<string, string>;
  beforeAll(async () => {
    server = await startS3();
    site = await createSite();
    env = {
      ALLCLEAR_BACKUP_STORE_KEY_ID: server.credentials.keyId,
      ALLCLEAR_BACKUP_STORE_SECRET: server.credentials.secret,
    };
    const store = server.open("acme/nightly");
    for (const name of readdirSync(site.path("backups"))) {
      await store.upload(name, site.path(`backups/${name}`));
    }
    const bytes = readFileSync(site.path(`backups/${ENCRYPTED}`));
    await server.open("acme/cut").put(ENCRYPTED, bytes.subarray(0, bytes.length - 70_000));
    const plain = readFileSync(site.path(`backups/${PLAIN}`));
    await server.open("acme/cut").put("plain.db", plain.subarray(0, plain.length - 70_000));
    await server.open("acme").put("notes/readme.txt", Buffer.from("hello"));
  }, 600_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    site?.[Symbol.dispose]();
  });

  const identity = () => ["--identity", site.path("identity.txt")];

  test.each([
    ["a path", "acme/nightly", ENCRYPTED],
    ["a path with a slash at its end", "acme/nightly/", ENCRYPTED],
    ["an object", `acme/nightly/${PLAIN}`, PLAIN],
    ["the beginning of a name", "acme/nightly/allclear-backup-2026-11-01", PLAIN],
  ])("%s leads to a backup", async (_, path, name) => {
    const args = ["restore", "--from", server.urlOf(path), ...identity()];
    const { exitCode, err } = await site.run(args, env);
    expect([exitCode, err[0]]).toEqual([
      0,
      `Restored s3://allclear-test/acme/nightly/${name}. All sessions have ended, and one-time links no longer work.`,
    ]);
    expect(err.join("\n")).not.toContain("has no digest");
    expect(await site.names()).toEqual(name === PLAIN ? ["first"] : ["first", "second"]);
    expect(site.leftovers()).toEqual([]);
  });

  test("wrong credentials change nothing", async () => {
    const from = ["--from", server.urlOf("acme/nightly"), ...identity()];
    const wrong = { ...env, ALLCLEAR_BACKUP_STORE_SECRET: "wrong-secret" };
    const text = await refused(site, from, wrong);
    expect(text).toContain("403 SignatureDoesNotMatch");
    expect(text).not.toContain("wrong-secret");
    expect(await refused(site, from)).toBe(
      "A bucket needs ALLCLEAR_BACKUP_STORE_KEY_ID and ALLCLEAR_BACKUP_STORE_SECRET.",
    );
  });

  test("a wrong identity changes nothing", async () => {
    const args = ["--from", server.urlOf("acme/nightly"), "--identity", site.path("other.txt")];
    expect(await refused(site, args, env)).toContain(
      `s3://allclear-test/acme/nightly/${ENCRYPTED} is encrypted for other recipients`,
    );
  });

  test("a truncated object changes nothing", async () => {
    const from = (path: string) => ["--from", server.urlOf(path), ...identity()];
    expect(await refused(site, from("acme/cut"), env)).toBe(
      `s3://allclear-test/acme/cut/${ENCRYPTED} could not be decrypted: it is damaged or incomplete.`,
    );
    expect(await refused(site, from("acme/cut/plain.db"), env)).toMatch(
      /^s3:\/\/allclear-test\/acme\/cut\/plain\.db .*damaged/,
    );
  });

  test("a path without backups, and a missing object, are named", async () => {
    const from = (path: string) => ["--from", server.urlOf(path)];
    expect(await refused(site, from("acme/notes"), env)).toBe(
      "There is no backup in s3://allclear-test/acme/notes.",
    );
    const missing = backupName(0, false);
    expect(await refused(site, from(`acme/nightly/${missing}`), env)).toBe(
      `There is no object s3://allclear-test/acme/nightly/${missing}.`,
    );
  });

  test("a store that cannot be reached is named", async () => {
    const from = ["--from", server.urlOf("acme/nightly", { port: 1 })];
    expect(await refused(site, from, env)).toContain("cannot be reached");
  });

  test("nothing is downloaded while a server uses the data directory", async () => {
    using other = await createSite();
    expect(existsSync(other.dataDir)).toBe(true);
    const { lockForServer } = await import("../../src/installation");
    const { openDataDirectory } = await import("../../src/db/data-directory");
    const lock = lockForServer(openDataDirectory(other.dataDir));
    const from = ["--from", server.urlOf("acme/nightly", { port: 1 }), ...identity()];
    const { exitCode, err } = await other.run(["restore", ...from], env);
    lock.release();
    expect([exitCode, err[0]]).toEqual([1, expect.stringContaining("is in use by process")]);
  });
});
