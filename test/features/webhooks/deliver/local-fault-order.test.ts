import { expect, test } from "bun:test";
import type { Egress } from "../../../../src/egress/egress";
import { Fault } from "../../../../src/egress/model";
import { MINUTE_MS } from "../../../../src/base/time";
import { createDeliverySite } from "../../../support/delivery-site";
import { createTestEgress } from "../../../support/egress";
import { startReceiver } from "../../../support/receiver";

/** An egress whose first requests fail by a fault of this server. */
async function createFaultyEgress(faultCount: number): Promise<Egress> {
  const { egress } = await createTestEgress(undefined, { outboundAllow: "127.0.0.0/8" });
  let requests = 0;
  return {
    ...egress,
    request: async (...options) => {
      requests += 1;
      return requests <= faultCount
        ? new Fault("local", "Too many open files.")
        : egress.request(...options);
    },
  };
}

test("events of one subject keep their order after a fault of this server", async () => {
  await using receiver = startReceiver();
  await using site = await createDeliverySite({ egress: await createFaultyEgress(1) });
  await site.endpoint(receiver.url);
  await site.recordEvents("inc_1", ...Array.from({ length: 20 }, () => "inc_1"), "inc_2");
  await receiver.until(1);
  expect(receiver.received.map(({ data }) => data.id)).toEqual(["inc_2"]);
  await site.app.clock.advance(MINUTE_MS);
  await site.idle();
  const order = receiver.received.slice(1).map(({ data }) => data.index as number);
  expect(order).toEqual(Array.from({ length: 21 }, (_, index) => index));
  expect(site.tries().map(({ number }) => number)).toEqual(Array.from({ length: 22 }, () => 1));
});
