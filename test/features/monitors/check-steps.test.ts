import { describe, expect, test } from "bun:test";
import { createTestClock } from "../../support/clock";
import { startDnsServer } from "../../support/dns-server";
import { startDocker } from "../../support/docker";
import { usePingProgram } from "../../support/ping-program";
import { answering, httpAnswer, startRawServer, startTlsServer } from "../../support/raw-server";
import { startRelay } from "../../support/relay";
import { startWebSocketServer } from "../../support/servers/websocket";
import { createRecordedChecks, lineOf, stepsOf } from "../../support/steps";

const LOCAL = "look_up | localhost: 127.0.0.1";
const CONNECT = "connect | 127.0.0.1:PORT";
const REFUSED = "connect | failed | 127.0.0.1:PORT: The connection was refused.";
const TLS = "tls | TLS 1.3, certificate until 2099-01-01";
const BODY = "body | N bytes";

/** Returns a port on loopback on which nothing listens. */
async function closedPort(): Promise<number> {
  await using server = await startRawServer(() => {});
  return server.port;
}

describe("steps of HTTP checks", () => {
  test("look-up, connection, TLS, request, body and each assertion are steps, without secrets", async () => {
    await using server = await startTlsServer("good", answering(httpAnswer(200, "All good.")));
    const config = {
      url: `https://localhost:${server.port}/health?key=s3cret`,
      headers: { Authorization: "Bearer s3cret" },
      assertions: [
        { source: "status", op: "in", value: ["200-299"] },
        { source: "body", op: "contains", value: "good" },
        { source: "header", property: "X-Down", op: "exists", value: false },
        { source: "latency", op: "lt", value: 500 },
      ],
    };
    const lines = await stepsOf("http", config);
    expect(lines).toEqual([
      LOCAL,
      CONNECT,
      TLS,
      "request | HTTP status 200",
      BODY,
      "assertion | status should be one of 200-299",
      "assertion | body should contain “good”",
      "assertion | header X-Down should not exist",
      "assertion | latency should be below 500 ms",
    ]);
    expect(lines.join()).not.toContain("s3cret");
  });

  test("the assertion that fails is the last step and says what came", async () => {
    await using server = await startRawServer(answering(httpAnswer(200, '{"jobs": [1, 2]}')));
    const url = `http://127.0.0.1:${server.port}/`;
    const assertions = [
      { source: "json", property: "$.jobs", op: "length_gt", value: 1 },
      { source: "json", property: "$.jobs[0]", op: "eq", value: 5 },
      { source: "status", op: "eq", value: 200 },
    ];
    expect(await stepsOf("http", { url, assertions })).toEqual([
      "look_up | 127.0.0.1",
      CONNECT,
      "request | HTTP status 200",
      BODY,
      "assertion | length of the value at $.jobs should be above 1",
      "assertion | failed | The value at $.jobs[0] is 1; it should be 5.",
    ]);
  });

  test("assertions that a thread evaluates are steps too", async () => {
    await using server = await startRawServer(answering(httpAnswer(200, "s3cret")));
    const url = `http://localhost:${server.port}/`;
    const assertions = [
      { source: "status", op: "eq", value: 200 },
      { source: "body", op: "matches", value: "^s" },
      { source: "body", op: "matches", value: "^x" },
      { source: "body", op: "contains", value: "ready" },
    ];
    expect((await stepsOf("http", { url, assertions })).slice(4)).toEqual([
      "assertion | status should be 200",
      "assertion | body should match /^s/",
      "assertion | failed | The body should match /^x/.",
    ]);
  });

  test("a status that is not 2xx fails the evaluation", async () => {
    await using server = await startRawServer(answering(httpAnswer(503)));
    const lines = await stepsOf("http", { url: `http://localhost:${server.port}/` });
    expect(lines.slice(2)).toEqual([
      "request | HTTP status 503",
      BODY,
      "evaluation | failed | The status is 503; it should be 2xx.",
    ]);
  });

  test("a redirect adds the steps of the next request", async () => {
    await using target = await startRawServer(answering(httpAnswer(200)));
    const location = `http://other.test:${target.port}/?key=s3cret`;
    const redirect = httpAnswer(302, "", { Location: location });
    await using server = await startRawServer(answering(redirect));
    const lines = await stepsOf("http", { url: `http://localhost:${server.port}/` });
    expect(lines).toEqual([
      LOCAL,
      CONNECT,
      "request | HTTP status 302",
      BODY,
      "look_up | other.test: 127.0.0.1",
      CONNECT,
      "request | HTTP status 200",
      BODY,
    ]);
  });

  test("a token and a proxy are steps, and a token that is kept says so", async () => {
    const token = JSON.stringify({ access_token: "t0ken-s3cret", token_type: "Bearer" });
    await using login = await startRawServer(answering(httpAnswer(200, token)));
    await using server = await startRawServer(answering(httpAnswer(200)));
    const oauth2 = {
      token_url: `http://other.test:${login.port}/token`,
      client_id: "all clear",
      client_secret: "s3cret",
    };
    const check = await createRecordedChecks();
    const config = { url: `http://localhost:${server.port}/`, oauth2 };
    const first = (await check("http", config)).map(lineOf);
    expect(first).toEqual(["token", LOCAL, CONNECT, "request | HTTP status 200", BODY]);
    const second = (await check("http", config)).map(lineOf);
    expect(second[0]).toBe("token | kept from an earlier check");
    const broken = { ...config, oauth2: { ...oauth2, client_id: "other", token_url: config.url } };
    const failed = (await check("http", broken)).map(lineOf);
    expect(failed).toEqual(["token | failed | The answer has no access token."]);
    expect(JSON.stringify([first, second, failed])).not.toContain("s3cret");

    await using proxy = await startRawServer(answering("HTTP/1.1 407 No\r\n\r\n"));
    const by = { url: `http://other.test:${proxy.port}`, username: "me", password: "s3cret" };
    const lines = await stepsOf("http", { url: config.url, proxy: by });
    expect(lines).toEqual([
      LOCAL,
      "look_up | other.test: 127.0.0.1",
      CONNECT,
      "proxy | failed | 127.0.0.1:PORT: The proxy rejected the credentials (407).",
    ]);
  });

  test("an HTTP check fails at the look-up, the connection, TLS, the request or the body", async () => {
    const unknown = await stepsOf("http", { url: "http://nowhere.test/" });
    expect(unknown).toEqual(["look_up | failed | nowhere.test: The name has no address."]);
    const closed = await stepsOf("http", { url: `http://localhost:${await closedPort()}/` });
    expect(closed).toEqual([LOCAL, REFUSED]);
    await using expired = await startTlsServer("expired", answering(httpAnswer(200)));
    const untrusted = await stepsOf("http", { url: `https://localhost:${expired.port}/` });
    expect(untrusted.slice(0, 2)).toEqual([LOCAL, CONNECT]);
    expect(untrusted[2]).toStartWith("tls | failed | The certificate expired on ");
    await using silent = await startRawServer((socket) => void socket.end());
    const unanswered = await stepsOf("http", { url: `http://localhost:${silent.port}/` });
    expect(unanswered.slice(2)).toEqual([
      "request | failed | The connection was closed without an answer.",
    ]);
    const cut = httpAnswer(200).replace("Content-Length: 0", "Content-Length: 9");
    await using cutting = await startRawServer(answering(cut));
    const partial = await stepsOf("http", { url: `http://localhost:${cutting.port}/` });
    expect(partial.at(-2)).toBe("request | HTTP status 200");
    expect(partial.at(-1)).toStartWith("body | failed | ");
  });

  test("each step has its own time", async () => {
    const clock = createTestClock();
    await using server = await startRawServer((socket) => {
      socket.once("data", () => {
        void clock.advance(70).then(() => socket.end(httpAnswer(200)));
      });
    });
    const check = await createRecordedChecks({ clock });
    const steps = await check("http", { url: `http://localhost:${server.port}/` });
    expect(steps.map(({ name, durationMs }) => [name, durationMs])).toEqual([
      ["look_up", 0],
      ["connect", 0],
      ["request", 70],
      ["body", 0],
    ]);
  });
});

