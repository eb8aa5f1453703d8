import { describe, expect, test } from "bun:test";
import { TLSSocket } from "node:tls";
import type { TlsVersion } from "../../../src/egress/model";
import { createEgress } from "../../../src/egress/egress";
import type { HttpConfig } from "../../../src/features/monitors/probes/http-config";
import type { MonitorConfig } from "../../../src/features/monitors/probes";
import type { SupportedType } from "../../../src/base/status";
import { openFleetStore } from "../../../src/fleet/store";
import { environmentOf } from "../../../src/fleet/log/replication";
import { openValkey } from "../../../src/fleet/valkey/client";
import { systemClock } from "../../../src/base/clock";
import { DAY_MS } from "../../../src/base/time";
import { createTestApp, testConfig } from "../../support/app";
import { createTestClock } from "../../support/clock";
import { createTestLog } from "../../support/log";
import { valkeyConfig } from "../../support/fleet/shared-limits";
import { checkHttp } from "../../support/http-check";
import { probe } from "../../support/probe";
import {
  answering,
  certificateText,
  httpAnswer,
  type RawServer,
  startRawServer,
  startTlsServer,
} from "../../support/raw-server";

const AUTHORITY = await certificateText("authority");
const AUTHORITY_PATH = new URL("../../support/certificates/authority.pem", import.meta.url)
  .pathname;
/** Ends of the intermediate certificate and of the one of the server in `chain.pem`. */
const INTERMEDIATE_END = Date.UTC(2090, 0);

/** A server that keeps the requests it was sent, and answers by its path. */
async function startSite(answers: (path: string) => string = () => httpAnswer(200)) {
  const requests: string[] = [];
  const server = await startRawServer(
    answering((request) => {
      requests.push(request);
      return answers(request.split(" ")[1] ?? "");
    }),
  );
  const hosts = () => requests.map((request) => /^host: (.*)$/im.exec(request)?.[1]);
  return Object.assign(server, { requests, hosts });
}

describe("the host of an HTTP monitor", () => {
  test.each<[config: (port: number) => HttpConfig, host: (port: number) => string]>([
    [(port) => ({ url: `http://127.0.0.1:${port}/` }), (port) => `127.0.0.1:${port}`],
    [
      (port) => ({ url: `http://127.0.0.1:${port}/`, host: "app.example.com" }),
      () => "app.example.com",
    ],
    [
      (port) => ({ url: `http://127.0.0.1:${port}/`, host: "app.example.com:8443" }),
      () => "app.example.com:8443",
    ],
    [
      (port) => ({ url: `http://127.0.0.1:${port}/`, host: "app.example.com:80" }),
      () => "app.example.com",
    ],
    [(port) => ({ url: `http://127.0.0.1:${port}/`, host: "例え.jp" }), () => "xn--r8jz45g.jp"],
    [(port) => ({ url: `http://127.0.0.1:${port}/`, host: "[::1]:8080" }), () => "[::1]:8080"],
    [
      (port) => ({ url: "http://app.test/", connect_to: { address: "127.0.0.1", port } }),
      () => "app.test",
    ],
    [
      (port) => ({ url: `http://app.test:${port}/`, connect_to: { address: "shop.test" } }),
      (port) => `app.test:${port}`,
    ],
    [
      (port) => ({
        url: "http://app.test/",
        host: "www.app.test",
        connect_to: { address: "127.0.0.1", port },
      }),
      () => "www.app.test",
    ],
  ])("the server gets the header Host of the configuration: row %#", async (config, host) => {
    await using site = await startSite();
    expect((await checkHttp(config(site.port))).outcome).toBe("ok");
    expect(site.hosts()).toEqual([host(site.port)]);
  });

  test.each<[config: (port: number) => HttpConfig, name: string | false, message: string | null]>([
    [(port) => ({ url: `https://127.0.0.1:${port}/`, host: "app.test" }), "app.test", null],
    [(port) => ({ url: `https://127.0.0.1:${port}/`, host: "app.test:8443" }), "app.test", null],
    [
      (port) => ({ url: "https://app.test/", connect_to: { address: "127.0.0.1", port } }),
      "app.test",
      null,
    ],
    [(port) => ({ url: `https://shop.test:${port}/`, host: "127.0.0.1" }), false, null],
    [
      (port) => ({ url: `https://shop.test:${port}/`, host: "else.test" }),
      "else.test",
      "The certificate is for another name.",
    ],
  ])("the name in TLS and the verification follow it: row %#", async (config, name, message) => {
    const names: unknown[] = [];
    await using server = await startTlsServer("chain", (socket) => {
      names.push((socket as TLSSocket).servername);
      answering(httpAnswer(200))(socket);
    });
    expect((await checkHttp({ ca: AUTHORITY, ...config(server.port) })).message).toBe(message);
    if (message === null) expect(names[0] || false).toBe(name);
  });

  test.each<[location: string, hosts: string[], hasKey: boolean]>([
    // The same origin, by the address and by the host.
    ["/b", ["app.test", "app.test"], true],
    ["http://127.0.0.1:PORT/b", ["app.test", "app.test"], true],
    ["http://app.test/b", ["app.test", "app.test"], true],
    // Another port, name and scheme are another origin.
    ["http://shop.test:PORT/b", ["app.test", "shop.test:PORT"], false],
    // On the way back both apply again, and headers do not.
    ["http://shop.test:PORT/back", ["app.test", "shop.test:PORT", "app.test"], false],
  ])("a redirect to %s is asked for by its own host", async (location, hosts, hasKey) => {
    await using site = await startSite((path) => {
      const to = path === "/" ? location : path === "/back" ? "http://app.test/b" : undefined;
      const Location = (to ?? "").replace("PORT", String(site.port));
      return to === undefined ? httpAnswer(200) : httpAnswer(302, "", { Location });
    });
    const result = await checkHttp({
      url: `http://127.0.0.1:${site.port}/`,
      host: "app.test",
      headers: { "X-Key": "secret" },
    });
    expect(result.outcome).toBe("ok");
    expect(site.hosts()).toEqual(hosts.map((host) => host.replace("PORT", String(site.port))));
    expect(site.requests.at(-1)?.includes("secret")).toBe(hasKey);
  });

  test("an address to connect to is judged by its addresses at every check", async () => {
    const names = { "evil.test": [["169.254.169.254"]] };
    const config = { url: "http://shop.test/", connect_to: { address: "evil.test" } };
    const result = await checkHttp(config, { names });
    expect(result).toMatchObject({ outcome: "failed", isOwnFault: true });
    expect(result.message).toStartWith("The host's address is a link-local address");
  });
});

