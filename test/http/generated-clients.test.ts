import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Generators, getGenerators, run } from "../support/clients/generators";
import { createTestClock } from "../support/clock";
import { type ServedApp, serveApp } from "../support/served-app";
import { temporaryFolder } from "../support/temporary-folder";

const PROGRAMS = join(import.meta.dir, "..", "support", "clients");
const COMPILER = join(import.meta.dir, "..", "..", "node_modules", ".bin", "tsc");
const TIMEOUT_MS = 300_000;

/** Output of each program: the components of the page, and the monitor that it has created. */
const EXPECTED = "Website operational\nAPI operational\nShop https://shop.example.com\n";

async function findGenerators(): Promise<Generators | undefined> {
  try {
    return await getGenerators();
  } catch (error) {
    // CI installs them and fails without one.
    if (process.env["CI"]) throw error;
    console.warn(`SKIPPED: clients made by openapi-generator. ${(error as Error).message}`);
    return undefined;
  }
}

const generators = await findGenerators();

describe.skipIf(!generators)("clients that openapi-generator makes of the OpenAPI document", () => {
  const { openapi, go, python } = generators ?? { openapi: [], go: "", python: "" };
  const folder = temporaryFolder();
  const document = join(folder.path, "openapi.json");
  let served: ServedApp;

  /** Makes a client in a folder of its own, whose path is returned. */
  async function generate(name: string, into: string, ...settings: string[]): Promise<string> {
    const output = join(folder.path, into);
    await run([...openapi, "-i", document, "-g", name, "-o", output, ...settings]);
    return output;
  }

  /** Returns the address of the server, and a new key after the monitors of other clients were deleted. */
  async function callArguments(): Promise<[string, string]> {
    const { app, origin } = served;
    const key = await app.keyWith("read:status", "manage:monitors");
    for (const { id } of (await app.call("/api/v1/monitors", { key })).body.data) {
      await app.call(`/api/v1/monitors/${id}`, { method: "DELETE", key });
    }
    return [origin, key];
  }

  beforeAll(async () => {
    served = await serveApp({ clock: createTestClock() });
    await served.app.page();
    await Bun.write(document, JSON.stringify((await served.app.call("/openapi.json")).body));
    await Promise.all([
      generate("go", "go"),
      generate("python", "python"),
      generate("typescript-fetch", "typescript"),
      generate(
        "typescript-fetch",
        "plain/client",
        "--additional-properties=withoutRuntimeChecks=true",
      ),
    ]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test(
    "a client of Go compiles, lists components and creates a monitor",
    async () => {
      const call = join(folder.path, "go", "call");
      mkdirSync(call);
      copyFileSync(join(PROGRAMS, "client.go.txt"), join(call, "main.go"));
      const cwd = join(folder.path, "go");
      const env = { GOFLAGS: "-mod=mod" };
      await run([go, "build", "./..."], { cwd, env });
      expect(await run([go, "run", "./call", ...(await callArguments())], { cwd, env })).toBe(
        EXPECTED,
      );
    },
    TIMEOUT_MS,
  );

  test(
    "a client of Python imports every module, lists components and creates a monitor",
    async () => {
      const cwd = join(folder.path, "python");
      const env = { PYTHONPATH: cwd };
      await run([python, "-m", "compileall", "-q", "openapi_client"], { cwd });
      const program = join(PROGRAMS, "client.py");
      expect(await run([python, program, ...(await callArguments())], { env })).toBe(EXPECTED);
    },
    TIMEOUT_MS,
  );

  test.each(["typescript", "plain/client"])(
    "a client of TypeScript compiles: %s",
    async (name) => {
      const strict = ["--noEmit", "--strict", "--target", "es2022", "--module", "esnext"];
      const libraries = ["--moduleResolution", "bundler", "--lib", "es2022,dom"];
      await run([COMPILER, ...strict, ...libraries, join(folder.path, name, "index.ts")], {
        cwd: folder.path,
      });
    },
    TIMEOUT_MS,
  );

  test(
    "a client of TypeScript without conversions lists components and creates a monitor",
    async () => {
      const program = join(folder.path, "plain", "call.ts");
      copyFileSync(join(PROGRAMS, "client.ts.txt"), program);
      const command = [process.execPath, program, ...(await callArguments())];
      expect(await run(command, { cwd: folder.path })).toBe(EXPECTED);
    },
    TIMEOUT_MS,
  );
});
