import { afterEach, beforeEach, describe, expect, mock, spyOn, test } from "bun:test";
import dns from "node:dns";
import net, { Socket } from "node:net";
import tls from "node:tls";
import { probe } from "../support/probe";
import { startRawServer } from "../support/raw-server";
import { SERVER_TYPE_NAMES, SERVER_TYPES } from "../support/server-types";

describe("the libraries of monitor types", () => {
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
  });

  afterEach(() => mock.restore());

  for (const type of SERVER_TYPE_NAMES) {
    test(`a ${type} check of a name that the machine cannot resolve uses one socket, which egress opened`, async () => {
      await using server = await startRawServer((socket) => void socket.end("no\r\n"));
      const config = SERVER_TYPES[type]("only-egress-knows.test", server.port);
      const names = { "only-egress-knows.test": [["127.0.0.1"]] };
      const result = await probe(type, config, { names });
      expect(result.outcome).toBe("failed");
      expect(server.connections()).toBe(1);
      expect(dials).toEqual(["a socket"]);
    });
  }
});
