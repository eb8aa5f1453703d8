import { describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { apiSamples } from "../support/api-commands";
import { createTestApp } from "../support/app";
import { run } from "../support/clients/generators";
import { createTestClock } from "../support/clock";
import { findInterpreter } from "../support/interpreters";
import { createSampleSite, placeOf, SAMPLES_NOW } from "../support/sample-site";
import { serveApp } from "../support/served-app";
import { temporaryFolder } from "../support/temporary-folder";

/** Samples in a minute, fewer than the limit of an address. */
const PER_MINUTE = 90;
const TIMEOUT_MS = 600_000;

/** Path that is not found here: of a link in a mail that was not sent. */
const NOT_FOUND = "/mail/confirm/{token}";

function isExpected(path: string, status: number): boolean {
  return path === NOT_FOUND ? status === 404 : status >= 200 && status < 400;
}

/** Runs all files that follow, and prints the beginning of the output or of the error of each on a line. */
const PYTHON_RUNNER = `
import contextlib, io, sys
for path in sys.argv[1:]:
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(open(path).read(), path, "exec"), {"__name__": "__main__"})
    except SystemExit as error:
        output.write(str(error))
    print(output.getvalue()[:3])
`;
const JAVASCRIPT_RUNNER = `
const print = console.log;
for (const path of process.argv.slice(2)) {
  let output = "";
  console.log = (status) => (output = String(status));
  await import(path).catch((error) => (output = error.message));
  print(output.slice(0, 3));
}
`;

/** File endings, and programs that run samples and print the status that each of them got on a line. */
const LANGUAGES = {
  curl: { ending: "sh", runner: 'for file in "$@"; do sh "$file"; done' },
  python: { ending: "py", runner: PYTHON_RUNNER },
  javascript: { ending: "mjs", runner: JAVASCRIPT_RUNNER },
} as const;
/** Beginning of a command that prints the status alone. */
const CURL = "curl -sS -o /dev/null -w '%{http_code}\\n'";

describe.each([
  ["curl", "curl"],
  ["python", "python3"],
  ["javascript", "node"],
  ["javascript", "bun"],
] as const)("samples in %s, run by %s", (language, name) => {
  const program = findInterpreter(name);

  test.skipIf(program === undefined)(
    "each sample succeeds where the object that it names exists",
    async () => {
      using folder = temporaryFolder();
      const clock = createTestClock(SAMPLES_NOW);
      await using served = await serveApp({ clock });
      const { app, origin } = served;
      const { key, fill } = await createSampleSite(app);
      const names = { origin, key: "ALLCLEAR_KEY", token: "ALLCLEAR_TOKEN" };
      const document = (await app.call("/openapi.json")).body;
      const samples = apiSamples(document, language, names).toSorted(
        (a, b) => placeOf(a) - placeOf(b),
      );
      const { ending, runner } = LANGUAGES[language];
      const write = async (title: string, code: string) => {
        const file = join(folder.path, `${title}.${ending}`);
        await Bun.write(file, code);
        return file;
      };
      const interpreter = language === "curl" ? "sh" : (program ?? "");
      const command = [interpreter, await write("runner", runner)];
      const wrong: string[] = [];
      for (let first = 0; first < samples.length; first += PER_MINUTE) {
        const part = samples.slice(first, first + PER_MINUTE);
        const files = await Promise.all(
          part.map((one, index) => write(`${first + index}`, fill(one).replace(/^curl/, CURL))),
        );
        const output = await run([...command, ...files], { env: { ALLCLEAR_KEY: key } });
        const statuses = output.trim().split("\n");
        expect(statuses).toHaveLength(part.length);
        wrong.push(
          ...part.flatMap(({ method, path }, index) =>
            isExpected(path, Number(statuses[index]))
              ? []
              : `${method} ${path}: ${statuses[index]}`,
          ),
        );
        await clock.advance(61_000);
      }
      expect(wrong).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe("samples in Go", () => {
  const go = findInterpreter("go");

  test.skipIf(go === undefined)(
    "each sample compiles and is formatted",
    async () => {
      using folder = temporaryFolder();
      await using app = await createTestApp();
      const names = { origin: "https://status.test", key: "ALLCLEAR_KEY", token: "ALLCLEAR_TOKEN" };
      const samples = apiSamples((await app.call("/openapi.json")).body, "go", names);
      await Bun.write(join(folder.path, "go.mod"), "module samples\n\ngo 1.18\n");
      for (const [index, { code }] of samples.entries()) {
        await Bun.write(join(folder.path, `sample${index}`, "main.go"), `${code}\n`);
      }
      const formatter = join(dirname(go ?? ""), "gofmt");
      expect(await run([formatter, "-l", "."], { cwd: folder.path })).toBe("");
      await run([go ?? "", "vet", "./..."], { cwd: folder.path, env: { GOTOOLCHAIN: "local" } });
    },
    TIMEOUT_MS,
  );
});
