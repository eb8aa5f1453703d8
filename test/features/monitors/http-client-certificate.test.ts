import { describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { schemaErrors } from "../../../src/base/validation";
import { httpProbe } from "../../../src/features/monitors/probes/http";
import type { ClientCertificate } from "../../../src/features/monitors/probes/client-certificate";
import type { HttpConfig } from "../../../src/features/monitors/probes/http-config";
import { expectProblem } from "../../support/app";
import { createTestEgress, patience } from "../../support/egress";
import { checkHttp, createHttpChecks } from "../../support/http-check";
import { createMonitorApi, HTTP } from "../../support/monitor-api";
import {
  answering,
  certificateText,
  clientCertificate,
  httpAnswer,
  startRawServer,
  startTlsServer,
} from "../../support/raw-server";

const ROOT = await certificateText("root");

const GOOD = await clientCertificate("good");
const SELF = await clientCertificate("self");
/** A distinctive line of the key. */
const SECRET = GOOD.key.split("\n")[1] ?? "no key";

/** Starts a server that demands a client certificate of the tests' authority, and keeps their names. */
async function startDemanding(answer = httpAnswer(200)) {
  const names: unknown[] = [];
  const server = await startTlsServer(
    "good",
    (socket) => {
      names.push((socket as TLSSocket).getPeerCertificate()?.subject?.CN);
      answering(answer)(socket);
    },
    { ca: ROOT, requestCert: true, rejectUnauthorized: true },
  );
  return Object.assign(server, { names });
}

describe("an HTTP check with a client certificate", () => {
  test("the check identifies itself by the certificate, and fails without one", async () => {
    await using server = await startDemanding();
    const url = `https://shop.test:${server.port}/`;
    const check = await createHttpChecks();
    for (let nth = 0; nth < 2; nth += 1) {
      expect(await check({ url, client_certificate: GOOD })).toMatchObject({ outcome: "ok" });
    }
    expect(server.names).toEqual(["localhost", "localhost"]);
    const without = await check({ url });
    expect(without).toMatchObject({
      outcome: "failed",
      message: "The server requires a client certificate.",
    });
    const untrusted = await check({ url, client_certificate: SELF });
    expect(untrusted.outcome).toBe("failed");
    expect(server.names).toHaveLength(2);
  });

  test("authorities of the certificate are trusted for this check only", async () => {
    await using server = await startTlsServer("self", answering(httpAnswer(200)));
    const url = `https://shop.test:${server.port}/`;
    const check = await createHttpChecks();
    expect((await check({ url, client_certificate: GOOD })).message).toBe(
      "The certificate is self-signed.",
    );
    const client = { ...GOOD, ca: SELF.certificate };
    expect((await check({ url, client_certificate: client })).message).not.toBe(
      "The certificate is self-signed.",
    );
    expect((await check({ url })).message).toBe("The certificate is self-signed.");
  });

  test("the authorities of NODE_EXTRA_CA_CERTS stay trusted with a client certificate and further ones", async () => {
    await using server = await startDemanding();
    const source = (path: string) => JSON.stringify(import.meta.resolve(`../../../src/${path}`));
    const script = `
      import { createEgress } from ${source("egress/egress.ts")};
      import { systemClock } from ${source("base/clock.ts")};
      const lookup = async () => ["127.0.0.1"];
      const egress = createEgress({ clock: systemClock(), allowedNetworks: [], lookup });
      const { url, certificates } = JSON.parse(process.env.REQUESTS);
      const request = { url: new URL(url), method: "GET", policy: "monitor" };
      for (const clientCertificate of certificates) {
        const signal = AbortSignal.timeout(240_000);
        const answer = await egress.request({ ...request, clientCertificate, signal });
        console.log(answer.message ?? answer.status);
      }
      process.exit();`;
    const REQUESTS = JSON.stringify({
      url: `https://localhost:${server.port}/`,
      certificates: [GOOD, { ...GOOD, ca: SELF.certificate }],
    });
    const root = new URL("../../support/certificates/root.pem", import.meta.url).pathname;
    const [trusting, other] = await Promise.all(
      [root, ""].map(async (NODE_EXTRA_CA_CERTS) => {
        const env = { ...process.env, REQUESTS, NODE_EXTRA_CA_CERTS };
        const child = Bun.spawn([process.execPath, "-e", script], {
          env,
          stdout: "pipe",
          stderr: "inherit",
        });
        return (await new Response(child.stdout).text()).trim().split("\n");
      }),
    );
    expect(trusting).toEqual(["200", "200"]);
    const untrusted = "The certificate's issuer is not trusted.";
    expect(other).toEqual([untrusted, untrusted]);
  });

  test("the certificate is not shown to another origin after a redirect", async () => {
    const shown: unknown[] = [];
    await using target = await startTlsServer(
      "good",
      (socket) => {
        shown.push((socket as TLSSocket).getPeerCertificate()?.subject);
        answering(httpAnswer(200))(socket);
      },
      { ca: ROOT, requestCert: true, rejectUnauthorized: false },
    );
    const location = `https://shop.test:${target.port}/`;
    await using site = await startDemanding(httpAnswer(302, "", { Location: location }));
    const url = `https://shop.test:${site.port}/`;
    expect((await checkHttp({ url, client_certificate: GOOD })).outcome).toBe("ok");
    expect(site.names).toEqual(["localhost"]);
    expect(shown).toEqual([undefined]);
  });

  test("the check fails without a connection if the key is missing", async () => {
    const { certificate } = GOOD;
    const result = await checkHttp({
      url: "https://shop.test/",
      client_certificate: { certificate, key: null },
    });
    expect(result).toMatchObject({
      outcome: "failed",
      message: "The client certificate has no key.",
    });
  });
});

const URL_HERE = "https://shop.example.com/";

describe("a rejected client certificate", () => {
  // Descriptions of alerts in RFC 8446.
  test.each([
    [42, "The server does not accept the client certificate."],
    [44, "The client certificate has been revoked."],
    [45, "The client certificate has expired."],
    [46, "The server does not accept the client certificate."],
    [48, "The server does not trust the client certificate."],
  ])("the alert %i of the server is explained", async (description, message) => {
    const alert = Buffer.from([21, 3, 3, 0, 2, 2, description]);
    await using server = await startRawServer((socket) =>
      socket.once("data", () => socket.end(alert)),
    );
    const url = `https://shop.test:${server.port}/`;
    expect(await checkHttp({ url, client_certificate: GOOD })).toMatchObject({
      outcome: "failed",
      message,
    });
  });

  test("a failure says that the client certificate has expired, but not to the public", async () => {
    const expired = await clientCertificate("expired");
    await using server = await startTlsServer("good", answering(httpAnswer(400)));
    const check = await createHttpChecks();
    const config = { url: `https://shop.test:${server.port}/`, verify_tls: false };
    const failure = { outcome: "failed", message: "The status is 400; it should be 2xx." };
    expect(await check({ ...config, client_certificate: GOOD })).toMatchObject(failure);
    expect(await check({ ...config, client_certificate: expired })).toMatchObject({
      outcome: "failed",
      message: `The client certificate has expired. ${failure.message}`,
      publicMessage: "The status is 400.",
    });
    const assertions = [{ source: "status", op: "eq", value: 400 } as const];
    const accepted = await check({ ...config, assertions, client_certificate: expired });
    expect(accepted).toMatchObject({ outcome: "ok", message: null });
  });

  test("a certificate that cannot be used is no fault of the target", async () => {
    const { egress } = await createTestEgress({ "shop.test": [["127.0.0.1"]] });
    const fault = await egress.request({
      url: new URL("https://shop.test/"),
      method: "GET",
      clientCertificate: { certificate: GOOD.certificate, key: SELF.key },
      policy: "monitor",
      signal: patience(),
    });
    expect(fault).toMatchObject({
      kind: "refused",
      message: "The client certificate cannot be used.",
    });
  });
});

describe("the settings of a client certificate", () => {
  const errorsOf = (client_certificate: object, url = URL_HERE) => {
    const config = { url, client_certificate };
    const broken = schemaErrors(httpProbe.config, config);
    return broken.length > 0 ? broken : httpProbe.validate(config as HttpConfig);
  };

  const encrypted = (type: "pkcs8") =>
    String(
      createPrivateKey(GOOD.key).export({
        type,
        format: "pem",
        cipher: "aes-256-cbc",
        passphrase: "x",
      }),
    );

  test("a certificate with its key is accepted, also with a chain and authorities", () => {
    expect(errorsOf(GOOD)).toEqual([]);
    const chain = `${GOOD.certificate}\n${ROOT}`;
    expect(errorsOf({ ...GOOD, certificate: chain, ca: `${ROOT}\n${ROOT}` })).toEqual([]);
    // A configuration file keeps the stored key.
    const kept = { url: URL_HERE, client_certificate: { ...GOOD, key: null } };
    expect(httpProbe.validate(kept)).toEqual([]);
  });

  test.each<[string, object, string, string]>([
    ["no certificate", { certificate: "x" }, "certificate", "must be a certificate in PEM"],
    [
      "a broken certificate",
      { certificate: GOOD.certificate.replace("MII", "MIJ") },
      "certificate",
      "must be a certificate in PEM",
    ],
    ["no key", { key: undefined }, "key", "is required"],
    ["an empty key", { key: "" }, "key", "is required"],
    ["null instead of a key", { key: null }, "key", "must be text"],
    ["a broken key", { key: GOOD.certificate }, "key", "must be a private key in PEM"],
    ["another certificate's key", { key: SELF.key }, "key", "does not belong"],
    ["an encrypted key", { key: encrypted("pkcs8") }, "key", "must not be encrypted"],
    [
      "a key encrypted in the old format",
      { key: GOOD.key.replace(/\n/, "\nProc-Type: 4,ENCRYPTED\n") },
      "key",
      "must not be encrypted",
    ],
    [
      "a key in the certificate",
      { certificate: `${GOOD.certificate}\n${GOOD.key}` },
      "certificate",
      "must not contain a private key",
    ],
    [
      "a key in the authorities",
      { ca: `${GOOD.certificate}\n${GOOD.key}` },
      "ca",
      "must not contain a private key",
    ],
    ["no authorities", { ca: "x" }, "ca", "must be a certificate in PEM"],
    ["an unknown field", { passphrase: "x" }, "passphrase", "is not a known field"],
  ])("%s is rejected", (_, more, field, detail) => {
    const errors = errorsOf({ ...GOOD, ...more });
    expect(errors.map(({ pointer }) => pointer)).toEqual([`#/client_certificate/${field}`]);
    expect(errors[0]?.detail).toStartWith(detail);
    expect(JSON.stringify(errors)).not.toContain(SECRET);
  });

  test("a certificate without TLS is rejected", () => {
    expect(errorsOf(GOOD, "http://shop.example.com/")).toEqual([
      { pointer: "#/client_certificate", detail: "needs a URL with https://" },
    ]);
  });

  test("the certificate is shown without its key", () => {
    const config = { url: URL_HERE, client_certificate: GOOD };
    expect(httpProbe.present(config)["client_certificate"]).toEqual({
      certificate: GOOD.certificate,
      ca: null,
      has_key: true,
    });
  });

  test("another authority, or none that is verified, asks for the secrets again that it may get", () => {
    const stored = { url: URL_HERE, headers: { "X-Key": "s3cret" }, client_certificate: GOOD };
    const pointersOf = (before: HttpConfig, change: Partial<HttpConfig>) =>
      httpProbe.validateChange(before, change).map(({ pointer }) => pointer);
    const { certificate } = GOOD;
    const trusting = (ca: string) => ({ client_certificate: { certificate, ca } });
    expect(pointersOf(stored, trusting(ROOT))).toEqual(["#/headers"]);
    const trusted = { ...stored, client_certificate: { ...GOOD, ca: ROOT } };
    expect(pointersOf(trusted, trusting(ROOT))).toEqual([]);
    expect(pointersOf(trusted, { client_certificate: { certificate } })).toEqual([]);
    expect(pointersOf(trusted, trusting(SELF.certificate))).toEqual(["#/headers"]);
    expect(pointersOf(stored, { verify_tls: false })).toEqual([
      "#/headers",
      "#/client_certificate/key",
    ]);
  });

  test("a change keeps the key of the same server, and asks for it again for another one", async () => {
    await using api = await createMonitorApi();
    const withClient = (client_certificate: object) => ({
      ...HTTP,
      config: { url: URL_HERE, client_certificate },
    });
    expectProblem(await api.post(withClient({ ...GOOD, key: null })), "validation_failed");
    const { id, config } = await api.create(withClient(GOOD));
    expect(JSON.stringify(config)).not.toContain(SECRET);
    const { certificate } = GOOD;
    const kept = await api.patch(id, {
      config: { client_certificate: { certificate, ca: ROOT } },
    });
    expect(kept.body.config.client_certificate).toEqual({ certificate, ca: ROOT, has_key: true });

    const pointersOf = (answer: typeof kept) =>
      expectProblem(answer, "validation_failed").errors.map(
        ({ pointer }: { pointer: string }) => pointer,
      );
    const key = ["#/config/client_certificate/key"];
    const url = "https://evil.test/";
    expect(pointersOf(await api.patch(id, { config: { url } }))).toEqual(key);
    const other: ClientCertificate = { certificate: SELF.certificate };
    expect(pointersOf(await api.patch(id, { config: { client_certificate: other } }))).toEqual(key);
    const without: ClientCertificate = { certificate, key: null };
    expect(pointersOf(await api.patch(id, { config: { client_certificate: without } }))).toEqual(
      key,
    );
    const again = await api.patch(id, { config: { url, client_certificate: GOOD } });
    expect(again.body.config.client_certificate.has_key).toBe(true);
    const removed = await api.patch(id, { config: { client_certificate: null } });
    expect(removed.body.config.client_certificate).toBeNull();
  });
});
