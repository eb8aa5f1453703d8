import { describe, expect, test } from "bun:test";
import { describeChange } from "../../../src/features/apply/run";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listStoredMonitors } from "../../../src/features/monitors/declared";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError } from "../../support/apply";

const TOKEN = "t0p-secret-token";
const PASSWORD = "hunter2-hunter2";
const ENV = { API_TOKEN: TOKEN, PASSWORD };

/** Returns a file with one monitor, whose configuration has these lines besides its URL. */
const fileWith = (lines: string, url = "https://api.acme.example/login") => `
pages: []
monitors:
  - name: Login
    type: http
    config:
      url: ${url}
      method: POST
${lines.replaceAll(/^(?=.)/gm, "      ")}
`;

const GIVEN = fileWith(`headers:
  Authorization: Bearer \${API_TOKEN}
  X-Tenant: acme
body: '{"password": "\${PASSWORD}", "price": "$\${PASSWORD}", "sum": "$5 {\${not one}"}'`);

/** The secrets as they are kept. */
function kept({ ctx }: TestApp): { headers?: unknown; body?: unknown } {
  const [monitor] = listStoredMonitors(ctx.db);
  const { headers, body } = monitor?.row.config ?? {};
  return { headers, body };
}

const STORED = {
  headers: { Authorization: `Bearer ${TOKEN}`, "X-Tenant": "acme" },
  body: `{"password": "${PASSWORD}", "price": "\${PASSWORD}", "sum": "$5 {\${not one}"}`,
};

async function rejectionOf(app: TestApp, text: string, env: Record<string, string> = ENV) {
  const before = [kept(app), app.audit()];
  const message = await applyError(app, text, env);
  expect([kept(app), app.audit()]).toEqual(before);
  return message;
}

async function createSite(): Promise<TestApp> {
  const app = await createTestApp({ logLevel: "trace" });
  await apply(app, GIVEN, false, ENV);
  return app;
}

describe("secrets of a monitor in a file", () => {
  test("a secret of a monitor can contain variables, and a doubled dollar sign means one", async () => {
    await using app = await createSite();
    expect(kept(app)).toEqual(STORED);
    expect((await apply(app, GIVEN, false, ENV)).changes).toEqual([]);
  });

  test("a secret with a missing or empty variable is rejected with its line", async () => {
    await using app = await createTestApp();
    expect(await rejectionOf(app, GIVEN, { PASSWORD: "" })).toBe(
      [
        "line 10: monitors[0].config.headers.Authorization refers to the variable API_TOKEN, which is not set",
        "line 12: monitors[0].config.body refers to the variable PASSWORD, which is empty",
      ].join("\n"),
    );
    await apply(app, GIVEN, false, ENV);
    expect(kept(app)).toEqual(STORED);
  });

  test("a variable with an invalid header value is rejected without revealing it", async () => {
    await using app = await createTestApp();
    const rejection = await rejectionOf(app, GIVEN, { ...ENV, API_TOKEN: `${TOKEN}\nX: y` });
    expect(rejection).toStartWith("line 10: monitors[0].config.headers.Authorization has a value");
    expect(rejection).not.toContain(TOKEN);
  });

  test("variables are replaced in secret fields only", async () => {
    await using app = await createTestApp();
    const text = fileWith("headers: {}", "https://api.acme.example/?key=${API_TOKEN}");
    await apply(app, text, false, ENV);
    const { config } = listStoredMonitors(app.ctx.db)[0]?.row ?? {};
    expect(config?.["url"]).toBe("https://api.acme.example/?key=${API_TOKEN}");
  });

  test("a secret that is omitted or null is kept", async () => {
    await using app = await createSite();
    for (const lines of ["", "headers: { Authorization: null, X-Tenant: }\nbody: null"]) {
      expect((await apply(app, fileWith(lines))).changes).toEqual([]);
      expect(kept(app)).toEqual(STORED);
    }
    const slower = `${fileWith("")}    interval_seconds: 300\n`;
    expect((await apply(app, slower)).changes).toHaveLength(1);
    expect(kept(app)).toEqual(STORED);
  });

  test("an omitted secret that is not stored is rejected with its line", async () => {
    await using app = await createTestApp();
    const text = fileWith("headers:\n  Authorization:\nbody: null");
    expect(await rejectionOf(app, text)).toBe(
      [
        "line 10: config.headers.Authorization is a secret that is not known here yet: give it, such as ${NAME} of a variable",
        "line 11: config.body is a secret that is not known here yet: give it, such as ${NAME} of a variable",
      ].join("\n"),
    );
    await apply(app, GIVEN, false, ENV);
    expect(await rejectionOf(app, fileWith("headers: { X-Other: null }"))).toContain(
      "config.headers.X-Other is a secret that is not known here yet",
    );
    expect((await apply(app, fileWith("headers: { X-Tenant: null }"))).changes).toHaveLength(1);
  });

  test("an empty text or a list without the header removes a secret", async () => {
    await using app = await createSite();
    const fewer = fileWith("headers: { X-Tenant: null }\nbody: ''");
    const { changes } = await apply(app, fewer);
    expect(changes.map(describeChange)).toEqual([
      '~ monitor login: config.headers.Authorization "a secret" → none, config.body "a secret" → none',
    ]);
    expect(kept(app)).toEqual({ headers: { "X-Tenant": "acme" } });
    await apply(app, fileWith("headers: {}"));
    expect(kept(app).headers).toEqual({});
    expect((await apply(app, fileWith("headers: {}"))).changes).toEqual([]);
  });

  test("a secret must be entered again for another server", async () => {
    await using app = await createSite();
    const elsewhere = "https://elsewhere.example/login";
    const rejection = await rejectionOf(app, fileWith("", elsewhere));
    expect(rejection).toContain("config.headers is a secret for another server");
    expect(rejection).toContain("config.body is a secret for another server");
    await apply(app, GIVEN.replace("https://api.acme.example/login", elsewhere), false, ENV);
    expect(kept(app)).toEqual(STORED);
    expect((await apply(app, fileWith("headers: {}\nbody: ''"))).changes).toHaveLength(1);
  });
});

test("secrets of monitors are in no report, log, audit entry, event or export", async () => {
  await using app = await createSite();
  const other = { API_TOKEN: `${TOKEN}-2`, PASSWORD };
  const outcome = await apply(app, GIVEN, false, other);
  expect(outcome.changes.map(describeChange)).toEqual([
    '~ monitor login: config.headers.Authorization "a secret" → "another secret"',
  ]);
  expect(kept(app).headers).toMatchObject({ Authorization: `Bearer ${TOKEN}-2` });
  const exported = writeApplyFile(await app.ctx.db.write((tx) => exportFile(tx)), []);
  expect(exported).toContain(
    "      headers:\n        Authorization: null\n        X-Tenant: null\n      body: null\n",
  );
  const output = JSON.stringify([outcome, app.audit(), app.events(), app.logged, exported]);
  expect(output).toContain("https://api.acme.example/login");
  expect(output).not.toContain(TOKEN);
  expect(output).not.toContain(PASSWORD);
});
