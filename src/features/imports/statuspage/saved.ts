import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../../db/errors";
import { readText } from "../read-text";
import type { SourceDocuments } from "./document";
import { Documents, parseDocument } from "./documents";

/** Names of the files of a folder, without `.json`, in the order in which they are read. */
const FILES = [
  "page",
  "summary",
  "component-groups",
  "components",
  "incidents",
  "scheduled-maintenances",
  "scheduled_maintenances",
];

/** Reads a saved document, or a folder of them. Throws an OperatorError. */
export async function readSaved(path: string): Promise<SourceDocuments> {
  const documents = new Documents();
  if (isFolder(path)) {
    const names = new Set(readdirSync(path));
    const files = FILES.filter((name) => names.has(`${name}.json`));
    if (files.length === 0) {
      throw new OperatorError(
        `${path} has none of ${FILES.map((name) => `${name}.json`).join(", ")}.`,
      );
    }
    for (const name of files) await addFile(documents, join(path, `${name}.json`), name);
  } else {
    await addFile(documents, path);
  }
  const all = documents.all();
  if (all.page !== undefined) return all;
  throw new OperatorError(`${path} has no page. Save summary.json too.`);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read: ${message}`,
    );
  }
}

async function addFile(documents: Documents, path: string, name?: string): Promise<void> {
  if (documents.add(parseDocument(await readText(path), path), name)) return;
  throw new OperatorError(`${path} is no document of Statuspage.`);
}
