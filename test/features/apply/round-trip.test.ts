import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { WebhookFormat } from "../../../src/base/webhook";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import {
  monitorsIn,
  omitForeignRefs,
  readApplyFile,
  withMonitors,
} from "../../../src/features/apply/read";
import { describeChange } from "../../../src/features/apply/run";
import type { ApplyFile } from "../../../src/features/apply/schema";
import { listAllPages, type PageRow } from "../../../src/features/pages/store";
import type { FileWebhook } from "../../../src/features/webhooks/file";
import { createTestApp, type TestApp } from "../../support/app";
import { apply } from "../../support/apply";
import {
  arbitraryActions,
  createArbitraryInstallation,
} from "../../support/arbitrary-installation";
import { MONITOR_SECRET } from "../../support/arbitrary-monitor";
import { WEBHOOK_SECRET } from "../../support/arbitrary-webhook";
import { PROCESS_TEST_MS } from "../../support/binary";
import { createSchemaCheck } from "../../support/config-file-schema";
import { monitorSecrets } from "../../support/monitor-secrets";
import { usePingProgram } from "../../support/ping-program";

// Hundreds of transactions, on a machine that may be busy with other things.
setDefaultTimeout(PROCESS_TEST_MS);

const schemaErrorsOf = createSchemaCheck();

/** Returns the file that `export` writes. */
const written = ({ ctx }: TestApp) =>
  ctx.db.write((tx) => writeApplyFile(exportFile(tx), ["A comment", "of two lines"]));

/** An object with a reference in the place of each secret part. */
const withGivenParts = (parts: object) =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part ?? "${BODY}"]));

/** The same file with references in the places of its secrets. */
function withSecrets(file: ApplyFile): ApplyFile {
  const { webhooks, ...others } = withMonitors(file, ({ item }) => {
    const { secrets, secretParts } = monitorSecrets(item.type);
    const given = Object.entries(item.config ?? {}).map(([field, value]) => {
      if (secrets[field] === "text") return [field, "${BODY}"];
      if (secretParts[field]) return [field, withGivenParts(value as object)];
      if (secrets[field] !== "values") return [field, value];
      const names = Object.keys(value as object);
      return [field, Object.fromEntries(names.map((name) => [name, "x ${HEADER}"]))];
    });
    return { ...item, ...(item.config && { config: Object.fromEntries(given) }) };
  });
  return { ...others, ...(webhooks && { webhooks: webhooks.map(withWebhookSecrets) }) };
}

const GIVEN_URLS: Partial<Record<WebhookFormat, string>> = {
  slack: "${SLACK}",
  discord: "https://discord.com/api/webhooks/2/${TOKEN}",
  teams: "https://teams.example/${TOKEN}",
};

/** Texts of the secret settings that have a form, by name. */
const SECRET_TEXTS: Readonly<Record<string, string>> = {
  bot_token: "1:${TOKEN}",
  headers: '{"X-Token": "${TOKEN}"}',
};

function withWebhookSecrets(webhook: FileWebhook): FileWebhook {
  const { format = "standard", settings } = webhook;
  const secretOf = (name: string) => SECRET_TEXTS[name] ?? "${TOKEN}";
  const given = Object.entries(settings ?? {}).map(([name, value]) => {
    if (name === "secrets") return [name, withGivenParts(value as object)];
    return [name, value === null ? secretOf(name) : value];
  });
  return {
    ...webhook,
    ...(webhook.url === null && { url: GIVEN_URLS[format] ?? null }),
    ...(webhook.secret === null && { secret: "${SIGNING}" }),
    ...(settings && { settings: Object.fromEntries(given) }),
  };
}

const ENV = {
  HEADER: "h",
  BODY: "b",
  SLACK: "https://hooks.slack.com/services/T1/B1/x",
  TOKEN: "t0ken",
  SIGNING: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
};

describe("export and apply of arbitrary installations", () => {
  // Monitors of the type ping need it unless they are paused.
  let ping: Disposable;
  beforeAll(() => {
    ping = usePingProgram("exit 0");
  });
  afterAll(() => ping[Symbol.dispose]());

  test("an export is read back as it was made, fits the schema, and applying it changes nothing", async () => {
    await using app = await createTestApp();
    let [pages, monitors, webhooks, templates, schedules] = [0, 0, 0, 0, 0];
    await fc.assert(
      fc.asyncProperty(arbitraryActions, async (acts) => {
        await createArbitraryInstallation(app, acts);
        const said = await app.ctx.db.write((tx) => exportFile(tx));
        const text = await written(app);
        expect(text).not.toContain(MONITOR_SECRET);
        expect(text).not.toContain(WEBHOOK_SECRET);
        expect(text).not.toContain("whsec_");
        expect(readApplyFile(text).content).toEqual(said);
        expect(schemaErrorsOf(text)).toEqual([]);
        const audited = app.audit().length;
        expect(await apply(app, text, true)).toMatchObject({ changes: [], leftovers: [] });
        expect(app.audit()).toHaveLength(audited);
        pages += said.pages.length;
        monitors += monitorsIn(said).length;
        webhooks += said.webhooks?.length ?? 0;
        templates += said.incident_templates?.length ?? 0;
        schedules += said.maintenance_schedules?.length ?? 0;
      }),
      { numRuns: 25 },
    );
    // The numbers are random. In 60 runs of this test, each was at least 5.
    for (const count of [pages, monitors, webhooks, templates, schedules]) {
      expect(count).toBeGreaterThan(0);
    }
  });

  test("an export with its secrets creates an equal installation", async () => {
    await using app = await createTestApp();
    await using other = await createTestApp();
    await fc.assert(
      fc.asyncProperty(arbitraryActions, async (acts) => {
        await createArbitraryInstallation(app, acts);
        await createArbitraryInstallation(other, []);
        const text = await written(app);
        const given = await app.ctx.db.write((tx) => withSecrets(exportFile(tx)));
        expect(schemaErrorsOf(writeApplyFile(given, []))).toEqual([]);
        const first = await apply(other, writeApplyFile(given, []), true, ENV);
        expect(await written(other)).toBe(text);
        // All changes can be described.
        expect(first.changes.map(describeChange)).toHaveLength(first.changes.length);
        expect((await apply(other, text, true)).changes).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });

  test("an export of one page creates an equal page on an empty server", async () => {
    await using app = await createTestApp();
    await using other = await createTestApp();
    const exported = ({ ctx }: TestApp, page: PageRow | undefined) =>
      ctx.db.write((tx) => omitForeignRefs(exportFile(tx, { page })));
    await fc.assert(
      fc.asyncProperty(arbitraryActions, async (acts) => {
        await createArbitraryInstallation(app, acts);
        for (const page of listAllPages(app.ctx.db, {})) {
          await createArbitraryInstallation(other, []);
          const { file } = await exported(app, page);
          await apply(other, writeApplyFile(withSecrets(file), []), true, ENV);
          const made = await exported(other, listAllPages(other.ctx.db, {})[0]);
          expect(made.omitted).toEqual([]);
          expect(writeApplyFile(made.file, [])).toBe(writeApplyFile(file, []));
        }
      }),
      { numRuns: 12 },
    );
  });
});
