/**
 * Lists the messages that a catalog lacks, which are shown in English. Exits with 1 if there are any, so that no release
 * lacks one.
 */
import { join } from "node:path";
import { Glob } from "bun";
import english from "../src/languages/en.json";

const FOLDER = join(import.meta.dir, "..", "src", "languages");

/** Returns the missing messages as "de.json: open.title", by file and in the order of the English catalog. */
export async function listMissingMessages(): Promise<string[]> {
  const files = (await Array.fromAsync(new Glob("*.json").scan(FOLDER))).toSorted();
  const missing = files.map(async (file) => {
    const { messages } = (await Bun.file(join(FOLDER, file)).json()) as typeof english;
    const own: Readonly<Record<string, string>> = messages;
    return Object.keys(english.messages).flatMap((key) =>
      own[key]?.trim() ? [] : [`${file}: ${key}`],
    );
  });
  return (await Promise.all(missing)).flat();
}

if (import.meta.main) {
  const missing = await listMissingMessages();
  for (const line of missing) console.error(line);
  if (missing.length > 0) process.exit(1);
}
