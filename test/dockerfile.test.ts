import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { temporaryFolder } from "./support/temporary-folder";

const REPOSITORY = join(import.meta.dir, "..");
const DOCKERFILE = readFileSync(join(REPOSITORY, "Dockerfile"), "utf8");
const IGNORED = readFileSync(join(REPOSITORY, ".dockerignore"), "utf8");

/** Finds the imports of deploy/build.ts, and bundles as it does, but makes no executable. */
const BUNDLE = `
  await Bun.build({ entrypoints: ["deploy/build.ts"], target: "bun" });
  const { BUNDLE } = await import("./deploy/bundle");
  const { outputs } = await Bun.build(BUNDLE);
  console.log(outputs.length > 0);
`;

/** Returns true if .dockerignore lets a file into the build. The last line that matches decides. */
function isSent(file: string): boolean {
  let isSent = true;
  for (const line of IGNORED.split("\n").filter((text) => text !== "" && !text.startsWith("#"))) {
    const pattern = line.replace(/^!/, "");
    const matches = [pattern, `${pattern}/**`].some((glob) => new Bun.Glob(glob).match(file));
    if (matches) isSent = line.startsWith("!");
  }
  return isSent;
}

/** Returns the files that the first stage of the Dockerfile copies. */
function copiedFiles(): string[] {
  const [, stage = ""] = DOCKERFILE.split(/^FROM .*$/m);
  return [...stage.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, sources = ""]) =>
    sources.split(" ").flatMap((source) => {
      const found = [source, `${source}/**`]
        .flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: REPOSITORY, dot: true })])
        .filter(isSent);
      if (found.length === 0) throw new Error(`COPY ${source} finds no file`);
      return found;
    }),
  );
}

/** Bundles in a folder that has only these files and the packages. */
function bundle(files: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  using folder = temporaryFolder();
  for (const file of files) cpSync(join(REPOSITORY, file), join(folder.path, file));
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder.path, "node_modules"));
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, "-e", BUNDLE], {
    cwd: folder.path,
  });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe("the Dockerfile", () => {
  test("copies every file that the build reads", () => {
    const files = copiedFiles();
    for (const file of ["deploy/build.ts", "package.json", "bun.lock", "bunfig.toml"]) {
      expect(files).toContain(file);
    }
    expect(bundle(files)).toEqual({ code: 0, stdout: "true\n", stderr: "" });
  });

  test.each(["deploy/contents.ts", "src/version.ts"])("could not build without %s", (missing) => {
    const files = copiedFiles();
    expect(files).toContain(missing);
    const { code, stdout } = bundle(files.filter((file) => file !== missing));
    expect([code === 0, stdout]).toEqual([false, ""]);
  });

  test("runs the script that package.json names as the build", () => {
    const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
    const [script = ""] = /deploy\/\S+/.exec(scripts.build) ?? [];
    expect(existsSync(join(REPOSITORY, script))).toBe(true);
    expect(DOCKERFILE).toContain(`RUN bun ${script} `);
  });

  test("copies the folders that replace packages before it installs the packages", () => {
    const { overrides } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
    const [before = ""] = DOCKERFILE.split("RUN bun install");
    for (const [name, path] of Object.entries<string>(overrides)) {
      const folder = path.replace("file:./", "");
      expect(before).toContain(`COPY ${folder} ${folder}\n`);
      expect(copiedFiles()).toContain(`${folder}/package.json`);
      expect(readFileSync(join(REPOSITORY, "bun.lock"), "utf8")).not.toContain(`"${name}@`);
    }
    expect(Object.keys(overrides)).toContain("@scarf/scarf");
  });
});

test("every container and the service have a limit of processes", () => {
  const read = (path: string) => readFileSync(join(REPOSITORY, path), "utf8");
  for (const path of [
    "deploy/compose.yaml",
    "deploy/compose.agent.yaml",
    "deploy/fleet/compose.yaml",
  ]) {
    const { services } = parse(read(path), { merge: true });
    for (const [name, service] of Object.entries<{ pids_limit?: number }>(services)) {
      expect([name, service.pids_limit]).toEqual([name, expect.any(Number)]);
    }
  }
  for (const unit of ["allclear.service", "allclear-agent.service"]) {
    expect(read(`deploy/${unit}`)).toMatch(/^TasksMax=\d+$/m);
  }
});
