import { describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { loadConfig, readConfig, writeConfig } from "../../../src/base/config/load";

const KEYS = {
  ALLCLEAR_BACKUP_STORE_KEY_ID: "AKIA1",
  ALLCLEAR_BACKUP_STORE_SECRET: "hidden-secret",
};
const RECIPIENT = "age1t2zfvvh9yslfd20w0wjrakyashjzkqdz85sjh6r2xhq7p84dlg0s06suxf";

function load(flags: Parameters<typeof loadConfig>[0], env: Record<string, string> = {}) {
  const loaded = loadConfig(flags, env);
  if ("problems" in loaded) return loaded.problems;
  const { backupTo, backupAt, backupKeep, backupAgeRecipient } = loaded.config;
  return { backupTo, backupAt, backupKeep, backupAgeRecipient };
}

describe("the options of scheduled backups", () => {
  test("without a place, no backup is scheduled", () => {
    expect(load({})).toEqual({
      backupTo: undefined,
      backupAt: 180,
      backupKeep: 14,
      backupAgeRecipient: [],
    });
  });

  test("a place is a folder or a bucket with credentials", () => {
    expect(load({ backupTo: "backups", backupAt: "23:59", backupKeep: "0" })).toEqual({
      backupTo: { kind: "folder", path: resolve("backups") },
      backupAt: 23 * 60 + 59,
      backupKeep: 0,
      backupAgeRecipient: [],
    });
    expect(load({ backupTo: "s3://acme/nightly?region=eu-1" }, KEYS)).toMatchObject({
      backupTo: { kind: "s3", bucket: "acme", path: "nightly", region: "eu-1" },
    });
    expect(load({ backupTo: "s3://acme" })).toEqual([
      "ALLCLEAR_BACKUP_STORE_KEY_ID is required for backups in a bucket.",
      "ALLCLEAR_BACKUP_STORE_SECRET is required for backups in a bucket.",
    ]);
  });

  test("credentials alone are accepted, since a restore needs no more", () => {
    expect(load({}, KEYS)).toMatchObject({ backupTo: undefined });
  });

  test("options without a place are rejected", () => {
    expect(load({ backupAt: "04:00", backupAgeRecipient: RECIPIENT })).toEqual([
      "--backup-at requires --backup-to.",
      "--backup-age-recipient requires --backup-to.",
    ]);
    expect(load({}, { ALLCLEAR_BACKUP_KEEP: "3" })).toEqual([
      "ALLCLEAR_BACKUP_KEEP requires --backup-to.",
    ]);
  });

  test.each(["3:00", "24:00", "03:60", "03:00:00", "0300", ""])(
    "the time %p is rejected",
    (backupAt) => {
      expect(load({ backupTo: "/backups", backupAt })).toEqual([
        `--backup-at must be a time of day in UTC, such as 03:00; it is "${backupAt}".`,
      ]);
    },
  );

  test("several recipients are separated by commas or spaces", () => {
    const backupAgeRecipient = `${RECIPIENT}, ${RECIPIENT}`;
    expect(load({ backupTo: "/backups", backupAgeRecipient })).toMatchObject({
      backupAgeRecipient: [RECIPIENT, RECIPIENT],
    });
  });

  test.each([
    `${RECIPIENT.slice(0, -1)}q`,
    RECIPIENT.slice(0, -1),
    "age1",
    "ssh-ed25519",
    "age1yubikey1q0",
    RECIPIENT.toUpperCase(),
  ])("the recipient %p is rejected", (backupAgeRecipient) => {
    expect(load({ backupTo: "/backups", backupAgeRecipient })).toEqual([
      "--backup-age-recipient must list public keys as age-keygen prints them, which begin with age1.",
    ]);
  });

  test("an identity in the place of a recipient is rejected and not repeated", () => {
    const backupAgeRecipient = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQ";
    const problems = load({ backupTo: "/backups", backupAgeRecipient });
    expect(problems).toEqual([
      "--backup-age-recipient must be the public key, which begins with age1, and not the identity.",
    ]);
  });

  test("a place in the mirror is rejected, since everybody can read the mirror", () => {
    const message = "--backup-to must not be in the mirror, which everybody can read.";
    expect(load({ backupTo: "/srv/www/backups", mirror: "/srv/www" })).toEqual([message]);
    expect(load({ backupTo: "/srv/backups", mirror: "/srv/www" })).not.toEqual([message]);
    const keys = {
      ...KEYS,
      ALLCLEAR_MIRROR_KEY_ID: "AKIA1",
      ALLCLEAR_MIRROR_SECRET: "hidden-secret",
    };
    const bucket = (backupTo: string, mirror: string) => load({ backupTo, mirror }, keys);
    expect(bucket("s3://acme/a/b", "s3://acme/a")).toEqual([message]);
    expect(bucket("s3://acme/a", "s3://acme/a")).toEqual([message]);
    expect(bucket("s3://acme/a", "s3://acme")).toEqual([message]);
    const amazon = "endpoint=https://s3.eu-central-1.amazonaws.com";
    expect(bucket(`s3://acme/a/b?${amazon}`, "s3://acme/a?region=eu-central-1")).toEqual([message]);
    const own = (port: number) => `s3://acme/a?endpoint=https://store.example.com:${port}`;
    expect(bucket(own(1), own(1))).toEqual([message]);
    expect(bucket(own(1), own(2))).toMatchObject({ backupKeep: 14 });
    expect(bucket("s3://acme/ab", "s3://acme/a")).toMatchObject({ backupKeep: 14 });
    expect(bucket("s3://other/a/b", "s3://acme/a")).toMatchObject({ backupKeep: 14 });
  });

  test("addresses are rejected without repeating them", () => {
    const problems = load({ backupTo: "s3://AKIA1:hidden-secret@acme/a" }, KEYS);
    expect(problems).toEqual([
      "--backup-to must not contain credentials, which have options of their own.",
    ]);
  });

  test("the settings reach another process of the program", () => {
    const flags = { backupTo: "/backups", backupAgeRecipient: RECIPIENT };
    const loaded = loadConfig(flags, {});
    if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
    const { backupTo, backupAt, backupAgeRecipient } = readConfig(writeConfig(loaded.config));
    expect({ backupTo, backupAt, backupAgeRecipient }).toEqual({
      backupTo: { kind: "folder", path: "/backups" },
      backupAt: 180,
      backupAgeRecipient: [RECIPIENT],
    });
  });
});
