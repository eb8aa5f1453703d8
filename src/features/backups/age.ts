/* Encrypted backups, in the format of age (age-encryption.org). Files are read and written in pieces. */
import { open } from "node:fs/promises";
import type { Decrypter } from "age-encryption";
import { OperatorError } from "../../db/errors";

/** First line of an encrypted file. */
const FIRST_LINE = "age-encryption.org/v1\n";

/** Maximum size of a file with identities, in bytes. */
const IDENTITIES_MAX_BYTES = 64 * 1_024;

/** Mode of the written files: only their owner can open them. */
const PRIVATE_MODE = 0o600;

/** Encrypts a file into a new one for recipients, as their option has parsed them. */
export async function encryptFile(
  from: string,
  to: string,
  recipients: readonly string[],
): Promise<void> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  await writeStream(await encrypter.encrypt(Bun.file(from).stream()), to);
}

/** Returns true for an encrypted file. */
export async function isEncrypted(file: string): Promise<boolean> {
  return (await Bun.file(file).slice(0, FIRST_LINE.length).text()) === FIRST_LINE;
}

/** Decrypts a file into a new one. `name` begins the messages. Throws an OperatorError. */
export async function decryptFile(
  from: string,
  to: string,
  { name, identityFile }: { name: string; identityFile: string | undefined },
): Promise<void> {
  if (identityFile === undefined) {
    throw new OperatorError(
      `${name} is encrypted. Name the file with the identity of one of its recipients:  --identity FILE`,
    );
  }
  const decrypter = await readIdentities(identityFile);
  const source = Bun.file(from).stream();
  let content: ReadableStream<Uint8Array>;
  try {
    content = await decrypter.decrypt(source);
  } catch (error) {
    const isOther = /no identity matched/.test((error as Error).message);
    throw new OperatorError(
      isOther
        ? `${name} is encrypted for other recipients than the identities in ${identityFile}.`
        : `${name} is damaged: the beginning of the encrypted file cannot be read.`,
    );
  }
  try {
    await writeStream(content, to);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The cipher proves each piece, and which one is the last.
    const reason = code === undefined ? "it is damaged or incomplete" : message;
    throw new OperatorError(`${name} could not be decrypted: ${reason}.`);
  }
}

/** Reads the identities of a file as age-keygen writes it. No message contains one. Throws an OperatorError. */
async function readIdentities(file: string): Promise<Decrypter> {
  let text: string;
  try {
    text = await Bun.file(file)
      .slice(0, IDENTITIES_MAX_BYTES + 1)
      .text();
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}`, error);
  }
  const lines = text.split("\n").map((line) => line.trim());
  const identities = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  try {
    if (identities.length === 0 || text.length > IDENTITIES_MAX_BYTES) throw new Error();
    for (const identity of identities) decrypter.addIdentity(identity);
  } catch {
    throw new OperatorError(
      `${file} must hold identities as age-keygen writes them, one per line, each beginning with AGE-SECRET-KEY-, without a passphrase.`,
    );
  }
  return decrypter;
}

/** Writes a stream into a new file, and to the disk. */
async function writeStream(stream: ReadableStream<Uint8Array>, file: string): Promise<void> {
  await using target = await open(file, "wx", PRIVATE_MODE);
  for await (const piece of stream) await target.writeFile(piece);
  await target.sync();
}