describe("requests with a host, an address and authorities", () => {
  test.each<[type: SupportedType, config: MonitorConfig, pointer: string, detail: string]>([
    [
      "http",
      { url: "http://10.0.0.5/", headers: { Host: "app.example.com" } },
      "#/config/headers/Host",
      "must be given as host",
    ],
    ["http", { url: "http://10.0.0.5/", host: "a b" }, "#/config/host", "must be a host name"],
    ["http", { url: "http://10.0.0.5/", host: "a/b" }, "#/config/host", "must be a host name"],
    ["http", { url: "http://10.0.0.5/", host: "a:99999" }, "#/config/host", "must be a host name"],
    [
      "http",
      { url: "http://10.0.0.5/", connect_to: { address: "169.254.169.254" } },
      "#/config/connect_to/address",
      "is a link-local address",
    ],
    [
      "tls",
      { host: "example.com", connect_to: { address: "http://x" } },
      "#/config/connect_to/address",
      "must be a host name or an IP address",
    ],
    ["tls", { host: "example.com", ca: "x" }, "#/config/ca", "must be a certificate in PEM"],
    ["redis", { host: "example.com", tls_min: "1.4" }, "#/config/tls_min", "must be one of"],
  ])("the API refuses a wrong value of a %s monitor: %o", async (type, config, at, detail) => {
    await using app = await createTestApp();
    const key = await app.keyWith("manage:monitors");
    const json = { type, name: "m", component_ids: [], config };
    const answer = await app.call("/api/v1/monitors", { method: "POST", key, json });
    expect(answer.status).toBe(422);
    const { errors } = answer.body as { errors: { pointer: string; detail: string }[] };
    expect(errors.map(({ pointer }) => pointer)).toEqual([at]);
    expect(errors[0]?.detail).toStartWith(detail);
  });
});

