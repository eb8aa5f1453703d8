import { describe, expect, spyOn, test } from "bun:test";
import { checkOf } from "../../../support/check";
import { greetingPacket, mysqlPacket } from "../../../support/mysql-packets";
import { startRawServer } from "../../../support/raw-server";
import { MARIADB_PASSWORD, MARIADB_PROGRAMS, startMariadb } from "../../../support/servers/mariadb";
import { stepsOf } from "../../../support/steps";
import { CERTIFICATES, describeWithServer } from "../../../support/servers/server-process";

const SERVERS = { programs: MARIADB_PROGRAMS, start: startMariadb };

const check = checkOf("mysql", { user: "monitor", password: MARIADB_PASSWORD });

describeWithServer("MySQL checks of MariaDB", SERVERS, (servers) => {
  const server = () => servers().good;

  test("a MySQL check shows TLS before its sign-in, and the query, as steps", async () => {
    const { port } = server();
    const credentials = { user: "monitor", password: MARIADB_PASSWORD };
    const config = { host: "localhost", port, ...credentials };
    const until = ["look_up | localhost: 127.0.0.1", "connect | 127.0.0.1:PORT"];
    expect(await stepsOf("mysql", config)).toEqual([...until, "sign_in", "query"]);
    const lines = await stepsOf("mysql", { ...config, tls: "verify", query: "SELECT s3cret" });
    expect(lines.slice(0, 3)).toEqual([...until, "starttls"]);
    expect(lines[3]).toMatch(/^tls \| TLS 1\.[23], certificate until 2099-01-01$/);
    expect(lines.slice(4)).toEqual([
      "sign_in",
      "query | failed | The query failed (ER_BAD_FIELD_ERROR).",
    ]);
  });

  test("a MySQL check signs in and runs a query", async () => {
    expect(await check(server())).toEqual({ outcome: "ok", latencyMs: 0, message: null });
    const values: [query: string, expected: string][] = [
      ["SELECT 1.50, 2", "1.50"],
      ["SELECT DATE '2026-01-02'", "2026-01-02"],
      ["SELECT count(*) FROM jobs", "0"],
      ["SELECT @@session.tx_read_only", "1"],
      ["CALL count_jobs()", "7"],
    ];
    for (const [query, expected] of values) {
      const result = await check(server(), { database: "app", query, expected });
      expect(result).toMatchObject({ outcome: "ok" });
    }
  });

  test("a MySQL check fails for another value, or none, and does not repeat it", async () => {
    const failures: [query: string, message: string][] = [
      ["SELECT 's3cret'", "The result is not as expected."],
      ["SELECT NULL", "The result is not as expected."],
      ["SELECT 1 FROM app.jobs", "The query returned no row."],
      ["CALL app.count_jobs()", "The result is not as expected."],
      ["CALL app.nothing()", "The query returned no row."],
    ];
    for (const [query, message] of failures) {
      const result = await check(server(), { query, expected: "1" });
      expect(result).toEqual({ outcome: "failed", latencyMs: 0, message });
    }
  });

  test("a MySQL check cannot write or read files, and runs a single statement", async () => {
    const failures: [query: string, message: string][] = [
      ["SELECT 1; SELECT 2", "The query failed (ER_PARSE_ERROR)."],
      ["SELECT * FROM app.s3cret", "The query failed (ER_NO_SUCH_TABLE)."],
      ["SELECT s3cret", "The query failed (ER_BAD_FIELD_ERROR)."],
      [
        "INSERT INTO app.jobs VALUES (1)",
        "The query failed (ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION).",
      ],
      ["LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE app.jobs", "The query failed (4166)."],
    ];
    for (const [query, message] of failures) {
      expect(await check(server(), { query })).toMatchObject({ outcome: "failed", message });
    }
  });

  test("a refused sign-in is reported by the code of the server alone", async () => {
    const denied = "The server refused the sign-in (ER_ACCESS_DENIED_ERROR).";
    const wrong = await check(server(), { password: "wr0ng-s3cret" });
    expect(wrong).toEqual({ outcome: "failed", latencyMs: 0, message: denied });
    expect((await check(server(), { user: "nobody-s3cret" })).message).toBe(denied);
    const database = await check(server(), { database: "s3cret" });
    expect(database.message).toBe("The server refused the sign-in (ER_DBACCESS_DENIED_ERROR).");
  });

  test("a result that is longer than a check reads fails the check", async () => {
    const query = "SELECT repeat('x', 300000)";
    expect(await check(server(), { query })).toMatchObject({
      outcome: "failed",
      message: "The server sent more than a check reads.",
    });
  });

  for (const certificate of CERTIFICATES) {
    test(`a MySQL check judges the certificate “${certificate}” inside the handshake, and dates it`, async () => {
      const verified = await check(servers()[certificate], { tls: "verify" });
      expect(verified.outcome).toBe(certificate === "good" ? "ok" : "failed");
      expect(verified.certificate?.expiresAt).toBeNumber();
      const query =
        "SELECT variable_value <> '' FROM information_schema.session_status WHERE variable_name = 'Ssl_cipher'";
      const config = { tls: "require", query, expected: "1" };
      const encrypted = await check(servers()[certificate], config);
      expect(encrypted).toMatchObject({ outcome: "ok" });
      expect(encrypted.certificate?.expiresAt).toBeNumber();
    });
  }
});

