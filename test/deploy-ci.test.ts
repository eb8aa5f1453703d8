import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import {
  createInstallation,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "./support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

const ROOT = join(import.meta.dir, "..");

// oxlint-disable-next-line typescript/no-explicit-any
async function read(file: string): Promise<any> {
  const document = parseDocument(await Bun.file(join(ROOT, "deploy/ci", file)).text());
  if (document.errors.length > 0) throw document.errors[0];
  return document.toJS();
}

const action = await read("github/action.yml");
const template = await read("gitlab.yml");
const job = template[".allclear-maintenance"];

/** Script of a template, with the shell and the variables with which its product runs it. */
interface Job {
  shell: string[];
  script: string;
  variables: Record<string, string>;
}

/** Settings that both templates have. */
interface Given {
  server: string;
  key: string;
  components: string;
  script: string;
  program: string;
  name?: string;
  message?: string;
  notify?: string;
}

/** Job of GitHub: inputs with their defaults replace the expressions of the step. */
function githubJob({ script: run, ...others }: Given): Job {
  const [step] = action.runs.steps;
  const inputs: Record<string, string> = { ...others, run };
  for (const [name, { default: standard }] of Object.entries<{ default?: string }>(action.inputs)) {
    inputs[name] ??= standard ?? "";
  }
  const valueOf = (text: string) =>
    text.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_, name: string) => inputs[name] ?? "undeclared");
  const variables = Object.entries<string>(step.env).map(([name, text]) => [name, valueOf(text)]);
  // As in the documentation of `shell: bash`.
  const shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"];
  return { shell, script: step.run, variables: Object.fromEntries(variables) };
}

/** Job of GitLab that extends the template. */
function gitlabJob({ server, key, ...given }: Given): Job {
  const own = Object.entries(given).map(([name, value]) => [
    `MAINTENANCE_${name.toUpperCase()}`,
    value,
  ]);
  const variables = { ...job.variables, ...Object.fromEntries(own) };
  return {
    shell: ["sh", "-e", "-c"],
    script: job.script.join("\n"),
    variables: { ...variables, ALLCLEAR_SERVER: server, ALLCLEAR_KEY: key },
  };
}

interface Maintenance {
  name: string;
  status: string;
  components: { name: string }[];
  updates: { body: string }[];
}

describe("the templates in deploy/ci", () => {
  let site: Installation;
  let server: Server;
  let key: string;
  let reader: string;
  let program: string;

  beforeAll(async () => {
    site = await createInstallation({ isFromSources: true });
    await site.createPage("shop", ["Checkout", "Search"]);
    server = await site.serve();
    ({ value: key } = await site.createKey(["write:maintenance"]));
    ({ value: reader } = await site.createKey(["read:status"]));
    program = site.path("allclear program");
    const words = [process.execPath, join(ROOT, "src/main.ts")].map((word) => `'${word}'`);
    await Bun.write(program, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`);
    chmodSync(program, 0o755);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function run({ shell, script, variables }: Job) {
    const child = Bun.spawn([...shell, script], {
      cwd: site.workDir,
      env: { PATH: process.env["PATH"] ?? "", ...variables },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { exitCode: await child.exited, out, err };
  }

  async function newest(): Promise<Maintenance> {
    const answer = await server.fetch("/api/v1/maintenance?limit=1", { key: reader });
    const { data } = (await answer.json()) as { data: Maintenance[] };
    return data[0] as Maintenance;
  }

  const given = (): Given => ({
    server: server.url,
    key,
    program,
    components: "shop:checkout\nshop:search",
    script: `echo "It's deployed"; exit 3`,
    name: "Release $(id) 'of' \"shop\"",
    message: "Checkout may be slow; `id`.",
  });

  test.each([
    ["GitHub", githubJob],
    ["GitLab", gitlabJob],
  ])("the template for %s runs a script in a window and has its exit code", async (_, jobOf) => {
    const outcome = await run(jobOf(given()));
    expect([outcome.exitCode, outcome.out]).toEqual([3, "It's deployed\n"]);
    expect(outcome.err).not.toContain(key);
    const { name, status, components, updates } = await newest();
    expect([name, status]).toEqual([given().name ?? "", "completed"]);
    expect(components.map((component) => component.name)).toEqual(["Checkout", "Search"]);
    expect(updates.at(-1)?.body).toBe(given().message ?? "");
  });

  test.each([
    ["GitHub", githubJob],
    ["GitLab", gitlabJob],
  ])("the script of the template for %s is not run without a window", async (_, jobOf) => {
    const { name: _name, message: _message, ...required } = given();
    const outcome = await run(jobOf({ ...required, components: "shop:nothing" }));
    expect([outcome.exitCode, outcome.out]).toEqual([125, ""]);
    expect(outcome.err).toContain("shop:nothing is not a component of the page");
  });

  test.each([
    ["GitHub", githubJob],
    ["GitLab", gitlabJob],
  ])("the template for %s has a default for everything but what it needs", async (_, jobOf) => {
    const { name: _name, message: _message, ...required } = given();
    const outcome = await run(jobOf({ ...required, script: "exit 0" }));
    expect(outcome.exitCode).toBe(0);
    expect(await newest()).toMatchObject({ name: "Maintenance", status: "completed" });
  });

  test.each([
    ["GitHub", githubJob],
    ["GitLab", gitlabJob],
  ])("the template for %s asks for notifications on demand alone", async (_, jobOf) => {
    const shows = site.path("shows its arguments");
    await Bun.write(shows, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
    chmodSync(shows, 0o755);
    const argumentsOf = async (more: Partial<Given>) =>
      (await run(jobOf({ ...given(), program: shows, ...more }))).out.split("\n");
    expect(await argumentsOf({ notify: "true" })).toContain("--notify");
    for (const more of [{}, { notify: "false" }]) {
      const without = await argumentsOf(more);
      expect(without).toContain("--component=shop:search");
      expect(without).not.toContain("--notify");
    }
  });

  test("the template for GitHub declares every input that its step uses, and uses each", () => {
    const used = JSON.stringify(action.runs).matchAll(/\$\{\{ inputs\.(\w+) \}\}/g);
    expect(Array.from(used, ([, name = ""]) => name).toSorted()).toEqual(
      Object.keys(action.inputs).toSorted(),
    );
    expect(action.runs.steps[0].run).not.toContain("${{");
  });
});
