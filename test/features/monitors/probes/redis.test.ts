import { describe, expect, test } from "bun:test";
import { checkOf } from "../../../support/check";
import { createTestClock } from "../../../support/clock";
import { type OnConnection, startRawServer, startTlsServer } from "../../../support/raw-server";
import { REDIS_PASSWORD, startRedis } from "../../../support/servers/redis";
import { describeWithServer } from "../../../support/servers/server-process";

const check = checkOf("redis", { allow_plain_password: true });

/** Answers each command, whose name and arguments are given, by `answer`. */
function answering(answer: (command: string[]) => string): OnConnection {
  return (socket) => {
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      for (;;) {
        const [whole, count] = /^\*(\d+)\r\n/.exec(text) ?? [];
        const parts = text.slice(whole?.length).split("\r\n");
        if (whole === undefined || parts.length <= 2 * Number(count)) return;
        const command = parts.slice(0, 2 * Number(count)).filter((_, index) => index % 2 === 1);
        text = parts.slice(2 * Number(count)).join("\r\n");
        socket.write(answer(command));
      }
    });
  };
}

describe("Redis checks", () => {
  test("a Redis check signs in, selects the database and sends a PING, in this order", async () => {
    const commands: string[][] = [];
    await using server = await startRawServer(
      answering((command) => {
        commands.push(command);
        return command[0] === "PING" ? "+PONG\r\n" : "+OK\r\n";
      }),
    );
    const result = await check(server, { user: "monitor", password: "pässword", database: 3 });
    expect(result).toEqual({ outcome: "ok", latencyMs: 0, message: null });
    expect(commands).toEqual([["AUTH", "monitor", "pässword"], ["SELECT", "3"], ["PING"]]);
    await server.allClosed();
    expect(server.connections()).toBe(1);
  });

  test("a Redis check without a user sends the password alone", async () => {
    const commands: string[][] = [];
    await using server = await startRawServer(
      answering((command) => {
        commands.push(command);
        return command[0] === "PING" ? "$4\r\nPONG\r\n" : "+OK\r\n";
      }),
    );
    expect(await check(server, { password: "secret" })).toMatchObject({ outcome: "ok" });
    expect(commands).toEqual([["AUTH", "secret"], ["PING"]]);
  });

  test("a Redis check compares the role, whose older name for a replica is slave", async () => {
    const roles = (role: string) =>
      startRawServer(
        answering(([name]) =>
          name === "ROLE" ? `*3\r\n$${role.length}\r\n${role}\r\n:1\r\n*0\r\n` : "+PONG\r\n",
        ),
      );
    await using master = await roles("master");
    await using replica = await roles("slave");
    expect((await check(master, { role: "master" })).outcome).toBe("ok");
    expect((await check(replica, { role: "replica" })).outcome).toBe("ok");
    expect(await check(replica, { role: "master" })).toEqual({
      outcome: "failed",
      latencyMs: 0,
      message: "The server is a replica.",
    });
    expect((await check(master, { role: "replica" })).message).toBe("The server is a master.");
    await using other = await roles("constructor");
    expect((await check(other, { role: "replica" })).message).toBe(
      "The server's role is not known.",
    );
  });

  test("a refused Redis command is reported by its code, without the server's words", async () => {
    const replies: [reply: string, message: string][] = [
      ["-WRONGPASS invalid s3cret", "The server refused AUTH (WRONGPASS)."],
      ["-ERR invalid s3cret", "The server refused AUTH (ERR)."],
      ["-s3cret is wrong", "The server refused AUTH (no code)."],
    ];
    for (const [reply, message] of replies) {
      await using server = await startRawServer(answering(() => `${reply}\r\n`));
      const result = await check(server, { password: "s3cret" });
      expect(result).toEqual({ outcome: "failed", latencyMs: 0, message });
    }
  });

  test("a Redis server that refers to another one fails the check without a second connection", async () => {
    await using other = await startRawServer(() => {});
    const moved = `-MOVED 3999 127.0.0.1:${other.port}\r\n`;
    await using server = await startRawServer(answering(() => moved));
    const result = await check(server);
    expect(result.message).toBe("The server refused PING (MOVED).");
    expect([server.connections(), other.connections()]).toEqual([1, 0]);
  });

  test("a server that does not speak Redis's protocol fails the check", async () => {
    const replies = [
      "HTTP/1.1 400 Bad Request\r\n\r\n",
      "$abc\r\n",
      "*99999\r\n",
      "*1\r\n".repeat(20),
      "\r\n",
    ];
    for (const reply of replies) {
      await using server = await startRawServer(answering(() => reply));
      const { outcome, message } = await check(server);
      expect({ outcome, message }).toEqual({
        outcome: "failed",
        message: "The server does not speak the protocol of Redis.",
      });
    }
    await using server = await startRawServer(answering(() => "$-1\r\n"));
    expect((await check(server)).message).toBe("The server did not answer PING with PONG.");
  });

  test("a Redis check over TLS verifies the certificate, and dates it", async () => {
    const pong = answering(() => "+PONG\r\n");
    await using good = await startTlsServer("good", pong);
    const result = await check(good, { tls: "verify" });
    expect(result).toMatchObject({ outcome: "ok", message: null });
    expect(result.certificate?.expiresAt).toBe(Date.parse("2099-01-01T00:00:00Z"));
    await using other = await startTlsServer("other", pong);
    expect(await check(other, { tls: "verify" })).toMatchObject({
      outcome: "failed",
      message: "The certificate is for another name.",
    });
    expect((await check(other, { tls: "require" })).outcome).toBe("ok");
  });

  test("a successful Redis check warns of a certificate that expires soon", async () => {
    await using server = await startTlsServer(
      "good",
      answering(() => "+PONG\r\n"),
    );
    const clock = createTestClock(Date.parse("2098-12-20T00:00:00Z"));
    const message = async (config: object) =>
      (await check(server, { tls: "verify", ...config }, { clock })).message;
    expect(await message({})).toBe("The certificate expires in 12 days.");
    expect(await message({ certificate_warning_days: 12 })).toBeNull();
    expect(await message({ certificate_warning_days: 0 })).toBeNull();
  });
});

