import {
  applyFile,
  type ApplyOutcome,
  describeChange,
  readApplyFile,
} from "../../src/features/apply";
import { CLI_ACTOR } from "../../src/domain/actor";
import type { TestApp } from "./app";

/** Makes an application what a declarative file says. */
export function apply(
  { ctx }: TestApp,
  text: string,
  prune = false,
  env: Record<string, string> = {},
): Promise<ApplyOutcome> {
  const file = readApplyFile(text, env);
  return ctx.db.write((tx) => applyFile(ctx, tx, file, { prune, actor: CLI_ACTOR }));
}

/** Describes the changes of an apply, one per line. */
export const linesOf = (outcome: ApplyOutcome): string[] => outcome.changes.map(describeChange);
