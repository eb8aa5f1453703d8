import { expect, test } from "bun:test";
import { operation } from "../../src/http/operation";
import { createRouteTable } from "../../src/http/route-table";

test("requests are counted by route and status, and statuses after the 31st as other", () => {
  const { add, counts } = createRouteTable();
  const hooks = operation({ summary: "A", tag: "A", access: { kind: "public" }, answers: {} });
  add([{ method: "GET", path: "/a", hooks, handle: () => new Response() }]);
  for (let status = 200; status < 240; status++) counts.record(0, status);
  counts.record(0, 200);
  counts.record(undefined, 404);
  const [family] = counts.families();
  const values = [...(family?.read() ?? [])].map(
    ({ labels, value }) => [labels?.["route"], labels?.["status"], value] as const,
  );
  expect(values).toHaveLength(33);
  expect(values).toContainEqual(["/a", "200", 2]);
  expect(values).toContainEqual(["/a", "230", 1]);
  expect(values).toContainEqual(["/a", "other", 9]);
  expect(values).toContainEqual(["none", "other", 1]);
});
