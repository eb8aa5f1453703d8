import { describe, expect, test } from "bun:test";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listStoredMonitors } from "../../../src/features/monitors/declared";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError } from "../../support/apply";
import { clientCertificate } from "../../support/raw-server";

const TOKEN = "t0p-secret-token";
const PASSWORD = "hunter2-hunter2";

describe("the client secret, key and proxy password of a monitor in a file", async () => {
  const { certificate, key } = await clientCertificate("good");
  const env = { CLIENT: TOKEN, KEY: key, PROXY: PASSWORD };
  const config = {
    url: "https://api.acme.example/login",
    oauth2: {
      token_url: "https://login.acme.example/token",
      client_id: "allclear",
      client_secret: "${CLIENT}",
    },
    client_certificate: { certificate, key: "${KEY}" },
    proxy: { url: "http://proxy.acme.example:3128", username: "monitor", password: "${PROXY}" },
  };
  /** JSON is YAML too. */
  const file = (changed: object = {}) => {
    const monitor = { name: "Login", type: "http", config: { ...config, ...changed } };
    return JSON.stringify({ pages: [], monitors: [monitor] });
  };
  const stored = ({ ctx }: TestApp) => listStoredMonitors(ctx.db)[0]?.row.config;
  const kept = {
    ...config,
    oauth2: { ...config.oauth2, client_secret: TOKEN },
    client_certificate: { certificate, key },
    proxy: { ...config.proxy, password: PASSWORD },
  };

  test("variables set them, and the same file changes nothing", async () => {
    await using app = await createTestApp();
    await apply(app, file(), false, env);
    expect(stored(app)).toEqual(kept);
    expect((await apply(app, file(), false, env)).changes).toEqual([]);
  });

  test("the export has null for each, which keeps them", async () => {
    await using app = await createTestApp({ logLevel: "trace" });
    await apply(app, file(), false, env);
    const exported = writeApplyFile(await app.ctx.db.write((tx) => exportFile(tx)), []);
    for (const line of ["client_secret: null", "key: null", "password: null"]) {
      expect(exported).toContain(`        ${line}\n`);
    }
    expect((await apply(app, exported)).changes).toEqual([]);
    const oauth2 = { ...config.oauth2, client_secret: null, auth: "body" };
    const outcome = await apply(app, file({ oauth2 }), false, env);
    expect(outcome.changes).toHaveLength(1);
    expect(stored(app)).toEqual({
      ...kept,
      oauth2: { ...kept.oauth2, auth: "body" },
    });
    const other = await apply(app, file(), false, { ...env, CLIENT: `${TOKEN}-2` });
    const output = JSON.stringify([exported, outcome, other, app.audit(), app.events()]);
    for (const secret of [TOKEN, PASSWORD, key.split("\n")[1] ?? ""]) {
      expect(output).not.toContain(secret);
      expect(JSON.stringify(app.logged)).not.toContain(secret);
    }
  });

  test("they must be entered again for servers that could read them, and can be removed", async () => {
    await using app = await createTestApp();
    await apply(app, file(), false, env);
    const concealed = {
      oauth2: { ...config.oauth2, client_secret: null },
      client_certificate: { certificate, key: null },
      proxy: { ...config.proxy, password: null },
    };
    const rejection = await applyError(app, file({ ...concealed, verify_tls: false }));
    expect(rejection).toContain("config.oauth2.client_secret is a secret for another server");
    expect(rejection).toContain("config.client_certificate.key is a secret for another server");
    expect(rejection).not.toContain("config.proxy");
    const proxy = { ...concealed.proxy, url: "http://evil.test:3128" };
    expect(await applyError(app, file({ ...concealed, proxy }))).toContain(
      "config.proxy.password is a secret for another server",
    );
    expect(stored(app)).toEqual(kept);
    const none = { oauth2: undefined, client_certificate: undefined, proxy: undefined };
    await apply(app, file({ ...none, verify_tls: false }));
    expect(stored(app)).toEqual({ url: config.url, verify_tls: false });
  });
});
