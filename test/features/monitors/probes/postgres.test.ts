import { expect, test } from "bun:test";
import { foreignMessageGuard } from "../../../../src/features/monitors/probes/postgres";
import { checkOf } from "../../../support/check";
import { type OnConnection, startRawServer } from "../../../support/raw-server";
import { stepsOf } from "../../../support/steps";
import {
  POSTGRES_PASSWORD,
  POSTGRES_PROGRAMS,
  startPostgres,
} from "../../../support/servers/postgres";
import { CERTIFICATES, describeWithServer } from "../../../support/servers/server-process";

const SERVERS = { programs: POSTGRES_PROGRAMS, start: startPostgres };

const SECRET_QUERY = "SELECT 's3cret'";

const check = checkOf("postgres", {
  user: "monitor",
  database: "postgres",
  password: POSTGRES_PASSWORD,
});

describeWithServer("PostgreSQL checks", SERVERS, (servers) => {
  const server = () => servers().good;

  test("a PostgreSQL check shows the request for TLS, sign-in, query and comparison as steps", async () => {
    const { port } = server();
    const credentials = { user: "monitor", database: "postgres", password: POSTGRES_PASSWORD };
    const config = { host: "localhost", port, tls: "verify", ...credentials };
    const until = ["look_up | localhost: 127.0.0.1", "connect | 127.0.0.1:PORT", "starttls"];
    const lines = await stepsOf("postgres", { ...config, query: SECRET_QUERY, expected: "1" });
    expect(lines.slice(0, 3)).toEqual(until);
    expect(lines[3]).toMatch(/^tls \| TLS 1\.[23], certificate until 2099-01-01$/);
    expect(lines.slice(4)).toEqual([
      "sign_in",
      "query",
      "assertion | failed | The result is not as expected.",
    ]);
    expect((await stepsOf("postgres", { ...config, query: "SELECT s3cret" })).at(-1)).toBe(
      "query | failed | The query failed (42703: no such column).",
    );
    expect((await stepsOf("postgres", { ...config, password: "wr0ng" })).at(-1)).toStartWith(
      "sign_in | failed | The server refused the sign-in (",
    );
  });

  test("a PostgreSQL check signs in and runs a query", async () => {
    expect(await check(server())).toEqual({ outcome: "ok", latencyMs: 0, message: null });
    const values: [query: string, expected: string][] = [
      ["SELECT 1.50::numeric, 2", "1.50"],
      ["SELECT true", "t"],
      ["SELECT '2026-01-02'::date", "2026-01-02"],
      ["SHOW default_transaction_read_only", "on"],
      ["SELECT current_setting('application_name')", "allclear"],
    ];
    for (const [query, expected] of values) {
      expect(await check(server(), { query, expected })).toMatchObject({ outcome: "ok" });
    }
  });

  test("a PostgreSQL check fails for another value, or none, and does not repeat it", async () => {
    const failures: [query: string, message: string][] = [
      [SECRET_QUERY, "The result is not as expected."],
      ["SELECT NULL", "The result is not as expected."],
      ["SELECT 1 WHERE false", "The query returned no row."],
    ];
    for (const [query, message] of failures) {
      const result = await check(server(), { query, expected: "1" });
      expect(result).toEqual({ outcome: "failed", latencyMs: 0, message });
    }
  });

  test("a PostgreSQL check cannot write, and runs a single statement", async () => {
    const failures: [query: string, message: string][] = [
      ["CREATE TABLE secrets (id int)", "The query failed (25006: only reading is allowed)."],
      ["SELECT 1; DROP TABLE s3cret", "The query failed (42601: syntax error)."],
      ["SELECT * FROM s3cret", "The query failed (42P01: no such table)."],
      ["SELECT 1/0", "The query failed (22012)."],
    ];
    for (const [query, message] of failures) {
      expect(await check(server(), { query })).toMatchObject({ outcome: "failed", message });
    }
  });

  test("a refused sign-in is reported by the code of the server, and not by its text", async () => {
    const refused = "The server refused the sign-in";
    const message = `${refused} (28P01: wrong user or password).`;
    const wrong = await check(server(), { password: "wr0ng-s3cret" });
    expect(wrong).toEqual({ outcome: "failed", latencyMs: 0, message });
    expect((await check(server(), { user: "nobody-s3cret" })).message).toBe(message);
    expect((await check(server(), { database: "s3cret" })).message).toBe(
      `${refused} (3D000: no such database).`,
    );
  });

  test("a PostgreSQL check takes no password from the environment", async () => {
    process.env["PGPASSWORD"] = POSTGRES_PASSWORD;
    try {
      const without = checkOf("postgres", { user: "monitor", database: "postgres" });
      expect(await without(server())).toMatchObject({
        outcome: "failed",
        message: "The server asks for a password, and this monitor has none.",
      });
    } finally {
      delete process.env["PGPASSWORD"];
    }
  });

  test("a result that is longer than a check reads fails the check", async () => {
    const query = "SELECT repeat('x', 300000)";
    expect(await check(server(), { query })).toMatchObject({
      outcome: "failed",
      message: "The server sent more than a check reads.",
    });
  });

  test("a slow query ends at the deadline of the check", async () => {
    const deadline = new AbortController();
    await using proxy = await startProxy(server().port, (bytes) => {
      // The name of the prepared statement's query is on its way: the answer takes a minute.
      if (bytes.includes("pg_sleep")) deadline.abort();
    });
    const query = "SELECT pg_sleep(60)";
    expect(await check(proxy, { query }, { signal: deadline.signal })).toMatchObject({
      outcome: "failed",
      message: "Timed out waiting for the result of the query.",
    });
    await proxy.allClosed();
  });

  for (const certificate of CERTIFICATES) {
    test(`a PostgreSQL check judges the certificate “${certificate}” after SSLRequest, and dates it`, async () => {
      const verified = await check(servers()[certificate], { tls: "verify" });
      expect(verified.outcome).toBe(certificate === "good" ? "ok" : "failed");
      expect(verified.certificate?.expiresAt).toBeNumber();
      const query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
      const config = { tls: "require", query, expected: "t" };
      const encrypted = await check(servers()[certificate], config);
      expect(encrypted).toMatchObject({ outcome: "ok" });
      expect(encrypted.certificate?.expiresAt).toBeNumber();
    });
  }
});

