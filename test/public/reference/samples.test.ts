import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { run } from "../../support/clients/generators";
import { createTestClock } from "../../support/clock";
import { findInterpreter } from "../../support/interpreters";
import { SAMPLES_NOW } from "../../support/sample-site";
import { serveApp } from "../../support/served-app";
import { temporaryFolder } from "../../support/temporary-folder";

const TIMEOUT_MS = 600_000;
/** Ids of examples. */
const EXAMPLE = /\b([a-z]{3})_01kah2v9w0e0rs6x0h3ye0a1bc\b/g;

/** Programs by language, with the file that they run, and the status of a failed sample. curl shows the error alone. */
const PROGRAMS = [
  { id: "curl", name: "curl", file: "sample.sh", command: ["sh", "sample.sh"], failed: 0 },
  { id: "python", name: "python3", file: "sample.py", command: ["sample.py"], failed: 1 },
  { id: "javascript", name: "node", file: "sample.mjs", command: ["sample.mjs"], failed: 1 },
  { id: "javascript", name: "bun", file: "sample.mjs", command: ["sample.mjs"], failed: 1 },
  { id: "go", name: "go", file: "sample.go", command: ["./sample"], failed: 1 },
] as const;

/** Returns the sample of an operation on a page as its reader copies it. */
function readSample(html: string, operation: string, language: string): string {
  const [, entry = ""] = html.split(`<article class="card entry" id="${operation}">`);
  const [, block = ""] = entry.split(`<pre class="${language}"`);
  const [, code = ""] = /<code>([^]*?)<\/code>/.exec(block) ?? [];
  return code
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

describe.each(PROGRAMS)("samples of the reference in $id, run by $name", (program) => {
  const { id, name, file, command, failed } = program;
  const path = findInterpreter(name);

  test.skipIf(path === undefined)(
    "samples as the reference shows them list, create, change and delete, and show errors",
    async () => {
      using folder = temporaryFolder();
      await using served = await serveApp({ clock: createTestClock(SAMPLES_NOW) });
      const { app } = served;
      const { components } = await app.page({ slug: "acme", name: "Acme" }, ["API"]);
      const key = await app.keyWith(
        "read:status",
        "write:incidents",
        "write:components",
        "manage:monitors",
      );
      const call = async (method: string, target: string, json?: object) =>
        (await app.call(`/api/v1/${target}`, { method, key, ...(json && { json }) })).body;

      /** Runs the sample of an operation with ids of this installation in place of the examples. */
      async function runSample(page: string, operation: string, value: string, ids = {}) {
        const shown = readSample((await app.call(`/docs/${page}`)).text, operation, id);
        const objects: Record<string, string> = { cmp: components["API"] ?? "", ...ids };
        const sample = shown.replaceAll(
          EXAMPLE,
          (example, kind: string) => objects[kind] ?? example,
        );
        await Bun.write(join(folder.path, file), `${sample}\n`);
        const env = { ...process.env, ALLCLEAR_KEY: value };
        const options = { cwd: folder.path, env };
        if (id === "go") await run([path ?? "", "build", "-o", "sample", file], options);
        const start = id === "curl" || id === "go" ? command : [path ?? "", ...command];
        const child = Bun.spawn([...start], { ...options, stdout: "pipe", stderr: "pipe" });
        const [output, errors] = await Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
        ]);
        return { text: output + errors, code: await child.exited };
      }

      const created = [
        await runSample("incidents", "createIncident", key),
        await runSample("incidents", "createIncident", key),
      ];
      expect(created).toMatchObject([{ code: 0 }, { code: 0 }]);
      expect(created[0]?.text).toContain("Elevated error rates");
      const { data: incidents } = await call("GET", "incidents?page=acme");
      expect(incidents).toHaveLength(2);

      const listed = await runSample("incidents", "listIncidents", key);
      expect(listed).toMatchObject({ code: 0 });
      for (const incident of incidents) expect(listed.text).toContain(incident.id);

      const [{ id: inc }] = incidents;
      const { started_at: before } = await call("GET", `incidents/${inc}`);
      const changed = await runSample("incidents", "updateIncident", key, { inc });
      expect(changed).toMatchObject({ code: 0 });
      expect((await call("GET", `incidents/${inc}`)).started_at).not.toBe(before);
      const stale = await runSample("incidents", "updateIncident", key, { inc });
      expect(stale).toMatchObject({ code: failed });
      expect(stale.text).toContain("precondition_failed");

      const json = { type: "http", name: "API", config: { url: "http://127.0.0.1:1/" } };
      const { id: mon } = await call("POST", "monitors", json);
      const deleted = await runSample("monitors", "deleteMonitor", key, { mon });
      expect(deleted).toMatchObject({ code: 0 });
      expect((await call("GET", "monitors")).data).toEqual([]);

      const rejected = await runSample("incidents", "listIncidents", "allclear_wrong");
      expect(rejected).toMatchObject({ code: failed });
      expect(rejected.text).toContain("invalid_key");
    },
    TIMEOUT_MS,
  );
});
