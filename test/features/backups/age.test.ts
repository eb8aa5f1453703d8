import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { decryptFile, encryptFile, isEncrypted } from "../../../src/features/backups/age";
import { temporaryFolder } from "../../support/temporary-folder";

/** Size of the pieces that age encrypts, in bytes. */
const PIECE = 64 * 1_024;

async function createFiles(size: number) {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  const content = Buffer.alloc(size, "0123456789");
  writeFileSync(path("plain"), content);
  const [own, other] = [await generateX25519Identity(), await generateX25519Identity()];
  writeFileSync(path("own.txt"), `# created: today\n# public key: age1\n${own}\n`);
  writeFileSync(path("other.txt"), `${other}\r\n`);
  await encryptFile(path("plain"), path("file"), [await identityToRecipient(own)]);
  return {
    path,
    content,
    own,
    other,
    decrypt: (identity: string | undefined, from = "file") =>
      decryptFile(path(from), path("decrypted"), {
        name: "the-backup",
        identityFile: identity && path(identity),
      }),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

describe("an encrypted backup", () => {
  test.each([1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 1_000_003])(
    "%i bytes are decrypted as they were, and only their owner can open either file",
    async (size) => {
      using files = await createFiles(size);
      expect(await isEncrypted(files.path("file"))).toBe(true);
      expect(await isEncrypted(files.path("plain"))).toBe(false);
      await files.decrypt("own.txt");
      expect(readFileSync(files.path("decrypted"))).toEqual(files.content);
      for (const name of ["file", "decrypted"]) {
        expect(statSync(files.path(name)).mode & 0o777).toBe(0o600);
      }
    },
  );

  test("each of several recipients can decrypt it, and a file can hold several identities", async () => {
    using files = await createFiles(100);
    const recipients = await Promise.all([files.own, files.other].map(identityToRecipient));
    await encryptFile(files.path("plain"), files.path("both"), recipients);
    await files.decrypt("other.txt", "both");
    writeFileSync(files.path("ring.txt"), `${files.other}\n\n${files.own}\n`);
    await decryptFile(files.path("file"), files.path("again"), {
      name: "the-backup",
      identityFile: files.path("ring.txt"),
    });
    expect(readFileSync(files.path("again"))).toEqual(files.content);
  });

  test("another identity is refused by name", async () => {
    using files = await createFiles(100);
    await expect(files.decrypt("other.txt")).rejects.toThrow(
      `the-backup is encrypted for other recipients than the identities in ${files.path("other.txt")}.`,
    );
    expect(existsSync(files.path("decrypted"))).toBe(false);
  });

  test("without an identity it says which option is missing", async () => {
    using files = await createFiles(100);
    await expect(files.decrypt(undefined)).rejects.toThrow("--identity FILE");
  });

  test.each([
    "",
    "# nothing\n",
    "AGE-SECRET-KEY-1NOTONE\n",
    "age1t2zfvvh9yslfd20w0wjrakyashjzkqdz85sjh6r2xhq7p84dlg0s06suxf\n",
    `#${"x".repeat(PIECE)}\n`,
  ])("a file without identities is refused without repeating it", async (text) => {
    using files = await createFiles(100);
    writeFileSync(files.path("bad.txt"), text);
    const error = await files.decrypt("bad.txt").catch((reason: Error) => reason);
    expect(String(error)).toContain(`${files.path("bad.txt")} must hold identities`);
    expect(String(error)).not.toContain("NOTONE");
    await expect(files.decrypt("missing.txt")).rejects.toThrow("cannot be read");
  });

  test.each([
    ["in a piece", (size: number) => size - 2 * PIECE],
    ["between two pieces", (size: number) => size - (PIECE + 16)],
    ["by its last byte", (size: number) => size - 1],
    ["in its header", () => 60],
  ])("a file that was cut %s is refused", async (_, sizeOf) => {
    using files = await createFiles(3 * PIECE);
    const encrypted = readFileSync(files.path("file"));
    writeFileSync(files.path("cut"), encrypted.subarray(0, sizeOf(encrypted.length)));
    await expect(files.decrypt("own.txt", "cut")).rejects.toThrow(/^the-backup .*damaged/);
  });

  test("a changed byte is found", async () => {
    using files = await createFiles(3 * PIECE);
    const encrypted = readFileSync(files.path("file"));
    const at = encrypted.length - 2 * PIECE;
    encrypted.writeUInt8(encrypted.readUInt8(at) ^ 1, at);
    writeFileSync(files.path("changed"), encrypted);
    await expect(files.decrypt("own.txt", "changed")).rejects.toThrow(
      "the-backup could not be decrypted: it is damaged or incomplete.",
    );
  });

  test("no existing file is replaced", async () => {
    using files = await createFiles(10);
    writeFileSync(files.path("decrypted"), "mine");
    await expect(files.decrypt("own.txt")).rejects.toThrow("EEXIST");
    expect(readFileSync(files.path("decrypted"), "utf8")).toBe("mine");
  });
});
