import { applyFile } from "../../src/features/apply/apply";
import { type ApplyOutcome, describeChange } from "../../src/features/apply/run";
import { readApplyFile } from "../../src/features/apply/read";
import { createPasswords } from "../../src/features/auth/passwords";
import { preparePasswords } from "../../src/features/pages/file";
import { CLI_ACTOR } from "../../src/base/actor";
import type { TestApp } from "./app";

/** Applies a configuration file. */
export async function apply(
  { ctx }: TestApp,
  text: string,
  prune = false,
  env: Record<string, string> = {},
): Promise<ApplyOutcome> {
  const file = readApplyFile(text, env);
  const passwords = await preparePasswords(ctx.db, file.content.pages, createPasswords());
  return ctx.db.write((tx) => applyFile(ctx, tx, file, { prune, actor: CLI_ACTOR, passwords }));
}

/** Describes the changes of an apply, one per line. */
export const linesOf = (outcome: ApplyOutcome): string[] => outcome.changes.map(describeChange);

/** Returns the error with which a configuration file is rejected. Throws if it is applied. */
export async function applyError(
  app: TestApp,
  text: string,
  env: Record<string, string> = {},
): Promise<string> {
  const error = await (async () => apply(app, text, false, env))().then(
    () => undefined,
    (rejection: Error) => rejection,
  );
  if (!error) throw new Error("the file was not rejected");
  return error.message;
}

/** Returns the number of the first line that contains a text. */
export function lineOf(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split("\n").length;
}
