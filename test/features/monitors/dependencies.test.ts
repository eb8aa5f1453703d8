import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createMonitorApi, HTTP, type MonitorApi } from "../../support/monitor-api";

/** Creates monitors of which each depends on the one before, and returns their ids. */
async function chain(api: MonitorApi, length: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < length; index++) {
    const before = ids.at(-1);
    const { id } = await api.create({ name: `M${index}`, depends_on: before ? [before] : [] });
    ids.push(id);
  }
  return ids;
}

describe("dependencies of monitors", () => {
  test("a monitor depends on others by id or ref, in their order, and shows their ids", async () => {
    await using api = await createMonitorApi();
    const router = await api.create({ name: "Router" });
    const power = await api.create({ name: "Power" });
    expect(router).toMatchObject({ depends_on: [], unreachable_via: null });
    const shop = await api.create({ depends_on: ["power", router.id] });
    expect(shop.depends_on).toEqual([power.id, router.id]);
    const changed = await api.patch(shop.id, { depends_on: [router.id] });
    expect(changed.body).toMatchObject({ depends_on: [router.id], version: 2 });
    expect(api.app.audit().at(-1)?.summary).toBe("Changed the monitor “Shop”: dependencies");
    expect((await api.patch(shop.id, { depends_on: ["router"] })).body.version).toBe(2);
    expect((await api.patch(shop.id, { name: "Shop 2" })).body.depends_on).toEqual([router.id]);
    expect((await api.patch(shop.id, { depends_on: [] })).body).toMatchObject({ depends_on: [] });
    const { body } = await api.call();
    expect(body.data.map((one: { depends_on: string[] }) => one.depends_on)).toEqual([[], [], []]);
  });

  test("deleting a monitor removes it from the dependencies of others, which are audited", async () => {
    await using api = await createMonitorApi();
    const router = await api.create({ name: "Router" });
    const power = await api.create({ name: "Power" });
    const shop = await api.create({ depends_on: [router.id, power.id] });
    await api.call(`/${router.id}`, { method: "DELETE" });
    expect((await api.call(`/${shop.id}`)).body).toMatchObject({
      depends_on: [power.id],
      version: 2,
    });
    const own = api.app.audit().filter(({ targetId }) => targetId === shop.id);
    expect(own.at(-1)).toMatchObject({
      action: "monitor.update",
      summary: "Changed the monitor “Shop”: dependencies",
    });
    await api.call(`/${shop.id}`, { method: "DELETE" });
    await api.call(`/${power.id}`, { method: "DELETE" });
    expect((await api.call()).body.data).toEqual([]);
  });

  test("five dependencies that follow each other are accepted, and a sixth is rejected at either end", async () => {
    await using api = await createMonitorApi();
    const ids = await chain(api, 6);
    const before = api.written();
    const detail = "makes more than 5 dependencies follow each other";
    const errors = [{ pointer: "#/depends_on/0", detail }];
    const after = await api.post({ ...HTTP, depends_on: [ids.at(-1)] });
    expectProblem(after, "validation_failed");
    expect(after.body.errors).toEqual(errors);
    expect(api.written()).toEqual(before);
    const { id } = await api.create({ name: "Power" });
    const first = await api.patch(ids[0] ?? "", { depends_on: [id] });
    expectProblem(first, "validation_failed");
    expect(first.body.errors).toEqual(errors);
  });

  test("a monitor cannot depend on itself or on one that depends on it", async () => {
    await using api = await createMonitorApi();
    const ids = await chain(api, 3);
    const before = api.written();
    const errorsOf = async (id: string, parent: string) => {
      const answer = await api.patch(id, { depends_on: [parent] });
      expectProblem(answer, "validation_failed");
      return answer.body.errors;
    };
    const at = "#/depends_on/0";
    const [first = "", second = "", third = ""] = ids;
    expect(await errorsOf(first, first)).toEqual([
      { pointer: at, detail: "is the monitor itself" },
    ]);
    for (const parent of [second, third]) {
      expect(await errorsOf(first, parent)).toEqual([
        { pointer: at, detail: "depends on the monitor itself" },
      ]);
    }
    expect(api.written()).toEqual(before);
  });

  test("of two changes at once that together make a cycle, one is rejected", async () => {
    await using api = await createMonitorApi();
    const one = await api.create({ name: "One" });
    const other = await api.create({ name: "Other" });
    const answers = await Promise.all([
      api.patch(one.id, { depends_on: [other.id] }),
      api.patch(other.id, { depends_on: [one.id] }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
  });

  test.each([
    ["an unknown id", ["mon_01kah2v9w0e0rs6x0h3ye0a1bc"], "#/depends_on/0", "does not exist"],
    ["one monitor twice", ["router", "ID"], "#/depends_on/1", "names the same monitor twice"],
    ["six monitors", ["a", "b", "c", "d", "e", "f"], "#/depends_on", "has more than 5 entries"],
    ["null", null, "#/depends_on", "must be a list"],
  ])("%s is rejected in a new monitor and in a change", async (_, parents, pointer, detail) => {
    await using api = await createMonitorApi();
    const router = await api.create({ name: "Router" });
    const { id } = await api.create();
    const before = api.written();
    const depends_on = parents?.map((each) => (each === "ID" ? router.id : each)) ?? null;
    for (const answer of [
      await api.post({ ...HTTP, depends_on }),
      await api.patch(id, { depends_on }),
    ]) {
      expectProblem(answer, "validation_failed");
      expect(answer.body.errors).toContainEqual({ pointer, detail });
    }
    expect(api.written()).toEqual(before);
  });

  test("unknown references are named together with other invalid fields", async () => {
    await using api = await createMonitorApi();
    const answer = await api.post({ ...HTTP, timeout_ms: 1, depends_on: ["nothing"] });
    const pointers = answer.body.errors.map((error: { pointer: string }) => error.pointer);
    expect(pointers.toSorted()).toEqual(["#/depends_on/0", "#/timeout_ms"]);
  });

  test("GET /monitors?state=unreachable is a valid filter", async () => {
    await using api = await createMonitorApi();
    await api.create();
    const answer = await api.call("?state=unreachable");
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual([]);
  });
});
