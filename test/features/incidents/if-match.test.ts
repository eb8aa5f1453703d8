import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentSite, INCIDENTS, type IncidentSite } from "../../support/incident-site";

/** An incident with what changes it under a version. */
async function changesOf(site: IncidentSite) {
  const incident = await site.open();
  const path = `${INCIDENTS}/${incident.id}`;
  const changes = {
    incident: { path, method: "PATCH", json: { name: "Changed" } },
    update: {
      path: `${path}/updates/${incident.updates[0].id}`,
      method: "PATCH",
      json: { body: "Changed" },
    },
    "post-mortem": { path: `${path}/postmortem`, method: "PUT", json: { body: "Changed" } },
  };
  return { incident, changes };
}

describe.each(["incident", "update", "post-mortem"] as const)(
  "If-Match on a change of an %s",
  (what) => {
    test.each(['"9"', 'W/"9"', "nonsense", '"2", W/"3"'])(
      "the stale or invalid If-Match %s is precondition_failed, and nothing is written",
      async (ifMatch) => {
        await using site = await createIncidentSite();
        const { path, ...change } = (await changesOf(site)).changes[what];
        const before = await site.state();
        const headers = { "if-match": ifMatch };
        const answer = await site.app.call(path, { key: site.key, ...change, headers });
        expectProblem(answer, "precondition_failed");
        expect(answer.headers.get("etag")).toBe('"1"');
        expect(await site.state()).toEqual(before);
      },
    );

    test("one of two concurrent changes with the current version in If-Match succeeds", async () => {
      await using site = await createIncidentSite();
      const { path, ...change } = (await changesOf(site)).changes[what];
      const send = () =>
        site.app.call(path, { key: site.key, ...change, headers: { "if-match": '"1"' } });
      const answers = await Promise.all([send(), send()]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
      const changed = answers.find(({ status }) => status === 200);
      expect(changed?.body.version).toBe(2);
      expect(changed?.headers.get("etag")).toMatch(/^"2(-[0-9a-f]{16})?"$/);
    });
  },
);

test("an update raises the incident's version, so an earlier ETag is stale", async () => {
  await using site = await createIncidentSite();
  const { id } = await site.open();
  await site.update(id, {});
  const headers = { "if-match": '"1"' };
  expectProblem(await site.patch(id, { name: "x" }, { headers }), "precondition_failed");
});

test("If-None-Match is answered with 304 until the incident changes", async () => {
  await using site = await createIncidentSite();
  const { id, updates } = await site.open();
  const paths = [`${INCIDENTS}/${id}`, `${INCIDENTS}/${id}/updates/${updates[0].id}`, INCIDENTS];
  for (const path of paths) {
    const first = await site.app.call(path, { key: site.key });
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    expect((await site.app.call(path, { key: site.key, headers })).status).toBe(304);
    await site.update(id, {});
    expect((await site.app.call(path, { key: site.key, headers })).status).toBe(200);
  }
});