describe("authorities of a monitor", () => {
  /** Answers a request for TLS in the words of PostgreSQL, and begins it. */
  async function startPostgres(): Promise<RawServer> {
    const pem = await certificateText("chain");
    return startRawServer((socket) => {
      socket.once("data", () => {
        socket.write("S");
        const secured = new TLSSocket(socket, { isServer: true, key: pem, cert: pem });
        secured.on("error", () => {});
        secured.once("data", () => void secured.destroy());
      });
    });
  }

  const startPlain = () => startTlsServer("chain", (socket) => void socket.end());

  const startWeb = () => startTlsServer("chain", answering(httpAnswer(200)));

  test.each<[SupportedType, (port: number) => MonitorConfig, start: () => Promise<RawServer>]>([
    ["http", (port) => ({ url: `https://localhost:${port}/` }), startWeb],
    ["tls", (port) => ({ host: "localhost", port }), startPlain],
    [
      "tls",
      (port) => ({ host: "app.test", connect_to: { address: "127.0.0.1", port } }),
      startPlain,
    ],
    ["websocket", (port) => ({ url: `wss://localhost:${port}/` }), startPlain],
    ["grpc", (port) => ({ host: "localhost", port, tls: "verify" }), startPlain],
    ["redis", (port) => ({ host: "localhost", port, tls: "verify" }), startPlain],
    ["mqtt", (port) => ({ host: "localhost", port, tls: "verify" }), startPlain],
    ["smtp", (port) => ({ host: "localhost", port, tls: "tls" }), startPlain],
    [
      "postgres",
      (port) => ({ host: "localhost", port, tls: "verify", user: "monitor" }),
      startPostgres,
    ],
  ])("a %s monitor trusts its own authorities: row %#", async (type, config, start) => {
    await using server = await start();
    const distrusted = await probe(type, config(server.port));
    expect(distrusted.message).toContain("issuer is not");
    const trusted = await probe(type, { ...config(server.port), ca: AUTHORITY });
    expect(trusted.message ?? "").not.toContain("issuer");
    expect(trusted.certificate?.expiresAt).toBe(INTERMEDIATE_END);
  });

  test("ALLCLEAR_CA_FILE is trusted by every connection of the installation", async () => {
    await using server = await startTlsServer("chain", answering(httpAnswer(200)));
    const request = (config: ReturnType<typeof testConfig>) =>
      createEgress({ clock: createTestClock(), allowedNetworks: [], config }).request({
        url: new URL(`https://127.0.0.1:${server.port}/`),
        method: "GET",
        policy: "monitor",
        signal: AbortSignal.timeout(10_000),
      });
    expect(await request(testConfig())).toMatchObject({ kind: "tls" });
    expect(await request(testConfig({ ALLCLEAR_CA_FILE: AUTHORITY_PATH }))).toMatchObject({
      status: 200,
    });
  });

  test("ALLCLEAR_CA_FILE is trusted for the bucket of a fleet, and named to its log", async () => {
    await using server = await startTlsServer("chain", answering(httpAnswer(404)));
    const read = (ALLCLEAR_CA_FILE?: string) => {
      const fleet = openFleetStore(
        testConfig({
          ALLCLEAR_FLEET_STORE: `s3://bucket?endpoint=https://127.0.0.1:${server.port}`,
          ALLCLEAR_FLEET_STORE_KEY_ID: "id",
          ALLCLEAR_FLEET_STORE_SECRET: "secret",
          ALLCLEAR_FLEET_SECRET: "f".repeat(43),
          ALLCLEAR_CA_FILE,
        }),
        createTestClock(),
      );
      const file = environmentOf(fleet.litestream)["SSL_CERT_FILE"];
      return fleet.files.get("key").then(
        () => ({ isRead: true, file }),
        () => ({ isRead: false, file }),
      );
    };
    const before = process.env["SSL_CERT_FILE"];
    expect(await read()).toEqual({ isRead: false, file: before });
    expect(await read(AUTHORITY_PATH)).toEqual({ isRead: true, file: before ?? AUTHORITY_PATH });
  });

  test("ALLCLEAR_CA_FILE is trusted for the Valkey of a fleet", async () => {
    await using server = await startTlsServer("chain", (socket) => {
      socket.on("data", (command: Buffer) => {
        // The answers of a server to HELLO and to PING.
        const isHello = command.includes("HELLO");
        socket.write(isHello ? "%1\r\n+proto\r\n:3\r\n" : "+PONG\r\n");
      });
    });
    const isAvailable = async (env: Record<string, string>) => {
      const config = valkeyConfig(`valkeys://127.0.0.1:${server.port}`, env);
      const valkey = await openValkey({
        config,
        clock: systemClock(),
        log: createTestLog("info").log,
      });
      const available = valkey.isAvailable();
      valkey.stop();
      return available;
    };
    expect(await isAvailable({})).toBe(false);
    expect(await isAvailable({ ALLCLEAR_CA_FILE: AUTHORITY_PATH })).toBe(true);
  });

  test.each<[path: string, problem: string]>([
    ["/nowhere.pem", "must name a file that can be read (ENOENT)"],
    [import.meta.path, "names a file that must"],
    [AUTHORITY_PATH.replace("authority", "chain"), "must not contain a private key"],
  ])("a wrong ALLCLEAR_CA_FILE stops the start: %s", (path, problem) => {
    expect(() => testConfig({ ALLCLEAR_CA_FILE: path })).toThrow(problem);
  });
});