test("a PostgreSQL check that requires TLS fails if the server offers none", async () => {
  await using server = await startRawServer((socket) => void socket.write("N"));
  expect((await check(server, { tls: "require" })).message).toBe("The server does not offer TLS.");
});

test("bytes between the consent to TLS and the handshake fail a PostgreSQL check", async () => {
  await using server = await startRawServer((socket) => void socket.write("SZ\u0000"));
  expect((await check(server, { tls: "require" })).message).toBe(
    "The server sent data between its consent to TLS and the handshake.",
  );
});

test("a PostgreSQL server that asks for the password in clear text gets it only if it is verified", async () => {
  const received: Buffer[] = [];
  await using server = await startRawServer((socket) => {
    socket.on("data", (bytes: Buffer) => {
      received.push(bytes);
      if (received.length === 1) socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    });
  });
  expect(await check(server, {})).toMatchObject({
    outcome: "failed",
    message:
      "The server asks for the password in clear text, which is sent only over verified TLS, or with allow_plain_password.",
  });
  expect(Buffer.concat(received).includes(POSTGRES_PASSWORD)).toBe(false);
});

/** Returns a message of a server. */
function message(type: string, payload: string): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + payload.length);
  return type + length.toString("latin1") + payload;
}

/** Returns the length of a value in a row, and the value. */
function value(text: string | null): string {
  return text === null ? "\u00ff".repeat(4) : `\0\0\0${String.fromCharCode(text.length)}${text}`;
}

const SIGNED_IN = message("R", "\0".repeat(4)) + message("Z", "I");
const COLUMN = message("T", `\0\u0001v${"\0".repeat(19)}`);

test("a message of a PostgreSQL server that the library must not read fails the check at once", async () => {
  const FOREIGN = "The server did not answer as a PostgreSQL server does.";
  const answers = [
    // Errors and notices without their end.
    message("E", "SFAT"),
    message("E", "SFATAL\0C28000\0"),
    message("N", ""),
    // A length that does not count itself.
    "R\0\0\0\u0003",
    // Data that a check does not ask for, and a second description.
    message("G", "\0\u007f\u00ff"),
    message("A", "\0\0\0\u0001a\0b\0"),
    SIGNED_IN + COLUMN + COLUMN,
    // Rows with fewer values than they say, with more, and with lengths that lead out of them.
    SIGNED_IN + COLUMN + message("D", "\0\u0002" + value("a")),
    SIGNED_IN + COLUMN + message("D", "\0\u0001" + value("a") + value("b")),
    SIGNED_IN + COLUMN + message("D", "\0\u0001\0\0\0\u007fa"),
    SIGNED_IN + COLUMN + message("D", `\0\u0001${"\u00ff".repeat(3)}\u00fe`),
  ];
  for (const answer of answers) {
    await using server = await startRawServer((socket) => {
      socket.once("data", () => void socket.write(answer, "latin1"));
    });
    expect({ answer, ...(await check(server)) }).toMatchObject({ answer, message: FOREIGN });
    await server.allClosed();
  }
});

test("messages of a PostgreSQL server are recognised in pieces of any size", () => {
  const values = ["a", null, ""].map(value).join("");
  const bytes = Buffer.from(
    message("N", "SNOTICE\0MHello\0\0") +
      SIGNED_IN +
      ["1", "2"].map((type) => message(type, "")).join("") +
      COLUMN +
      message("D", `\0\u0003${values}`) +
      message("D", "\0\0") +
      message("C", "SELECT 2\0"),
    "latin1",
  );
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const guard = foreignMessageGuard();
    for (let at = 0; at < bytes.length; at += size) guard(bytes.subarray(at, at + size));
    expect(() => guard(Buffer.from(message("E", "SFAT"), "latin1"))).toThrow();
  }
});

/** Starts a server that passes connections on to a port, and tells what the client sends. */
async function startProxy(port: number, onSent: (bytes: Buffer) => void) {
  const { connect } = await import("node:net");
  const onConnection: OnConnection = (socket) => {
    const target = connect({ host: "127.0.0.1", port });
    socket.on("data", (bytes: Buffer) => {
      target.write(bytes);
      onSent(bytes);
    });
    target.on("data", (bytes: Buffer) => void socket.write(bytes));
    target.on("error", () => {});
    socket.on("close", () => target.destroy());
    target.on("close", () => socket.destroy());
  };
  return startRawServer(onConnection);
}
