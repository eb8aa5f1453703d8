import { describe, expect, test } from "bun:test";
import type { TLSSocket } from "node:tls";
import { schemaErrors } from "../../../src/base/validation";
import { invertResult, type ProbeResult } from "../../../src/features/monitors/monitoring";
import { httpProbe } from "../../../src/features/monitors/probes/http";
import type { HttpConfig } from "../../../src/features/monitors/probes/http-config";
import { checkHttp } from "../../support/http-check";
import { startProxy } from "../../support/proxy";
import {
  answering,
  certificateText,
  httpAnswer,
  type OnConnection,
  startRawServer,
  startTlsServer,
} from "../../support/raw-server";

const PASSWORD = "pr0xy-s3cret";

const site: OnConnection = answering(httpAnswer(200, "here"));

describe("an HTTP check through a proxy", () => {
  for (const isTls of [false, true]) {
    const scheme = isTls ? "https" : "http";

    test(`an http URL is requested through an ${scheme} proxy, which gets an address`, async () => {
      const hosts: string[] = [];
      await using target = await startRawServer(
        answering((request) => {
          hosts.push(/^host: (.*)\r$/im.exec(request)?.[1] ?? "");
          return httpAnswer(200);
        }),
      );
      await using proxy = await startProxy({ isTls });
      const url = `http://shop.test:${target.port}/`;
      const result = await checkHttp({
        url,
        proxy: { url: proxy.url },
        ...(isTls && { verify_tls: false }),
      });
      expect(result).toMatchObject({ outcome: "ok", message: null });
      const authority = `127.0.0.1:${target.port}`;
      expect(proxy.requests).toEqual([{ authority, host: authority }]);
      expect(hosts).toEqual([`shop.test:${target.port}`]);
    });

    test(`an https URL is verified by its name through an ${scheme} proxy`, async () => {
      const serverNames: unknown[] = [];
      await using target = await startTlsServer("good", (socket) => {
        serverNames.push((socket as TLSSocket).servername);
        site(socket);
      });
      await using proxy = await startProxy({ isTls });
      const config = {
        url: `https://shop.test:${target.port}/`,
        // The certificate of the tests is valid for this name.
        proxy: { url: `${scheme}://localhost:${proxy.port}` },
      };
      const addresses = {
        localhost: [["127.0.0.1"]],
        "shop.test": [["127.0.0.1"]],
        "other.test": [["127.0.0.1"]],
      };
      const result = await checkHttp(config, { names: addresses });
      expect(result).toMatchObject({ outcome: "ok", certificate: { host: "shop.test" } });
      expect(serverNames).toEqual(["shop.test"]);
      const wrong = await checkHttp(
        { ...config, url: `https://other.test:${target.port}/` },
        { names: addresses },
      );
      expect(wrong).toMatchObject({
        outcome: "failed",
        message: "The certificate is for another name.",
      });
      await proxy.allClosed();
    });
  }

  test("the credentials are sent to the proxy only", async () => {
    let sent = "";
    await using target = await startRawServer(
      answering((request) => {
        sent = request;
        return httpAnswer(200);
      }),
    );
    const expected = `Basic ${btoa(`monitor:${PASSWORD}`)}`;
    await using proxy = await startProxy({
      refuse: (_, given) => (given === expected ? undefined : 407),
    });
    const config = (password: string) => ({
      url: `http://shop.test:${target.port}/`,
      proxy: { url: proxy.url, username: "monitor", password },
    });
    expect((await checkHttp(config(PASSWORD))).outcome).toBe("ok");
    expect(sent.toLowerCase()).not.toContain("proxy-authorization");
    const wrong = await checkHttp(config("wrong-s3cret"));
    expect(wrong).toMatchObject({
      outcome: "failed",
      message: "The proxy rejected the credentials (407).",
    });
    expect(JSON.stringify(wrong)).not.toContain("s3cret");
  });

  test("redirects and requests for tokens go through the proxy", async () => {
    await using login = await startRawServer(answering(httpAnswer(200, '{"access_token":"x"}')));
    await using target = await startRawServer(site);
    await using first = await startRawServer(
      answering(httpAnswer(302, "", { Location: `http://other.test:${target.port}/` })),
    );
    await using proxy = await startProxy();
    const result = await checkHttp({
      url: `http://shop.test:${first.port}/`,
      proxy: { url: proxy.url },
      oauth2: { token_url: `http://other.test:${login.port}/`, client_id: "a" },
    });
    expect(result.outcome).toBe("ok");
    expect(proxy.requests.map(({ authority }) => authority)).toEqual(
      [login, first, target].map(({ port }) => `127.0.0.1:${port}`),
    );
  });

  test("the next address is tried if the proxy cannot reach the first", async () => {
    await using target = await startRawServer(site);
    await using proxy = await startProxy({
      refuse: (authority) => (authority.startsWith("192.0.2.1:") ? 503 : undefined),
    });
    const names = { "shop.test": [["192.0.2.1", "127.0.0.1"]], "other.test": [["127.0.0.1"]] };
    const config = { url: `http://shop.test:${target.port}/`, proxy: { url: proxy.url } };
    expect((await checkHttp(config, { names })).outcome).toBe("ok");
    expect(proxy.requests).toHaveLength(2);
  });
});

