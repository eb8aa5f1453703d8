import { answerImport } from "../../src/cli/answer-import";
import type { Ctx } from "../../src/context";
import { createImportJobs, type ImportJobs, type RunImport } from "../../src/imports/jobs";
import { temporaryFolder } from "./temporary-folder";

/** Returns a function that imports in this process, since no other process can open a database in memory. */
export function importHere(ctx: Ctx): RunImport {
  return async (request, progress) => {
    let result: Awaited<ReturnType<RunImport>> | undefined;
    await answerImport(ctx, request, (message) => {
      if ("progress" in message) progress(message.progress);
      else result = message;
    });
    if (!result) throw new Error("the import gave no result");
    return result;
  };
}

/** Creates imports of the dashboard in a temporary data directory. */
export function createTestImports(
  ctx: Ctx,
  run: RunImport = importHere(ctx),
): Disposable & { imports: ImportJobs; directory: () => string } {
  let folder: ReturnType<typeof temporaryFolder> | undefined;
  const directory = () => (folder ??= temporaryFolder()).path;
  const imports = createImportJobs(ctx, { run, directory });
  return { imports, directory, [Symbol.dispose]: () => folder?.[Symbol.dispose]() };
}
