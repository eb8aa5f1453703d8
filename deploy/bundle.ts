/** Entry points of the executable, and their division into parts that are loaded separately. */
import { join } from "node:path";
import type { BuildConfig } from "bun";
import { leftOut } from "./left-out";

const SRC = join(import.meta.dir, "..", "src");

/** Modules that run in threads of their own. */
const THREADS = ["features/monitors/assertions/assertion-thread.ts"];

export const BUNDLE = {
  entrypoints: ["main.ts", ...THREADS].map((file) => join(SRC, file)),
  target: "bun",
  format: "esm",
  // In parts, so that what a start does not need is read when something does.
  splitting: true,
  // Modules of threads lie in the executable's root, beside the part that starts them.
  naming: { entry: "[name].[ext]" },
  plugins: [leftOut()],
  // Else the executable names the folder in which it was built, and another folder gives another file. Only what
  // left-out.ts leaves out would use it.
  define: { __dirname: JSON.stringify("/") },
  // Never minified: routes break under Elysia's ahead-of-time compilation, and it saves nothing.
} as const satisfies BuildConfig;
