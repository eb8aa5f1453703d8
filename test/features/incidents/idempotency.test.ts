import { describe, expect, test } from "bun:test";
import { expectProblem, versionOf } from "../../support/app";
import { createIncidentSite, INCIDENTS } from "../../support/incident-site";

const headers = { "idempotency-key": "6f1c" };

describe("Idempotency-Key", () => {
  test("twenty concurrent requests with one Idempotency-Key create one incident and one event", async () => {
    await using site = await createIncidentSite();
    const json = { components: { [site.api]: "major_outage" } };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => site.post(json, { headers })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const replayed = answers.filter((each) => each.headers.has("idempotency-replayed"));
    expect(replayed).toHaveLength(19);
    expect(site.newEventTypes()).toEqual(["incident.created", "component.status_changed"]);
    expect((await site.app.call(INCIDENTS, { key: site.key })).body.data).toHaveLength(1);
    for (const answer of answers) {
      const { headers: sent } = answer;
      expect(versionOf(answer)).toBe(1);
      expect(sent.get("location")).toBe(`https://status.test${INCIDENTS}/${answers[0]?.body.id}`);
    }
  });

  test("the same Idempotency-Key with another body is idempotency_mismatch, and nothing is written", async () => {
    await using site = await createIncidentSite();
    await site.post({}, { headers });
    const before = await site.state();
    expectProblem(await site.post({ name: "Other" }, { headers }), "idempotency_mismatch");
    expect(await site.state()).toEqual(before);
  });

  test("an update sent twice with one Idempotency-Key is written once", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    const [first, second] = [
      await site.update(id, { status: "resolved" }, { headers }),
      await site.update(id, { status: "resolved" }, { headers }),
    ];
    expect(second.body).toEqual(first.body);
    expect((await site.read(id)).updates).toHaveLength(2);
  });

  test("a rejected request can be corrected and sent with the same Idempotency-Key", async () => {
    await using site = await createIncidentSite();
    expectProblem(await site.post({ name: "" }, { headers }), "validation_failed");
    expectProblem(await site.post({ page: "nobody" }, { headers }), "validation_failed");
    expect((await site.post({}, { headers })).status).toBe(201);
  });
});
