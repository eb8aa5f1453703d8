import { describe, expect, test } from "bun:test";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { describeChange } from "../../../src/features/apply/run";
import { listAllWebhooks } from "../../../src/features/webhooks/store";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError } from "../../support/apply";

const ENV = { ROUTING_KEY: "quite-private-key", PART: "quite-private-part" };

const FILE = `pages: []
webhooks:
  - ref: on-call
    format: template
    url: https://pager.example.com/{secret.PART}
    events: [monitor.down, monitor.up]
    settings:
      method: POST
      headers: { X-Source: "{page}" }
      body: '{"key": "{secret.KEY}", "of": "{key}"}'
      resolve_body: '{"key": "{secret.KEY}", "end": "{key}"}'
      secrets:
        KEY: \${ROUTING_KEY}
        PART: \${PART}
`;

const settingsOf = ({ ctx }: TestApp) => listAllWebhooks(ctx.db, {})[0]?.settings;

/** Applies a file and returns its changes as people read them. */
async function changesOf(app: TestApp, text: string, env: Record<string, string> = ENV) {
  const { changes } = await apply(app, text, false, env);
  return changes.map(describeChange).join("\n");
}

describe("a template in a configuration file", () => {
  test("is created with secrets from variables, and applied again without a change", async () => {
    await using app = await createTestApp({ logLevel: "trace" });
    const created = await changesOf(app, FILE);
    expect(settingsOf(app)).toEqual({
      method: "POST",
      headers: { "X-Source": "{page}" },
      body: '{"key": "{secret.KEY}", "of": "{key}"}',
      resolve_body: '{"key": "{secret.KEY}", "end": "{key}"}',
      secrets: { KEY: ENV.ROUTING_KEY, PART: ENV.PART },
    });
    expect(await changesOf(app, FILE)).toBe("");
    for (const said of [created, JSON.stringify([app.audit(), app.logged])]) {
      expect(said).not.toContain("quite-private");
    }
  });

  test("is written alike, in whichever order its settings were given", async () => {
    await using app = await createTestApp();
    await using other = await createTestApp();
    const written = async ({ ctx }: TestApp) =>
      writeApplyFile(await ctx.db.write((tx) => exportFile(tx)), []);
    const settings = [
      ["secrets", { A: "quite-private-key" }],
      ["resolve_body", "{key}"],
      ["text_limit", 500],
      ["body", "{secret.A}"],
      ["method", "POST"],
    ] as const;
    for (const [one, order] of [
      [app, settings],
      [other, settings.toReversed()],
    ] as const) {
      const json = {
        url: "https://pager.example.com",
        format: "template",
        settings: Object.fromEntries(order),
      };
      const key = await one.keyWith("manage:webhooks");
      await one.call("/api/v1/webhooks", { method: "POST", key, json });
    }
    expect(await written(app)).toBe(await written(other));
    expect(await written(app)).toMatch(/method:[^]*body:[^]*text_limit:[^]*resolve_body:/);
  });

  test("keeps secrets that are null or left out, and rejects those that are not stored", async () => {
    await using app = await createTestApp();
    const kept = FILE.replaceAll(/: \$\{\w+\}$/gm, ": null");
    const leftOut = FILE.replace(/ {6}secrets:\n.*\n.*\n/, "");
    expect(await applyError(app, kept)).toBe(
      ["line 13: webhooks[0].settings.secrets.KEY", "line 14: webhooks[0].settings.secrets.PART"]
        .map((at) => at.replace("webhooks[0].", ""))
        .map(
          (at) =>
            `${at} is a secret that is not known here yet: give it, such as \${NAME} of a variable`,
        )
        .join("\n"),
    );
    expect(await applyError(app, leftOut)).toContain("{secret.KEY}");
    await apply(app, FILE, false, ENV);
    const before = settingsOf(app);
    expect(await changesOf(app, kept)).toBe("");
    expect(await changesOf(app, leftOut)).toBe("");
    expect(settingsOf(app)).toEqual(before);
  });

  test("with another secret or request says what changes, and shows no secret", async () => {
    await using app = await createTestApp();
    await apply(app, FILE, false, ENV);
    const rotated = await changesOf(app, FILE, { ...ENV, ROUTING_KEY: "quite-private-other" });
    expect(rotated).toContain("settings.secrets.KEY");
    expect(rotated).toContain("another secret");
    expect(rotated).not.toContain("quite-private");
    expect(settingsOf(app)).toMatchObject({
      secrets: { KEY: "quite-private-other", PART: ENV.PART },
    });
    const header = await changesOf(app, FILE.replace("X-Source:", "X-From:"), {
      ...ENV,
      ROUTING_KEY: "quite-private-other",
    });
    expect(header).toContain("settings.headers");
    expect(settingsOf(app)).toMatchObject({ headers: { "X-From": "{page}" } });
  });

  test("that changes the request must give its secrets again", async () => {
    await using app = await createTestApp();
    await apply(app, FILE, false, ENV);
    const before = settingsOf(app);
    const kept = FILE.replaceAll(/: \$\{\w+\}$/gm, ": null").replace("POST", "PUT");
    expect(await applyError(app, kept)).toContain("must be entered again");
    expect(settingsOf(app)).toEqual(before);
  });

  test("is exported with its request, and with null for its secrets", async () => {
    await using app = await createTestApp();
    await apply(app, FILE, false, ENV);
    const text = writeApplyFile(await app.ctx.db.write((tx) => exportFile(tx)), []);
    expect(text).not.toContain("quite-private");
    expect(text).toContain("KEY: null");
    expect(text).not.toContain("secret: null");
    expect((await apply(app, text)).changes).toEqual([]);
  });

  test("with an invalid request is rejected with its line, and so is a variable outside of secrets", async () => {
    await using app = await createTestApp();
    const variable = FILE.replace('"{page}"', '"${PART}"');
    expect(await applyError(app, variable, ENV)).toBe(
      "line 9: settings.headers.X-Source names {PART}, which is no placeholder",
    );
    const message = await applyError(app, FILE.replace("{page}", "{place}"), ENV);
    expect(message).toBe(
      "line 9: settings.headers.X-Source names {place}, which is no placeholder",
    );
  });
});