/** Expects that nothing is known of the target, also for an inverted monitor, and that visitors see no proxy. */
function expectFaultOfProxy(result: ProbeResult): void {
  expect(result).toMatchObject({
    outcome: "failed",
    latencyMs: null,
    publicMessage: "The service could not be reached.",
  });
  expect(invertResult(result).outcome).toBe("unknown");
}

describe("a failed check through a proxy", () => {
  const names = {
    "shop.test": [["127.0.0.1"]],
    "other.test": [["127.0.0.1"]],
    "metadata.test": [["169.254.169.254"]],
  };

  test("a forbidden target is never sent to the proxy", async () => {
    await using proxy = await startProxy();
    for (const url of ["http://metadata.test/", "https://metadata.test/"]) {
      const result = await checkHttp({ url, proxy: { url: proxy.url } }, { names });
      expect(result.outcome).toBe("failed");
      expect(result.message).toStartWith("The host's address is");
    }
    expect(proxy.requests).toEqual([]);
  });

  test("a forbidden proxy is never connected to", async () => {
    const config = { url: "http://shop.test/", proxy: { url: "http://metadata.test:3128" } };
    const result = await checkHttp(config, { names });
    expect(result.outcome).toBe("failed");
    expect(result.message).toStartWith("The connection to the proxy: The host's address is");
  });

  test("a proxy with an untrusted certificate gets no request", async () => {
    await using proxy = await startTlsServer("self", site);
    const config = { url: "http://shop.test/", proxy: { url: `https://other.test:${proxy.port}` } };
    const result = await checkHttp(config);
    expect(result.message).toBe("The connection to the proxy: The certificate is self-signed.");
    expectFaultOfProxy(result);
  });

  test("a silent proxy ends with the check's deadline", async () => {
    await using proxy = await startRawServer(() => {});
    const config = { url: "http://shop.test/", proxy: { url: `http://other.test:${proxy.port}` } };
    const result = await checkHttp(config, { signal: AbortSignal.timeout(100) });
    expect(result.message).toBe("Timed out waiting for the proxy.");
    expectFaultOfProxy(result);
    await proxy.allClosed();
  });

  for (const isTls of [false, true]) {
    const scheme = isTls ? "https" : "http";

    test(`a deadline in the TLS handshake closes the connection to the ${scheme} proxy`, async () => {
      const deadline = new AbortController();
      const onConnection: OnConnection = (socket) => {
        socket.once("data", () => {
          socket.write("HTTP/1.1 200 OK\r\n\r\n");
          // The first message of the handshake with the target, which stays without an answer.
          socket.once("data", () => deadline.abort());
        });
      };
      await using proxy = isTls
        ? await startTlsServer("good", onConnection)
        : await startRawServer(onConnection);
      const result = await checkHttp(
        {
          url: "https://shop.test/",
          proxy: { url: `${scheme}://other.test:${proxy.port}` },
          verify_tls: false,
        },
        { signal: deadline.signal },
      );
      expect(result.message).toBe("Timed out in the TLS handshake.");
      await proxy.allClosed();
    });
  }

  test.each<[string, OnConnection, string]>([
    ["403", answering("HTTP/1.1 403 No\r\n\r\n"), "The proxy refused the connection (403)."],
    ["407", answering("HTTP/1.1 407 No\r\n\r\n"), "The proxy rejected the credentials (407)."],
    [
      "407 with a page",
      answering(httpAnswer(407, "<html>")),
      "The proxy rejected the credentials (407).",
    ],
    [
      "another protocol",
      (socket) => socket.write("SSH-2.0-x\r\n\r\n"),
      "The proxy's answer is not that of an HTTP proxy.",
    ],
    [
      "an answer without end",
      (socket) => socket.write(`HTTP/1.1 200 ${"x".repeat(20_000)}`),
      "The proxy's answer is not that of an HTTP proxy.",
    ],
    [
      "an answer in the place of the target",
      answering("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
      "The proxy's answer is not that of an HTTP proxy.",
    ],
    [
      "a closed connection",
      (socket) => socket.once("data", () => socket.end()),
      "The proxy closed the connection.",
    ],
  ])("the message names the proxy: %s", async (_, onConnection, message) => {
    await using proxy = await startRawServer(onConnection);
    const result = await checkHttp({
      url: "http://shop.test/",
      proxy: { url: `http://other.test:${proxy.port}` },
    });
    expect(result.message).toBe(message);
    expectFaultOfProxy(result);
    await proxy.allClosed();
  });

  test("a target that the proxy cannot reach has failed, so that an inverted monitor is up", async () => {
    for (const status of [502, 503, 504]) {
      await using proxy = await startRawServer(answering(httpAnswer(status, "<html>")));
      const result = await checkHttp({
        url: "http://shop.test/",
        proxy: { url: `http://other.test:${proxy.port}` },
      });
      expect(result).toMatchObject({
        outcome: "failed",
        message: `The proxy could not connect to the target (${status}).`,
      });
      expect(invertResult(result).outcome).toBe("ok");
    }
  });

  test("a proxy that nothing listens for is named, and is no fault of the target", async () => {
    const closed = await startRawServer(() => {});
    await closed[Symbol.asyncDispose]();
    const proxy = { url: `http://other.test:${closed.port}` };
    const result = await checkHttp({ url: "http://shop.test/", proxy });
    expect(result.message).toBe("The connection to the proxy: The connection was refused.");
    expectFaultOfProxy(result);
  });
});

const STORED: HttpConfig = {
  url: "https://shop.example.com/",
  headers: { "X-Key": "s3cret" },
  oauth2: { token_url: "https://login.example.com/", client_id: "a", client_secret: "s3cret" },
  proxy: { url: "http://proxy.example.com:3128", username: "monitor", password: PASSWORD },
};

describe("the settings of a proxy", () => {
  const pointers = (proxy: object) => {
    const config = { url: STORED.url, proxy };
    const broken = schemaErrors(httpProbe.config, config);
    const errors = broken.length > 0 ? broken : httpProbe.validate(config as HttpConfig);
    return errors.map(({ pointer }) => pointer);
  };
  const { url } = STORED.proxy ?? { url: "" };

  test.each<[object, string[]]>([
    [{ url }, []],
    [{ url: `${url}/` }, []],
    [{ url, username: "a", password: "x" }, []],
    [{ url, username: "a", password: null }, ["#/proxy/password"]],
    [{}, ["#/proxy/url"]],
    [{ url: "socks5://proxy.example.com" }, ["#/proxy/url"]],
    [{ url: "http://a:b@proxy.example.com" }, ["#/proxy/url"]],
    [{ url: "http://proxy.example.com/path" }, ["#/proxy/url"]],
    [{ url: "http://169.254.169.254:3128" }, ["#/proxy/url"]],
    [{ url, username: "a:b" }, ["#/proxy/username"]],
    [{ url, password: "x" }, ["#/proxy/username"]],
    [{ url, type: "http" }, ["#/proxy/type"]],
  ])("the settings %j have errors at %j", (proxy, expected) => {
    expect(pointers(proxy)).toEqual(expected);
  });

  test("the settings are shown without the password", () => {
    expect(httpProbe.present(STORED).proxy).toEqual({
      url,
      username: "monitor",
      has_password: true,
    });
  });

  const changed = (change: Partial<HttpConfig>) =>
    httpProbe.validateChange(STORED, change).map(({ pointer }) => pointer);

  test("another proxy asks for all secrets that it may get", () => {
    const proxy = { url: "http://evil.test:3128", username: "monitor" };
    expect(changed({ proxy })).toEqual(["#/headers", "#/oauth2/client_secret", "#/proxy/password"]);
    const merged = JSON.stringify(httpProbe.merge(STORED, { proxy }));
    expect(merged).not.toContain("s3cret");
    const { proxy: _, ...without } = STORED;
    expect(httpProbe.validateChange(without, { proxy }).map(({ pointer }) => pointer)).toEqual([
      "#/headers",
      "#/oauth2/client_secret",
    ]);
  });

  test("a removal of the proxy keeps the secrets of the request", () => {
    expect(changed({ proxy: null })).toEqual([]);
    expect(httpProbe.merge(STORED, { proxy: null }).headers).toEqual({ "X-Key": "s3cret" });
  });

  test("another user of the proxy, or a server behind it, asks for its password again", () => {
    const all = ["#/headers", "#/oauth2/client_secret", "#/proxy/password"];
    expect(changed({ proxy: { url, username: "other" } })).toEqual(all);
    expect(changed({ url: "https://evil.test/" })).toEqual(all);
  });

  test("other authorities ask for all secrets, which servers that they certify may get", async () => {
    const ca = await certificateText("good");
    expect(changed({ ca })).toEqual(["#/headers", "#/oauth2/client_secret", "#/proxy/password"]);
    expect(JSON.stringify(httpProbe.merge(STORED, { ca }))).not.toContain(PASSWORD);
  });
});
