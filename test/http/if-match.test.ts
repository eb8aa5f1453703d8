import { describe, expect, test } from "bun:test";
import { expectProblem, versionOf } from "../support/app";
import { createComponentSite } from "../support/component-site";

const OUTAGE = { status: "major_outage" };

describe("If-Match", () => {
  test.each([
    '"1"',
    '"7", "1"',
    '"1","7"',
    "*",
    ' "1" ',
    '"1-0123456789abcdef"',
    '"7-0123456789abcdef", "1-fedcba9876543210"',
    'W/"1"',
    'W/"1", "7"',
    '"7",W/"1-0123456789abcdef"',
  ])("the If-Match %s accepts the change", async (tag) => {
    await using site = await createComponentSite();
    const answer = await site.patch({ json: OUTAGE, headers: { "if-match": tag } });
    expect(answer.status).toBe(200);
    expect(versionOf(answer)).toBe(2);
  });

  test.each([
    ['"0"', "stale"],
    ['"2"', "not made yet"],
    ['W/"2"', "weak and not made yet"],
    ['w/"1"', "weak with a small letter"],
    ['W/ "1"', "weak with a space"],
    ["W/1", "weak without quotes"],
    ["W/*", "a weak star"],
    ["1", "without quotes"],
    ['""', "empty"],
    ['"2-0123456789abcdef"', "of another version and some hash"],
    ['"1-"', "without the hash that it begins"],
    ['"1-0123456789ABCDEF"', "with no hash of this server"],
    ['"01"', "spelled otherwise"],
    ['"*"', "a quoted star"],
  ])(
    "the If-Match %s, which is %s, is 412 with the current tag, and nothing is written",
    async (tag) => {
      await using site = await createComponentSite();
      const before = await site.state();
      const answer = await site.patch({ json: OUTAGE, headers: { "if-match": tag } });
      expectProblem(answer, "precondition_failed");
      expect(answer.headers.get("etag")).toBe('"1"');
      expect(await site.state()).toEqual(before);
    },
  );

  test("exactly one of twenty concurrent changes with one If-Match succeeds", async () => {
    await using site = await createComponentSite();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        site.patch({
          json: { status: index % 2 === 0 ? "major_outage" : "partial_outage" },
          headers: { "if-match": '"1"' },
        }),
      ),
    );
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
    expect(site.app.events()).toHaveLength(1);
  });

  test("changes without If-Match always succeed", async () => {
    await using site = await createComponentSite();
    expect((await site.patch({ json: OUTAGE })).status).toBe(200);
    expect((await site.patch({ json: { status: "operational" } })).status).toBe(200);
  });
});
