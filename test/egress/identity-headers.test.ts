import { expect, test } from "bun:test";
import { createDeliverySite } from "../support/delivery-site";
import { createTestEgress, faultOf, successOf } from "../support/egress";
import { named, PROXY_ENV } from "../support/identity-proxy";
import { probe } from "../support/probe";
import { startReceiver } from "../support/receiver";
import { answering, httpAnswer, startRawServer } from "../support/raw-server";

test("no request names a user of the own dashboard, which may believe programs on its machine", async () => {
  const { egress, request } = await createTestEgress({}, { env: PROXY_ENV });
  for (const [name, value] of Object.entries(named("owner", { groups: "ops" }))) {
    for (const spelt of [name, name.toUpperCase()]) {
      const fault = faultOf(
        await request("http://127.0.0.1:1/admin", { headers: { [spelt]: value } }),
      );
      expect([fault.kind, fault.message]).toEqual([
        "refused",
        `The header ${spelt} names users of this dashboard, so it is never sent.`,
      ]);
    }
  }
  const headers = { "remote-User": "owner" };
  const refused = { outcome: "failed", message: expect.stringContaining("never sent") };
  const url = "ws://127.0.0.1:1/admin";
  expect(await probe("websocket", { url, headers }, { context: { egress } })).toMatchObject(
    refused,
  );
  const grpc = { host: "127.0.0.1", port: 1, metadata: headers };
  expect(await probe("grpc", grpc, { context: { egress } })).toMatchObject(refused);
  const http = { url: "http://127.0.0.1:1/admin", headers };
  expect(await probe("http", http, { context: { egress } })).toMatchObject(refused);
});

test("no webhook names a user either, by the further headers of a format", async () => {
  await using receiver = startReceiver();
  const { egress } = await createTestEgress({}, { outboundAllow: "127.0.0.0/8", env: PROXY_ENV });
  await using site = await createDeliverySite({ egress });
  for (const headers of [{ "Remote-USER": "owner" }, { "X-Own": "kept" }]) {
    const settings = { headers: JSON.stringify(headers) };
    await site.endpoint(receiver.url, { format: "uptime-kuma", settings });
  }
  await site.recordEvents({
    type: "monitor.down",
    subjectId: "mon_1",
    data: { monitor: { id: "mon_1", name: "API", type: "http" } },
  });
  await site.idle();
  expect(receiver.received.map(({ headers }) => headers["x-own"])).toEqual(["kept"]);
  const errors = site.tries().map(({ error }) => error);
  expect(errors.toSorted()).toEqual([
    "The header remote-user names users of this dashboard, so it is never sent.",
    null,
  ]);
});

test("without an identity proxy these headers are sent as any others", async () => {
  await using server = await startRawServer(answering(httpAnswer(200)));
  const { request } = await createTestEgress({}, { env: {} });
  const answer = await request(`http://127.0.0.1:${server.port}/`, { headers: named("owner") });
  expect(successOf(answer).status).toBe(200);
});