const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

/** Returns a text with its length. */
function codedText(text: string): Buffer {
  return Buffer.from([text.length, ...Buffer.from(text)]);
}

/** Description of a column of texts. */
const COLUMN = Buffer.concat([
  codedText("def"),
  ...["", "", "", "v", ""].map(codedText),
  Buffer.from([0x0c, 33, 0, 255, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0]),
]);

/** Returns the packet behind columns or rows, which says if another set of results follows. */
function endOfRows(hasMore = false): Buffer {
  return Buffer.from([0xfe, 0, 0, hasMore ? 10 : 2, 0]);
}

/** Starts a server without TLS that answers each packet of the client by the next of these packets. */
async function startScripted(...answers: Buffer[][]) {
  const received: Buffer[] = [];
  const server = await startRawServer((socket) => {
    socket.write(greetingPacket());
    const left = [...answers];
    socket.on("data", (bytes: Buffer) => {
      received.push(bytes);
      const packets = left.shift() ?? [];
      socket.write(
        Buffer.concat(packets.map((each, at) => mysqlPacket((bytes[3] ?? 0) + 1 + at, each))),
      );
    });
  });
  return Object.assign(server, { received: () => received });
}

/** Returns the packet by which a server chooses another plugin. */
function switchTo(plugin: string): Buffer {
  return Buffer.from(`\u00fe${plugin}\0abcdefghijklmnopqrst\0`, "latin1");
}