describe("steps of checks of other types", () => {
  test("a TCP check has a look-up and a connection, and names what is forbidden", async () => {
    await using server = await startRawServer(() => {});
    const { port } = server;
    expect(await stepsOf("tcp", { host: "localhost", port })).toEqual([LOCAL, CONNECT]);
    expect(await stepsOf("tcp", { host: "localhost", port: await closedPort() })).toEqual([
      LOCAL,
      REFUSED,
    ]);
    const names = { "metadata.test": [["169.254.169.254"]] };
    const [forbidden] = await stepsOf("tcp", { host: "metadata.test", port: 80 }, { names });
    expect(forbidden).toStartWith("look_up | failed | metadata.test: The host's address ");
  });

  test("a TLS check shows version and end of the certificate, and fails at the handshake or after it", async () => {
    await using server = await startTlsServer("good", () => {});
    const config = { host: "localhost", port: server.port };
    expect(await stepsOf("tls", config)).toEqual([LOCAL, CONNECT, TLS]);
    await using other = await startTlsServer("other", () => {});
    expect((await stepsOf("tls", { host: "localhost", port: other.port })).at(-1)).toBe(
      "tls | failed | The certificate is for another name.",
    );
    const clock = createTestClock(Date.parse("2098-12-31T00:00:00Z"));
    const late = await stepsOf("tls", { ...config, days: 14 }, { clock });
    expect(late.slice(2)).toEqual([TLS, "evaluation | failed | The certificate expires in 1 day."]);
  });

  test("a DNS check shows the records, and fails at the query or by a missing record", async () => {
    const records = [Buffer.from([203, 0, 113, 5])];
    await using server = await startDnsServer(() => ({ records }));
    const config = { name: "shop.test", resolver: server.address };
    const query = "query | 127.0.0.1:PORT: 203.0.113.5";
    expect(await stepsOf("dns", config)).toEqual([query]);
    expect(await stepsOf("dns", { ...config, expected: ["203.0.113.9"] })).toEqual([
      query,
      "evaluation | failed | The record 203.0.113.9 is missing; there is: 203.0.113.5",
    ]);
    await using refusing = await startDnsServer(() => ({ code: 5 }));
    expect(await stepsOf("dns", { ...config, resolver: refusing.address })).toEqual([
      "query | failed | 127.0.0.1:PORT: The resolver refused to answer.",
    ]);
  });

  test("a ping has a look-up and an echo request", async () => {
    {
      using _ping = usePingProgram("echo 'time=12.3 ms'");
      expect(await stepsOf("ping", { host: "localhost" })).toEqual([LOCAL, "ping | 127.0.0.1"]);
    }
    using _ping = usePingProgram("exit 1");
    expect(await stepsOf("ping", { host: "localhost" })).toEqual([
      LOCAL,
      "ping | failed | 127.0.0.1: The host did not answer.",
    ]);
  });

  test("an SMTP check shows greeting, commands, STARTTLS, TLS and sign-in without the credentials", async () => {
    const credentials = { user: "monitor", password: "smtp-s3cret" };
    await using relay = await startRelay({ credentials });
    const config = { host: "localhost", port: relay.port, tls: "starttls", ...credentials };
    const until = [
      LOCAL,
      CONNECT,
      "greeting",
      "command | EHLO",
      "starttls | STARTTLS",
      TLS,
      "command | EHLO",
    ];
    expect(await stepsOf("smtp", config)).toEqual([...until, "sign_in | AUTH"]);
    const wrong = await stepsOf("smtp", { ...config, password: "wr0ng-s3cret" });
    expect(wrong).toEqual([
      ...until,
      "sign_in | failed | AUTH: The server answered AUTH with 535.",
    ]);
    expect(wrong.join()).not.toContain("s3cret");
  });

  test("an SSH check has the greeting of the server", async () => {
    await using server = await startRawServer((socket) => void socket.write("SSH-2.0-test\r\n"));
    const config = { host: "localhost", port: server.port };
    expect(await stepsOf("ssh", config)).toEqual([LOCAL, CONNECT, "greeting"]);
    await using other = await startRawServer((socket) => void socket.write("SSH-1.5-test\r\n"));
    expect((await stepsOf("ssh", { ...config, port: other.port })).at(-1)).toBe(
      "greeting | failed | The server does not offer version 2 of SSH.",
    );
  });

  test("a Redis check shows its commands by name, and fails at the sign-in", async () => {
    const replying = (replies: readonly string[]) =>
      startRawServer((socket) => {
        const left = [...replies];
        socket.on("data", () => void socket.write(`${left.shift() ?? ""}\r\n`));
      });
    await using server = await replying(["+OK", "+OK", "+PONG"]);
    const config = { host: "localhost", port: server.port, password: "s3cret", database: 2 };
    expect(await stepsOf("redis", config)).toEqual([
      LOCAL,
      CONNECT,
      "sign_in | AUTH",
      "command | SELECT",
      "command | PING",
    ]);
    await using refusing = await replying(["-WRONGPASS s3cret"]);
    expect((await stepsOf("redis", { ...config, port: refusing.port })).slice(2)).toEqual([
      "sign_in | failed | AUTH: The server refused AUTH (WRONGPASS).",
    ]);
  });

  test("PostgreSQL and MySQL checks fail at the request for TLS, or at the sign-in", async () => {
    await using server = await startRawServer((socket) => {
      socket.once("data", () => void socket.end("N"));
    });
    const config = { host: "localhost", port: server.port, user: "me", password: "s3cret" };
    expect(await stepsOf("postgres", { ...config, database: "app", tls: "verify" })).toEqual([
      LOCAL,
      CONNECT,
      "starttls | failed | The server does not offer TLS.",
    ]);
    const plain = await stepsOf("postgres", { ...config, database: "app" });
    expect(plain.at(-1)).toStartWith("sign_in | failed | ");
    await using closing = await startRawServer((socket) => void socket.end());
    const mysql = await stepsOf("mysql", { ...config, port: closing.port, database: "app" });
    expect(mysql.at(-1)).toStartWith("sign_in | failed | ");
    expect([...plain, ...mysql].join()).not.toContain("s3cret");
  });

  test("an MQTT check fails at the sign-in with the code of the broker", async () => {
    await using server = await startRawServer((socket) => {
      socket.once("data", () => void socket.write(Buffer.from([0x20, 2, 0, 5])));
    });
    const config = { host: "localhost", port: server.port, topic: "s3cret" };
    expect((await stepsOf("mqtt", config)).slice(2)).toEqual([
      "sign_in | failed | The broker refused the connection (not authorised).",
    ]);
  });

  test("a WebSocket check has the upgrade and the message", async () => {
    await using server = await startWebSocketServer((socket) => void socket.send("s3cret"));
    const url = `ws://localhost:${server.port}/?key=s3cret`;
    expect(await stepsOf("websocket", { url })).toEqual([LOCAL, CONNECT, "upgrade"]);
    expect((await stepsOf("websocket", { url, expected: "ready" })).slice(2)).toEqual([
      "upgrade",
      "message | failed | The message is not as expected.",
    ]);
    await using web = await startRawServer(answering(httpAnswer(200)));
    const refused = await stepsOf("websocket", { url: `ws://localhost:${web.port}/` });
    expect(refused.at(-1)).toBe(
      "upgrade | failed | The server answered the upgrade with status 200 instead of 101.",
    );
  });

  test("a gRPC check fails at its request", async () => {
    await using server = await startRawServer((socket) => void socket.end());
    const lines = await stepsOf("grpc", { host: "localhost", port: server.port });
    expect(lines.slice(0, 2)).toEqual([LOCAL, CONNECT]);
    expect(lines.at(-1)).toStartWith("request | failed | ");
  });

  test("a Docker check shows its request, and its evaluation fails for a container that is down", async () => {
    const state = (Status: string) => Response.json({ State: { Status } });
    using docker = startDocker((name) => state(name === "web" ? "running" : "paused"));
    const env = { ALLCLEAR_DOCKER_HOSTS: `local=unix://${docker.path}` };
    const steps = ["connect", "request | HTTP status 200", BODY];
    expect(await stepsOf("docker", { host: "local", container: "web" }, { env })).toEqual(steps);
    expect(await stepsOf("docker", { host: "local", container: "db" }, { env })).toEqual([
      ...steps,
      "evaluation | failed | The container is paused.",
    ]);
  });

  test("a domain check fails at the look-up of the registry", async () => {
    const check = await createRecordedChecks();
    const steps = await check("domain", { domain: "example.com" });
    expect(steps.map(lineOf)).toEqual([
      "look_up | failed | rdap.verisign.com: The name has no address.",
    ]);
  });
});
