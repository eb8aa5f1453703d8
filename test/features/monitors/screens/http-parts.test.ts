import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../../src/base/time";
import type { Fields } from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";
import { MONITOR_CONFIGS } from "../../../support/monitor-configs";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  MONITORS,
  NEW_MONITOR,
} from "../../../support/monitor-dashboard";
import { clientCertificate } from "../../../support/raw-server";

const GOOD = await clientCertificate("good");
const SELF = await clientCertificate("self");

const CONFIG = {
  url: "https://shop.example.com/",
  oauth2: {
    token_url: "https://login.example.com/token",
    client_id: "allclear",
    client_secret: "s3cret-of-the-client",
    scopes: ["health", "read"],
    audience: "https://shop.example.com/",
    auth: "body",
  },
  client_certificate: { ...GOOD, ca: SELF.certificate },
  proxy: {
    url: "http://proxy.example.com:3128",
    username: "monitor",
    password: "s3cret-of-the-proxy",
  },
};

/** Everything that the type takes, with secrets in all places. */
const MOST = JSON.parse(
  JSON.stringify({ ...MONITOR_CONFIGS.http[1], url: CONFIG.url }).replaceAll("hidden", "s3cret"),
);

/** Inputs for the whole configuration. */
const INPUTS: Fields = {
  config_oauth2_token_url: CONFIG.oauth2.token_url,
  config_oauth2_client_id: "allclear",
  config_oauth2_client_secret: CONFIG.oauth2.client_secret,
  config_oauth2_scopes: " health  read ",
  config_oauth2_audience: CONFIG.oauth2.audience,
  config_oauth2_auth: "body",
  // Browsers send CR LF.
  config_client_certificate_certificate: GOOD.certificate.replaceAll("\n", "\r\n"),
  config_client_certificate_key: GOOD.key.replaceAll("\n", "\r\n"),
  config_client_certificate_ca: SELF.certificate.replaceAll("\n", "\r\n"),
  config_proxy_url: CONFIG.proxy.url,
  config_proxy_username: "monitor",
  config_proxy_password: CONFIG.proxy.password,
};

const SECRETS = ["s3cret-of-the", GOOD.key.split("\n")[1] ?? "no key"];

function expectNoSecret(text: string): void {
  for (const secret of SECRETS) expect(text).not.toContain(secret);
}

const errorsIn = (html: string) => readHtml(html).texts("[role=alert] li");
/** Titles of the open parts within the further options. */
const openFolds = (html: string) => readHtml(html).texts(".fold-body details[open] > summary");
const configOf = (stored: { row: { config: object } }) =>
  stored.row.config as Record<string, unknown>;

