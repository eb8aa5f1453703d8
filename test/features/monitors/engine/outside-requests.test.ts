import { expect, test } from "bun:test";
import { createTestApp } from "../../../support/app";

test.each([
  ["a global address is an answer from outside", "8.8.8.8", {}, true],
  ["a private address is none", "192.168.1.7", {}, false],
  ["a private address stays none with a forwarding header", "10.1.0.1", { via: "8.8.8.8" }, false],
  ["a trusted proxy counts by the address that it names", "10.0.0.1", { via: "8.8.8.8" }, true],
  ["a trusted proxy is none for a private client", "10.0.0.1", { via: "192.168.1.7" }, false],
] as const)("a request from %s", async (_name, peer, { via }: { via?: string }, isOutside) => {
  await using app = await createTestApp({ env: { ALLCLEAR_TRUSTED_PROXIES: "10.0.0.1" } });
  await app.clock.advance(1_000);
  await app.call("/healthz", {
    from: peer,
    headers: via === undefined ? {} : { "x-forwarded-for": via },
  });
  expect(app.ctx.outside.lastAt > Number.NEGATIVE_INFINITY).toBe(isOutside);
});
