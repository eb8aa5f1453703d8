import { afterEach, beforeEach, describe, expect, mock, spyOn, test } from "bun:test";
import dns from "node:dns";
import net, { Socket } from "node:net";
import tls from "node:tls";
import { startRawServer } from "../support/raw-server";
import { CHECKED_TYPES, checkServerOf } from "../support/server-types";

describe("the checks of monitor types", () => {
  const dials: string[] = [];

  beforeEach(() => {
    dials.length = 0;
    const watch = (name: string) => () => {
      dials.push(name);
      throw new Error(`${name} was called`);
    };
    for (const [name, module] of Object.entries({ net, tls, dns, promises: dns.promises })) {
      for (const method of ["connect", "createConnection", "lookup", "resolve4", "resolve6"]) {
        if (method in module) {
          spyOn(module as never, method as never).mockImplementation(
            watch(`${name}.${method}`) as never,
          );
        }
      }
    }
    const connect = Socket.prototype.connect;
    spyOn(Socket.prototype, "connect").mockImplementation(function (
      this: Socket,
      ...args: never[]
    ) {
      dials.push("a socket");
      return connect.apply(this, args as never);
    } as never);
    const connectPlain = Bun.connect;
    spyOn(Bun, "connect").mockImplementation(((options: never) => {
      dials.push("a socket");
      return connectPlain(options);
    }) as never);
  });

  afterEach(() => mock.restore());

  for (const type of CHECKED_TYPES) {
    test(`a ${type} check of a name that the machine cannot resolve uses one socket, which egress opened`, async () => {
      await using server = await startRawServer((socket) => void socket.end("no\r\n"));
      const { outcome } = await checkServerOf(type, server, { host: "only-egress-knows.test" });
      expect(outcome).toBe(type === "domain" ? "unknown" : "failed");
      expect(server.connections()).toBe(1);
      expect(dials).toEqual(["a socket"]);
    });
  }
});
