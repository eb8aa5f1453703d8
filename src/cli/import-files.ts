import { writeFileSync } from "node:fs";
import { OperatorError } from "../db";
import type { OutputFile } from "../features/imports";
import type { Output } from "./command";

/** Writes the files of an import, and prints what they have. Throws an OperatorError. */
export function writeOutputFiles({ err }: Output, files: readonly OutputFile[]): void {
  for (const { path, text, summary } of files) {
    toFile("file", path, "", () => writeFileSync(path, text, { mode: 0o600 }));
    err(summary);
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
