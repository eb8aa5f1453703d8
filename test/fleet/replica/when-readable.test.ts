import { expect, test } from "bun:test";
import { whenReadable } from "../../../src/fleet/replica/serve";
import { createSignal } from "../../../src/base/signal";
import { createTestClock } from "../../support/clock";

/** Time after which a replica serves without the newest state. */
const CLOSED_MS = 3_000;

/** Begins to wait for data, which the test makes readable. */
function startWaiting() {
  const clock = createTestClock();
  const changed = createSignal<void>();
  const stop = Promise.withResolvers<void>();
  const state = { isReadable: false, hasEnded: false };
  const check = () => {
    if (!state.isReadable) throw new Error("locked");
  };
  const ended = whenReadable(clock, changed, check, stop.promise).then(
    () => void (state.hasEnded = true),
  );
  return { clock, changed, stop, state, ended };
}

test("a replica opens its port as soon as a version of its data can be read", async () => {
  const { clock, changed, state, ended } = startWaiting();
  changed.emit();
  await clock.advance(CLOSED_MS - 1);
  expect(state.hasEnded).toBe(false);
  state.isReadable = true;
  changed.emit();
  await ended;
  expect(changed.hasListeners).toBe(false);
});

test("a replica without data opens its port after three seconds", async () => {
  const { clock, changed, state, ended } = startWaiting();
  await clock.advance(CLOSED_MS - 1);
  expect(state.hasEnded).toBe(false);
  await clock.advance(1);
  await ended;
  expect(changed.hasListeners).toBe(false);
});

test("a replica that is to stop does not wait for data", async () => {
  const { stop, ended } = startWaiting();
  stop.resolve();
  await ended;
});
