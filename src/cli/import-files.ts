import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import { OperatorError } from "../db/errors";
import type { OutputFile } from "../imports/found";
import type { Output } from "./command";

/** Writes the files of an import, and prints what they have. Throws an OperatorError. */
export function writeOutputFiles({ err }: Output, files: readonly OutputFile[]): void {
  for (const { path, text, summary } of files) {
    toFile("file", path, "", () => writePrivately(path, text));
    err(summary);
  }
}

/** Throws an OperatorError if a file cannot be written. Called before an import, so that one without its files is rare. */
export function requireWritable(noun: string, path: string): void {
  toFile(noun, path, "", () => closeSync(openSync(path, "a", 0o600)));
}

/** Replaces the content of a file that only this user can read, also if others could read it before. */
function writePrivately(path: string, text: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    // Not the modes of pipes and devices, which others use.
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes to a file, which only this user can read if it is new. Throws an OperatorError that begins with the result of
 * the import.
 */
export function toFile(noun: string, path: string, result: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new OperatorError(
      `${result}The ${noun} cannot be written to ${path}: ${(error as Error).message}.`,
    );
  }
}
