import { expect, setDefaultTimeout, test } from "bun:test";
import { CHECK_OUTCOMES, SUPPORTED_TYPES } from "../../src/base/status";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";
import { readExposition } from "../support/exposition";

setDefaultTimeout(PROCESS_TEST_MS);

test("the executable exposes metrics, including those of checks and deliveries", async () => {
  await using site = await createInstallation();
  const { value: key } = await site.createKey(["read:analytics"]);
  const server = await site.serve();
  const read = async () => {
    const answer = await server.fetch("/metrics", { key });
    expect(answer.status).toBe(200);
    return readExposition(await answer.text());
  };
  await read();
  const families = await read();
  const samples = (name: string) => families.get(name)?.samples ?? [];
  expect(samples("allclear_http_requests_total")).toContainEqual({
    labels: { method: "GET", route: "/metrics", status: "200" },
    value: 1,
  });
  const outcomes = SUPPORTED_TYPES.length * CHECK_OUTCOMES.length;
  expect(samples("allclear_monitor_checks_total")).toHaveLength(outcomes);
  expect(samples("allclear_webhook_tries_running")).toEqual([{ labels: {}, value: 0 }]);
  expect(samples("allclear_database_size_bytes")[0]?.value).toBeGreaterThan(100_000);
  expect(samples("process_resident_memory_bytes")[0]?.value).toBeGreaterThan(10e6);
  expect((await server.fetch("/metrics")).status).toBe(401);
});
