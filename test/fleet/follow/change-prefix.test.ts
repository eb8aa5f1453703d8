import { expect, test } from "bun:test";
import { startFollowing } from "../../../src/fleet/follow/follow";
import { createTestClock, settle } from "../../support/clock";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";
import { until } from "../../support/until";

test("logs that follow each other quickly are begun one after another, so that the last one stays", async () => {
  using folder = temporaryFolder();
  const clock = createTestClock();
  const answers = new Map<string, PromiseWithResolvers<never>>();
  const store = {
    ...createMemoryStore(),
    list(start: string) {
      const prefix = start.slice(0, start.indexOf("/"));
      const answer = Promise.withResolvers<never>();
      answers.set(prefix, answer);
      return answer.promise;
    },
  };
  const following = await startFollowing({
    store,
    levelPrefix: (prefix, level) => `${prefix}/${level}/`,
    prefix: "term-000001-1",
    folder: folder.path,
    program: "/nowhere/litestream",
    clock,
    log: createTestLog("silent").log,
    isPrimaryAlive: () => true,
    hasHints: () => false,
  });
  await until(() => answers.has("term-000001-1"));
  following.changePrefix("term-000002-1");
  answers.get("term-000001-1")?.reject(new Error("the store does not answer"));
  await settle();
  await clock.advance(1_000);
  await until(() => answers.has("term-000002-1"));
  following.changePrefix("term-000003-1");
  await settle();
  await clock.advance(1_000);
  expect(answers.has("term-000003-1")).toBe(false);
  answers.get("term-000002-1")?.reject(new Error("the store does not answer"));
  await settle();
  await clock.advance(1_000);
  await until(() => answers.has("term-000003-1"));
  answers.get("term-000003-1")?.reject(new Error("the store does not answer"));
  const stopping = following.stop();
  await settle();
  await clock.advance(2_000);
  await stopping;
});
