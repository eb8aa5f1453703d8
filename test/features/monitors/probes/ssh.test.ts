import { describe, expect, test } from "bun:test";
import { checkOf } from "../../../support/check";
import { startRawServer } from "../../../support/raw-server";
import { describeWithServer } from "../../../support/servers/server-process";
import { startSshd } from "../../../support/servers/sshd";

const check = checkOf("ssh");

describe("SSH checks", () => {
  test("an SSH check reads the identification after other lines, and identifies itself", async () => {
    const received = Promise.withResolvers<string>();
    await using server = await startRawServer((socket) => {
      socket.write("Welcome.\r\nNo entry.\r\nSSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
      socket.on("data", (chunk: Buffer) => received.resolve(chunk.toString()));
    });
    expect(await check(server)).toEqual({ outcome: "ok", latencyMs: 0, message: null });
    expect(await received.promise).toMatch(/^SSH-2\.0-Allclear_[0-9.]+\r\n$/);
    await server.allClosed();
  });

  test("an SSH check accepts version 1.99, which stands for 2.0, and no older one", async () => {
    const outcomes: [string, string | null][] = [
      ["SSH-1.99-Cisco-1.25", null],
      ["SSH-1.5-old", "The server does not offer version 2 of SSH."],
      ["SSH-2.0-", "The server does not offer version 2 of SSH."],
    ];
    for (const [line, message] of outcomes) {
      await using server = await startRawServer((socket) => void socket.write(`${line}\n`));
      expect((await check(server)).message).toBe(message);
    }
  });

  test("a server without an SSH identification fails the check", async () => {
    await using web = await startRawServer((socket) => void socket.end("HTTP/1.1 400 No\r\n\r\n"));
    expect(await check(web)).toMatchObject({
      outcome: "failed",
      message: "The connection was closed while waiting for the identification.",
    });
    await using talkative = await startRawServer(
      (socket) => void socket.write("no\r\n".repeat(99)),
    );
    expect((await check(talkative)).message).toBe("The server is not an SSH server.");
  });
});

const OPENSSH = { programs: ["sshd"], start: startSshd };

describeWithServer("SSH checks of a real server", OPENSSH, (server) => {
  test("an SSH check of OpenSSH succeeds", async () => {
    expect(await check(server())).toMatchObject({ outcome: "ok", message: null });
  });
});
