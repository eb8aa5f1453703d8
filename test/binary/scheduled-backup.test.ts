import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, holds, PROCESS_TEST_MS, type Server } from "../support/binary";
import { describeWithPrograms } from "../support/fleet/describe";
import { type S3Server, startS3 } from "../support/fleet/s3";

setDefaultTimeout(PROCESS_TEST_MS);

/** Waits until a server has logged a line. */
const logged = (server: Server, line: string) =>
  holds(async () => server.stderr().includes(`"msg":"${line}"`));

const WRITTEN = "a scheduled backup was written";
const FAILED = "a scheduled backup failed; trying again";

await describeWithPrograms("scheduled backups in a bucket", { go: ["versitygw"] }, () => {
  let bucket: S3Server;
  beforeAll(async () => {
    bucket = await startS3();
  });
  afterAll(() => bucket?.[Symbol.asyncDispose]());

  const credentials = () => ({
    ALLCLEAR_BACKUP_STORE_KEY_ID: bucket.credentials.keyId,
    ALLCLEAR_BACKUP_STORE_SECRET: bucket.credentials.secret,
  });

  test("a server writes an encrypted backup, from which another one is restored", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { value: key } = await site.createKey(["read:status"]);
    const identity = await generateX25519Identity();
    writeFileSync(site.path("identity.txt"), `${identity}\n`);
    writeFileSync(site.path("other.txt"), `${await generateX25519Identity()}\n`);
    writeFileSync(site.path("secret"), `${bucket.credentials.secret}\n`);
    const recipient = await identityToRecipient(identity);
    const place = bucket.urlOf("acme/nightly");
    const named = ["--base-url", "https://status.example.com"];
    const server = await site.serve({
      args: [...named, "--backup-to", place, "--backup-age-recipient", recipient],
      env: {
        ALLCLEAR_BACKUP_STORE_KEY_ID: bucket.credentials.keyId,
        ALLCLEAR_BACKUP_STORE_SECRET_FILE: site.path("secret"),
      },
    });
    expect(await logged(server, WRITTEN)).toBe(true);
    const [object, ...others] = readdirSync(join(bucket.objects, "acme/nightly"));
    expect(object).toMatch(/^allclear-backup-.*Z\.db\.age$/);
    expect(others).toEqual([]);
    expect(readdirSync(join(site.dataDir, "backups"))).toEqual([]);
    const document = async (from: Server) =>
      (await from.fetch("/api/v1/status/acme", { key })).text();
    const before = await document(server);
    expect(server.stderr()).not.toContain(bucket.credentials.secret);
    expect(await server.stop()).toBe(0);

    await using other = await createInstallation();
    const restore = (identityFile: string) =>
      other.run(["restore", "--from", place, "--identity", site.path(identityFile)], {
        env: credentials(),
      });
    const refused = await restore("other.txt");
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("is encrypted for other recipients"),
    ]);
    const { exitCode, stderr } = await restore("identity.txt");
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining(`Restored s3://allclear-test/acme/nightly/${object}.`),
    ]);
    expect(await document(await other.serve({ args: named }))).toBe(before);
  });

  test("a server that is killed while it uploads leaves nothing that a restore takes, and the next start writes a backup", async () => {
    await using site = await createInstallation();
    const env = credentials();
    const args = ["--backup-to", bucket.urlOf("acme/killed")];
    bucket.freeze();
    const staged = () =>
      readdirSync(join(site.dataDir, "backups")).filter((name) => name.endsWith(".db"));
    try {
      const server = await site.serve({ args, env });
      expect(await holds(async () => existsIn(site.dataDir) && staged().length === 1)).toBe(true);
      await server.kill();
      expect(staged()).toHaveLength(1);
    } finally {
      bucket.thaw();
    }
    const next = await site.serve({ args, env });
    expect(await logged(next, WRITTEN)).toBe(true);
    expect(await next.stop()).toBe(0);
    expect(staged()).toEqual([]);
    // The store may have taken the whole request before the server was killed.
    const restored = await site.run(["restore", "--from", bucket.urlOf("acme/killed")], { env });
    expect(restored.exitCode).toBe(0);
    expect(restored.stderr).not.toContain("has no digest");
  });

  test("wrong credentials raise an alarm without their secret", async () => {
    await using site = await createInstallation();
    const server = await site.serve({
      args: ["--backup-to", bucket.urlOf("acme/refused")],
      env: { ...credentials(), ALLCLEAR_BACKUP_STORE_SECRET: "wrong-secret" },
    });
    expect(await logged(server, FAILED)).toBe(true);
    expect(await logged(server, "alarm: Backup not complete")).toBe(true);
    expect(server.stderr()).toContain("403 SignatureDoesNotMatch");
    expect(server.stderr()).not.toContain("wrong-secret");
    expect((await server.fetch("/readyz")).status).toBe(200);
  });
});

const existsIn = (dataDir: string) => readdirSync(dataDir).includes("backups");

describe.skipIf(process.getuid?.() !== 0)("a server of another user", () => {
  test("a folder that it may not write raises an alarm, and its pages are served", async () => {
    await using site = await createInstallation({ userId: 65_534 });
    const place = site.path("place");
    mkdirSync(place, { mode: 0o755 });
    const server = await site.serve({ args: ["--backup-to", place] });
    expect(await logged(server, "alarm: Backup not complete")).toBe(true);
    expect(server.stderr()).toContain("EACCES: permission denied");
    expect((await server.fetch("/readyz")).status).toBe(200);
    expect(readdirSync(join(site.dataDir, "backups"))).toEqual([]);
    expect(readdirSync(place)).toEqual([]);
  });
});
