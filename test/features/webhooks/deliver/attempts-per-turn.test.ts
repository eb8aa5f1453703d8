import { expect, test } from "bun:test";
import type { Egress } from "../../../../src/egress/egress";
import type { HttpAnswer } from "../../../../src/egress/model";
import { createDeliverySite } from "../../../support/delivery-site";

const ENDPOINTS = 100;

test("at most 16 attempts begin in one turn of the event loop, also at the start of a process", async () => {
  let begun = 0;
  const egress = {
    request: async () => {
      begun += 1;
      return {
        status: 204,
        headers: new Headers(),
        body: new Uint8Array(),
      } as unknown as HttpAnswer;
    },
  } as unknown as Egress;
  await using site = await createDeliverySite({ egress });
  for (let index = 0; index < ENDPOINTS; index++) {
    await site.endpoint(`http://127.0.0.1:9/${index}`);
  }
  await site.recordEvents("inc_1", "inc_2");
  const inTurns: number[] = [];
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      const before = begun;
      await new Promise((resolve) => setImmediate(resolve));
      inTurns.push(begun - before);
    }
  })();
  await site.idle();
  isOver = true;
  await counting;
  expect(begun).toBe(2 * ENDPOINTS);
  expect(Math.max(...inTurns)).toBe(16);
});