describe("OAuth 2.0, client certificate and proxy on the form of an HTTP monitor", () => {
  test("the form for a new monitor sets all three, and an edit of another field keeps them", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = monitorIdIn(await dashboard.create(INPUTS));
    expect(configOf(dashboard.stored(id))).toMatchObject(CONFIG);
    expect((await dashboard.edit(id, { name: "Renamed" })).status).toBe(303);
    expect(dashboard.stored(id).row.name).toBe("Renamed");
    expect(configOf(dashboard.stored(id))).toMatchObject(CONFIG);
    // A form without changes writes nothing.
    const before = dashboard.written();
    expect((await dashboard.edit(id, {})).status).toBe(303);
    expect(dashboard.written()).toEqual(before);
  });

  test("what is left empty is not stored, and the parts of the form are closed", async () => {
    await using dashboard = await createMonitorDashboard();
    const { text } = await dashboard.open(`${NEW_MONITOR}?type=http`);
    expect(readHtml(text).texts("details.fold[open]")).toEqual([]);
    expect(readHtml(text).texts("details > summary")).toEqual(
      expect.arrayContaining(["OAuth 2.0", "Client certificate", "Proxy"]),
    );
    expect(text).not.toContain("Remove the proxy");
    const form = { ...formOf(text), name: "Shop", config_url: CONFIG.url };
    const id = monitorIdIn(await dashboard.send(NEW_MONITOR, form));
    for (const field of ["oauth2", "client_certificate", "proxy"]) {
      expect(configOf(dashboard.stored(id))[field]).toBeUndefined();
    }
  });

  test("optional inputs can be left empty", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = monitorIdIn(
      await dashboard.create({
        config_oauth2_token_url: CONFIG.oauth2.token_url,
        config_oauth2_client_id: "allclear",
        config_client_certificate_certificate: GOOD.certificate,
        config_client_certificate_key: GOOD.key,
        config_proxy_url: CONFIG.proxy.url,
      }),
    );
    expect(configOf(dashboard.stored(id))).toMatchObject({
      oauth2: { token_url: CONFIG.oauth2.token_url, client_id: "allclear" },
      client_certificate: GOOD,
      proxy: { url: CONFIG.proxy.url },
    });
  });

  test("the edit form shows subject and end of certificates, opens the parts in use, and shows no secret", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ config: CONFIG });
    const { text } = await dashboard.open(`${MONITORS}/${id}/edit`);
    expect(openFolds(text)).toEqual(["OAuth 2.0", "Client certificate", "Proxy"]);
    for (const part of ["certificate", "ca"]) {
      const [hint] = readHtml(text).texts(`#field-config_client_certificate_${part}-hint`);
      expect(hint).toStartWith("“localhost”: valid until 1 January 2099. ");
    }
    expectNoSecret(text);
    expect(text).not.toContain("PRIVATE KEY");
  });

  test("an expired certificate is shown as such", async () => {
    await using dashboard = await createMonitorDashboard();
    const client_certificate = await clientCertificate("expired");
    const id = await dashboard.make({ config: { url: CONFIG.url, client_certificate } });
    const { text } = await dashboard.open(`${MONITORS}/${id}/edit`);
    const [hint] = readHtml(text).texts("#field-config_client_certificate_certificate-hint");
    expect(hint).toStartWith("“localhost”: expired on 1 January 2021. ");
  });

  test("typed secrets replace the stored ones", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ config: CONFIG });
    const answer = await dashboard.edit(id, {
      config_oauth2_client_secret: "new",
      config_oauth2_scopes: "",
      config_client_certificate_certificate: SELF.certificate,
      config_client_certificate_key: SELF.key,
      config_client_certificate_ca: "",
      config_proxy_password: "new too",
    });
    expect(answer.status).toBe(303);
    const { scopes: _, ...oauth2 } = CONFIG.oauth2;
    expect(configOf(dashboard.stored(id))).toMatchObject({
      oauth2: { ...oauth2, client_secret: "new" },
      client_certificate: SELF,
      proxy: { ...CONFIG.proxy, password: "new too" },
    });
    expect(configOf(dashboard.stored(id))["client_certificate"]).not.toHaveProperty("ca");
  });

  test("a secret, or the whole of each, can be removed", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ config: CONFIG });
    await dashboard.edit(id, {
      config_oauth2_client_secret_remove: "yes",
      config_proxy_password_remove: "yes",
    });
    const { client_secret: _, ...oauth2 } = CONFIG.oauth2;
    const { password: __, ...proxy } = CONFIG.proxy;
    expect(configOf(dashboard.stored(id))).toMatchObject({ oauth2, proxy });
    expect(JSON.stringify(configOf(dashboard.stored(id)))).not.toContain("s3cret");
    const removed = {
      config_oauth2_remove: "yes",
      config_client_certificate_remove: "yes",
      config_proxy_remove: "yes",
    };
    expect((await dashboard.edit(id, removed)).status).toBe(303);
    expect(configOf(dashboard.stored(id))).toEqual({ url: CONFIG.url });
  });

  test("emptying all inputs removes an object with its secret", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ config: CONFIG });
    const answer = await dashboard.edit(id, {
      config_oauth2_token_url: "",
      config_oauth2_client_id: "",
      config_oauth2_scopes: "",
      config_oauth2_audience: "",
      config_oauth2_auth: "basic",
      config_proxy_url: "",
      config_proxy_username: "",
    });
    expect(answer.status).toBe(303);
    expect(configOf(dashboard.stored(id))).toEqual({
      url: CONFIG.url,
      client_certificate: CONFIG.client_certificate,
    });
  });

  test.each<[what: string, fields: Fields, errors: string[]]>([
    [
      "no URL",
      { config_oauth2_token_url: "login", config_proxy_url: "http://proxy.test/path" },
      [
        "Token URL must be an address such as https://example.com/health.",
        "Proxy URL must be a host and a port only, such as http://proxy.example.com:3128.",
      ],
    ],
    [
      "required inputs left empty",
      {
        config_oauth2_token_url: "",
        config_oauth2_client_id: " ",
        config_client_certificate_certificate: "",
        config_proxy_url: "",
      },
      [
        "Token URL is empty.",
        "Client ID is empty.",
        "Certificate is empty.",
        "Proxy URL is empty.",
      ],
    ],
    ["no key", { config_client_certificate_key: "" }, ["Private key is required."]],
    [
      "a secret alone",
      {
        config_oauth2_token_url: "",
        config_oauth2_client_id: "",
        config_oauth2_scopes: "",
        config_oauth2_audience: "",
        config_oauth2_auth: "basic",
      },
      ["Token URL is empty.", "Client ID is empty."],
    ],
    [
      "a wrong certificate",
      { config_client_certificate_certificate: "MII", config_client_certificate_ca: GOOD.key },
      [
        "Certificate must be a certificate in PEM, from its BEGIN line to its END line.",
        "CA certificates must not contain a private key.",
      ],
    ],
    [
      "a key pasted with its certificate",
      { config_client_certificate_certificate: `${GOOD.certificate}\n${GOOD.key}` },
      ["Certificate must not contain a private key."],
    ],
    [
      "the key of another certificate",
      { config_client_certificate_key: SELF.key },
      ["Private key does not belong to the certificate."],
    ],
    [
      "http",
      { config_url: "http://shop.example.com/" },
      ["Certificate needs a URL with https://."],
    ],
    [
      "a header for the token",
      { header_0_name: "Authorization", header_0_value: "x" },
      ["Headers: “Authorization” is set by OAuth 2.0: remove one of them."],
    ],
    [
      "a password without a name",
      { config_proxy_username: "" },
      ["Proxy user name is required for a password."],
    ],
  ])("errors are at their inputs: %s", async (_, fields, errors) => {
    await using dashboard = await createMonitorDashboard();
    const before = dashboard.written();
    const answer = await dashboard.create({ ...INPUTS, ...fields });
    expect(answer.status).toBe(422);
    expect(errorsIn(answer.text)).toEqual(errors);
    expect(readHtml(answer.text).texts(".field-error")).toHaveLength(errors.length);
    expectNoSecret(answer.text);
    expect(dashboard.written()).toEqual(before);
  });

  test("secrets of a rejected form need not be typed again for half an hour", async () => {
    await using dashboard = await createMonitorDashboard();
    const rejected = await dashboard.create({ ...INPUTS, name: "" });
    expect(rejected.status).toBe(422);
    expectNoSecret(rejected.text);
    const again = { ...formOf(rejected.text), name: "Shop" };
    const id = monitorIdIn(await dashboard.send(NEW_MONITOR, again));
    expect(configOf(dashboard.stored(id))).toMatchObject(CONFIG);
    const late = await dashboard.create({ ...INPUTS, name: "" });
    await dashboard.app.clock.advance(30 * MINUTE_MS);
    const refused = await dashboard.send(NEW_MONITOR, { ...formOf(late.text), name: "Shop" });
    expect(errorsIn(refused.text)).toEqual(
      ["Client secret", "Private key", "Proxy password"].map(
        (label) =>
          `${label}: The ${label.toLowerCase()} was typed too long ago and is no longer held. Type the ${label.toLowerCase()} again, or remove it.`,
      ),
    );
    expect(typedIn(refused.text, "config_proxy_username")).toEqual(["monitor"]);
  });

  test("a check before saving uses typed and stored secrets", async () => {
    await using dashboard = await createMonitorDashboard();
    const tried = await dashboard.create({ ...INPUTS, intent: "check" });
    expect(tried.status).toBe(200);
    expectNoSecret(tried.text);
    const id = await dashboard.make({ config: CONFIG });
    await dashboard.edit(id, { config_oauth2_auth: "basic", intent: "check" });
    expect(dashboard.triedOut.map(({ config }) => config)).toMatchObject([
      CONFIG,
      { ...CONFIG, oauth2: { ...CONFIG.oauth2, auth: "basic" } },
    ]);
  });

  test("stored secrets are not sent to another server, or to one that is not verified, until they are typed again", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ config: CONFIG });
    const before = dashboard.written();
    const other = (noun: string) =>
      `The stored ${noun} belongs to another server or request. Type it again, or remove it.`;
    const moves: [Fields, string[]][] = [
      [{ config_oauth2_token_url: "https://evil.test/" }, ["client secret", "proxy password"]],
      [{ config_proxy_url: "http://evil.test:3128" }, ["client secret", "proxy password"]],
      [{ config_verify_tls: "" }, ["client secret", "private key"]],
      [{ config_url: "https://evil.test/" }, ["client secret", "private key", "proxy password"]],
      [{ config_oauth2_scopes: "admin" }, ["client secret"]],
      [{ config_proxy_username: "root" }, ["client secret", "proxy password"]],
      [{ config_method: "DELETE" }, ["client secret", "private key"]],
      [{ config_client_certificate_ca: GOOD.certificate }, ["client secret"]],
    ];
    for (const [moved, nouns] of moves) {
      for (const intent of [{}, { intent: "check" }] as Fields[]) {
        const rejected = await dashboard.edit(id, { ...moved, ...intent });
        expect(rejected.status).toBe(422);
        expect(readHtml(rejected.text).texts(".field-error")).toEqual(nouns.map(other));
      }
    }
    expect(dashboard.written()).toEqual(before);
    expect(dashboard.triedOut).toEqual([]);
    const again = { config_verify_tls: "", ...INPUTS };
    expect((await dashboard.edit(id, again)).status).toBe(303);
    expect(configOf(dashboard.stored(id))).toMatchObject({ ...CONFIG, verify_tls: false });
  });

  test("the form for a clone has all but the secrets, and asks for the key", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make({ config: CONFIG });
    const { text } = await dashboard.open(`${NEW_MONITOR}?type=http&from=${id}`);
    expectNoSecret(text);
    expect(text).not.toContain("Set. Leave empty to keep it");
    expect(openFolds(text)).toEqual(["OAuth 2.0", "Client certificate", "Proxy"]);
    const rejected = await dashboard.send(NEW_MONITOR, formOf(text));
    expect(errorsIn(rejected.text)).toEqual(["Private key is required."]);
    const typed = { ...formOf(rejected.text), config_client_certificate_key: GOOD.key };
    const copy = configOf(dashboard.stored(monitorIdIn(await dashboard.send(NEW_MONITOR, typed))));
    const { client_secret: _, ...oauth2 } = CONFIG.oauth2;
    const { password: __, ...proxy } = CONFIG.proxy;
    expect(copy).toMatchObject({ oauth2, client_certificate: CONFIG.client_certificate, proxy });
    expect(JSON.stringify(copy)).not.toContain("s3cret");
  });

  test("the secrets are on no screen, and in no audit entry, event or log", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make({ config: MOST });
    const screens = ["", `/${id}`, `/${id}/edit`, `/${id}/delete`].map((end) => MONITORS + end);
    for (const path of screens) expect((await dashboard.open(path)).text).not.toContain("s3cret");
    const wrong = await dashboard.edit(id, { ...INPUTS, name: "" });
    expectNoSecret(wrong.text);
    expectNoSecret(JSON.stringify([app.audit(), app.events(), app.logged]));
  });
});