describe("MySQL checks of servers with other plugins", () => {
  test("a server that knows the password's proof is not sent the password", async () => {
    const fast = Buffer.from([1, 3]);
    await using server = await startScripted(
      [switchTo("caching_sha2_password")],
      [fast, OK],
      [OK],
      [OK],
    );
    expect(await check(server)).toMatchObject({ outcome: "ok" });
    expect(Buffer.concat(server.received()).includes(MARIADB_PASSWORD)).toBe(false);
  });

  test("without TLS, a server that asks for the password itself does not get it", async () => {
    await using caching = await startScripted(
      [switchTo("caching_sha2_password")],
      [Buffer.from([1, 4])],
    );
    await using sha256 = await startScripted([switchTo("sha256_password")]);
    for (const server of [caching, sha256]) {
      expect(await check(server)).toMatchObject({
        outcome: "failed",
        message:
          "The server asks for the password itself, which is sent only over TLS, or with allow_plain_password: switch TLS on.",
      });
    }
    // The answer to the greeting, the proof, and no request for a key.
    expect(caching.received()).toHaveLength(2);
    expect(sha256.received()).toHaveLength(1);
  });

  test("a server that asks for a plugin which is not known is named in the message", async () => {
    for (const plugin of ["client_ed25519", "auth_gssapi_client"]) {
      await using server = await startScripted([switchTo(plugin)]);
      expect(await check(server)).toMatchObject({
        outcome: "failed",
        message: `The server asks for a sign-in plugin that is not supported (${plugin}).`,
      });
    }
    await using server = await startScripted([switchTo("a b\u0007s3cret")]);
    expect((await check(server)).message).toBe(
      "The server asks for a sign-in plugin that is not supported.",
    );
  });

  test("of several sets of results, the first value of the first row of the first one counts", async () => {
    const set = (hasMore: boolean, ...values: string[]) => [
      Buffer.from([1]),
      COLUMN,
      endOfRows(),
      ...values.map(codedText),
      endOfRows(hasMore),
    ];
    const expected = (value: string) => ({ query: "CALL s3cret()", expected: value });
    await using both = await startScripted(
      [OK],
      [OK],
      [...set(true, "first", "second"), ...set(true, "third"), OK],
    );
    expect(await check(both, expected("first"))).toMatchObject({ outcome: "ok" });
    expect((await check(both, expected("third"))).message).toBe("The result is not as expected.");
    await using empty = await startScripted([OK], [OK], [...set(true), ...set(true, "first"), OK]);
    expect((await check(empty, expected("first"))).message).toBe("The query returned no row.");
  });
});

describe("MySQL checks of hostile servers", () => {
  test("a row whose values are not all in its packet fails the check, and prints nothing", async () => {
    const columns = [COLUMN, COLUMN];
    const row = Buffer.from([1, 0x61]);
    const result = [Buffer.from([columns.length]), ...columns, endOfRows(), row, row, endOfRows()];
    await using server = await startScripted([OK], [OK], result);
    const traces = spyOn(console, "trace").mockImplementation(() => {});
    try {
      expect(await check(server, { expected: "a" })).toMatchObject({
        outcome: "failed",
        message: "The server did not answer as a MySQL or MariaDB server does.",
      });
      expect(traces).not.toHaveBeenCalled();
    } finally {
      traces.mockRestore();
    }
    await server.allClosed();
  });

  test("packets that came with the greeting are not answered beside TLS", async () => {
    const received: Buffer[] = [];
    await using server = await startRawServer((socket) => {
      const scramble = Buffer.from("\u00fecaching_sha2_password\0abcdefghijklmnopqrst\0", "latin1");
      socket.write(
        Buffer.concat([
          greetingPacket({ hasTls: true }),
          mysqlPacket(2, scramble),
          mysqlPacket(4, Buffer.from([1, 4])),
        ]),
      );
      socket.on("data", (bytes: Buffer) => void received.push(bytes));
    });
    for (const tls of ["require", "verify"]) {
      expect(await check(server, { tls })).toMatchObject({
        outcome: "failed",
        message: "The server sent data between its consent to TLS and the handshake.",
      });
    }
    expect(Buffer.concat(received).includes(MARIADB_PASSWORD)).toBe(false);
  });

  test("a server that asks for the password in clear text does not get it", async () => {
    const received: Buffer[] = [];
    await using server = await startRawServer((socket) => {
      socket.write(greetingPacket());
      socket.on("data", (bytes: Buffer) => {
        received.push(bytes);
        if (received.length > 1) return;
        socket.write(mysqlPacket(2, Buffer.from("\u00femysql_clear_password\0", "latin1")));
      });
    });
    expect(await check(server)).toMatchObject({
      outcome: "failed",
      message:
        "The server asks for the password in clear text, which is sent only over verified TLS, or with allow_plain_password.",
    });
    expect(Buffer.concat(received).includes(MARIADB_PASSWORD)).toBe(false);
  });

  test("a MySQL check that requires TLS fails if the server offers none", async () => {
    await using server = await startRawServer((socket) => void socket.write(greetingPacket()));
    expect((await check(server, { tls: "require" })).message).toBe(
      "The server does not offer TLS.",
    );
  });
});