const programs = ["valkey-server|redis-server"];

describeWithServer(
  "Redis checks of a real server",
  { programs, start: () => startRedis() },
  (server) => {
    test("a Redis check succeeds with the right password", async () => {
      const password = REDIS_PASSWORD;
      expect(await check(server(), { password })).toMatchObject({ outcome: "ok", message: null });
      const full = { user: "monitor", password, database: 2, role: "master" };
      expect(await check(server(), full)).toMatchObject({ outcome: "ok" });
    });

    test("a Redis check fails with a wrong password, without one and for another role", async () => {
      const wrong = await check(server(), { password: "wr0ng-s3cret" });
      expect(wrong.message).toBe("The server refused AUTH (WRONGPASS).");
      expect((await check(server())).message).toBe("The server refused PING (NOAUTH).");
      const replica = await check(server(), { password: REDIS_PASSWORD, role: "replica" });
      expect(replica.message).toBe("The server is a master.");
    });
  },
);

for (const certificate of ["good", "expired", "other"] as const) {
  const start = () => startRedis(certificate);
  describeWithServer(
    `Redis checks with the certificate “${certificate}”`,
    { programs, start },
    (server) => {
      test(`a Redis check ${certificate === "good" ? "accepts" : "refuses"} the certificate “${certificate}”, and dates it`, async () => {
        const host = certificate === "other" ? "shop.test" : "localhost";
        const config = { host, password: REDIS_PASSWORD };
        const verified = await check(server(), { ...config, tls: "verify" });
        expect(verified.outcome).toBe(certificate === "good" ? "ok" : "failed");
        expect(verified.certificate?.expiresAt).toBeNumber();
        expect((await check(server(), { ...config, tls: "require" })).outcome).toBe("ok");
      });
    },
  );
}
