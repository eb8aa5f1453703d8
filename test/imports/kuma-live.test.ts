import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Found } from "../../src/imports/found";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import { importedSite, missingIn, shapeOf } from "../support/kuma-site";
import { type KumaVersion, readFixture } from "../support/kuma-fixture";
import { usePingProgram } from "../support/ping-program";
import { temporaryFolder } from "../support/temporary-folder";
import { createObjects } from "./fixtures/uptime-kuma/create";
import { type RunningKuma, startKuma } from "./fixtures/uptime-kuma/start";

/** Installed versions, by the variable that has the directory, with the fixture to compare with. */
const INSTALLED: readonly [variable: string, fixture: KumaVersion][] = [
  ["UPTIME_KUMA_DIR", "2.5.3"],
  ["UPTIME_KUMA_1_DIR", "1.23.17"],
];
const START_TIMEOUT_MS = 600_000;

for (const [variable, fixture] of INSTALLED) {
  const directory = process.env[variable];
  if (directory === undefined) console.warn(`SKIPPED: there is no Uptime Kuma in ${variable}.`);
  describe.skipIf(directory === undefined)(`a running Uptime Kuma in ${variable}`, () => {
    let kuma: RunningKuma;
    let key: string;
    let found: Found;

    beforeAll(async () => {
      kuma = await startKuma(directory ?? "");
      ({ key } = await createObjects(kuma));
      found = await readUptimeKuma(kuma.data);
    }, START_TIMEOUT_MS);
    afterAll(() => kuma?.[Symbol.asyncDispose](), START_TIMEOUT_MS);

    test("has only tables, columns and types that are known, but for the planted type", () => {
      expect(found.notRead).toEqual(["monitor type of-the-future"]);
    });

    test("is read from its database while it writes, as its fixture is", async () => {
      const written = await readFixture(fixture);
      const summary = ({ monitors, webhooks, components, schedules }: Found) => ({
        monitors: monitors.map(({ body, disabled, held }) => [
          body.name,
          body.type,
          disabled,
          held,
        ]),
        webhooks: webhooks.map(({ body, monitors: of }) => [body.description, body.format, of]),
        components: components.map(({ foreign, body }) => [foreign.id, body.name]),
        schedules: schedules.map(({ body }) => body.cron),
      });
      expect(summary(found)).toEqual(summary(written));
    });

    test("asks for the newest changes if its database was copied alone", async () => {
      using folder = temporaryFolder();
      copyFileSync(join(kuma.data, "kuma.db"), join(folder.path, "kuma.db"));
      const alone = await readUptimeKuma(folder.path).catch(({ message }: Error) => message);
      const said = typeof alone === "string" ? alone : alone.toDo.join("\n");
      // Without any checkpoint, the copy has no tables.
      expect(said).toMatch(/has no -wal file|no database of Uptime Kuma/);
    });

    test("answers clients in the forms in which an import of it does", async () => {
      using _ping = usePingProgram("exit 0");
      await using site = await importedSite(found, Date.now());
      const { app } = site;
      await app.clock.advance(5_000);
      const entry = found.monitors.find(({ body }) => body.name === "Keyword");
      const read = async (path: string) => {
        const theirs = await fetch(kuma.address + path);
        const ours = await app.call(path);
        expect([path, ours.status]).toEqual([path, theirs.status]);
        return { theirs: await theirs.text(), ours: ours.text };
      };
      const documents = [
        "/api/status-page/acme",
        "/api/status-page/heartbeat/acme",
        "/api/status-page/acme/manifest.json",
        "/api/entry-page",
        ...(kuma.isVersion2 ? ["/api/status-page/acme/incident-history"] : []),
      ];
      for (const path of documents) {
        const { theirs, ours } = await read(path);
        const missing = missingIn(shapeOf(JSON.parse(ours)), shapeOf(JSON.parse(theirs)));
        // Numbers of entries are fields there, and tags and addresses of monitors are not told.
        const differs =
          /^\.(?:heartbeatList|uptimeList|publicGroupList|icons)\b|pin: boolean for number/;
        expect([path, missing.filter((each) => !differs.test(each))]).toEqual([path, []]);
      }
      for (const badge of ["status", "uptime", "ping", "avg-response", "response", "cert-exp"]) {
        const { theirs, ours } = await read(`/api/badge/${entry?.number}/${badge}`);
        const labelOf = (svg: string) =>
          />([A-Z][^<:]*?)(?::[^<]*)?<\/(?:title|text)>/.exec(svg)?.[1];
        expect([badge, labelOf(ours)]).toEqual([badge, labelOf(theirs)]);
      }
      const authorization = `Basic ${btoa(`:${key}`)}`;
      const metrics = await (
        await fetch(`${kuma.address}/metrics`, { headers: { authorization } })
      ).text();
      const ourKey = await app.keyWith("read:analytics");
      const ours = await app.call("/compat/kuma/metrics", { key: ourKey });
      const familiesIn = (text: string) =>
        new Set([...text.matchAll(/^# TYPE ((?:monitor|app)_\w+)/gm)].map(([, name]) => name));
      const families = familiesIn(ours.text);
      const absent = [...familiesIn(metrics)].filter((name) => !families.has(name));
      // No check here has seen a certificate.
      expect(absent.filter((name) => !name?.startsWith("monitor_cert_"))).toEqual([]);
    });
  });
}
