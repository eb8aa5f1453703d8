/** Runs `allclear` as a program of another version: `bun allclear-as.ts VERSION ARGUMENT…`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [version = ""] = process.argv.splice(2, 1);
const file = join(import.meta.dir, "../../../package.json");
Bun.plugin({
  name: "version",
  setup(build) {
    build.onLoad({ filter: new RegExp(`^${RegExp.escape(file)}$`) }, () => {
      const fields = JSON.parse(readFileSync(file, "utf8")) as object;
      const exports = { ...fields, version };
      return { loader: "object", exports: { ...exports, default: exports } };
    });
  },
});
await import("../../../src/main");