describe("the oldest version of TLS of a monitor", () => {
  const OLD = "The server speaks only versions of TLS that are older than the check allows.";

  test.each<[tlsMin: TlsVersion | undefined, newest: TlsVersion, message: string | null]>([
    [undefined, "1.0", OLD],
    [undefined, "1.1", OLD],
    [undefined, "1.2", null],
    ["1.0", "1.0", null],
    ["1.0", "1.1", null],
    ["1.1", "1.1", null],
    ["1.1", "1.0", OLD],
    ["1.2", "1.1", OLD],
    ["1.3", "1.2", OLD],
    ["1.3", "1.3", null],
  ])("with %p, a server of at most %s gives %p", async (tlsMin, newest, message) => {
    const maxVersion = newest === "1.0" ? "TLSv1" : (`TLSv${newest}` as const);
    await using server = await startTlsServer("good", answering(httpAnswer(200)), {
      minVersion: "TLSv1",
      maxVersion,
    });
    const url = `https://shop.test:${server.port}/`;
    const result = await checkHttp({ url, ...(tlsMin && { tls_min: tlsMin }) });
    expect(result.message).toBe(message);
  });
});

describe("an intermediate certificate that expires before that of the server", () => {
  const clock = createTestClock(INTERMEDIATE_END - 2 * DAY_MS);
  const NAMED = "intermediate certificate “Allclear test intermediate”";

  test.each<[HttpConfig["assertions"], warningDays: number, outcome: string, message: string]>([
    [[], 14, "ok", `The ${NAMED} expires in 2 days.`],
    [
      [{ source: "certificate_days", op: "gte", value: 14 }],
      0,
      "failed",
      `The ${NAMED}'s time left is 2 days; it should be at least 14 days.`,
    ],
  ])("an HTTP check says so: %o", async (assertions, warningDays, outcome, message) => {
    await using server = await startTlsServer("chain", answering(httpAnswer(200)));
    const url = `https://shop.test:${server.port}/`;
    const config = { url, ca: AUTHORITY, certificate_warning_days: warningDays };
    expect(await checkHttp({ ...config, assertions }, { clock })).toMatchObject({
      outcome,
      message,
      certificate: { expiresAt: INTERMEDIATE_END, intermediate: "Allclear test intermediate" },
    });
  });

  test("a chain with a key of an unknown kind is read, and fails the check", async () => {
    await using server = await startTlsServer("odd", answering(httpAnswer(200)));
    const url = `https://shop.test:${server.port}/`;
    const refused = await checkHttp({ url }, { clock });
    expect(refused).toMatchObject({
      outcome: "failed",
      certificate: { expiresAt: INTERMEDIATE_END },
    });
    expect(await checkHttp({ url, verify_tls: false }, { clock })).toMatchObject({
      outcome: "ok",
      message: "The intermediate certificate “Allclear test odd authority” expires in 2 days.",
    });
  });

  test.each<[authority: string, outcome: string, message: string | null]>([
    [
      "old-authority",
      "failed",
      "The intermediate certificate “Allclear test renewed authority” expires in 2 days.",
    ],
    ["renewed-authority", "ok", null],
  ])(
    "an authority that the server sends counts unless it is trusted for longer: %s",
    async (name, outcome, message) => {
      await using server = await startTlsServer("renewed-chain", () => {});
      const ca = await certificateText(name);
      const config = { host: "localhost", port: server.port };
      expect(await probe("tls", { ...config, ca }, { context: { clock } })).toMatchObject({
        outcome,
        message,
      });
    },
  );

  test("a TLS check fails because of it, and names it", async () => {
    await using server = await startTlsServer("chain", () => {});
    const config = { host: "localhost", port: server.port, ca: AUTHORITY };
    const result = await probe("tls", config, { context: { clock } });
    expect(result).toMatchObject({
      outcome: "failed",
      message: `The ${NAMED} expires in 2 days.`,
    });
  });
});
