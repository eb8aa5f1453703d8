import { expect, test } from "bun:test";
import { exportFile } from "../../../src/features/apply/apply";
import { createTestApp } from "../../support/app";
import { apply, applyError, linesOf } from "../../support/apply";
import { readMonitors } from "../../support/monitors-file";

const file = (component: string, monitor: string) => `pages:
  - slug: acme
    name: Acme
    components:
      - name: API
        ${component}
        monitors:
          - name: Health
            type: tcp
            config: { host: a.test, port: 80 }
            ${monitor}
`;

const WITH_TAGS = file("tags: [core, Team A]", "tags: [production]");

test("a file sets the tags of components and monitors, and its export has them", async () => {
  await using app = await createTestApp();
  await apply(app, WITH_TAGS);
  expect(await readMonitors(app)).toMatchObject([{ tags: ["production"] }]);
  const exported = await app.ctx.db.write((tx) => exportFile(tx));
  expect(exported.pages[0]?.components?.[0]).toMatchObject({
    tags: ["core", "Team A"],
    monitors: [{ tags: ["production"] }],
  });
  expect(linesOf(await apply(app, WITH_TAGS))).toEqual([]);
  expect(linesOf(await apply(app, file("tags: [core]", "tags: [production, eu]")))).toEqual([
    '~ component acme/api: tags ["core","Team A"] → ["core"]',
    '~ monitor health: tags ["production"] → ["production","eu"]',
  ]);
});

test("a file without tags removes them, and an export leaves out empty lists", async () => {
  await using app = await createTestApp();
  await apply(app, WITH_TAGS);
  await apply(app, file("tags: []", "paused: false"));
  const exported = await app.ctx.db.write((tx) => exportFile(tx));
  expect(JSON.stringify(exported)).not.toContain("tags");
});

test("invalid tags in a file are rejected with their line, and nothing is changed", async () => {
  await using app = await createTestApp();
  await apply(app, WITH_TAGS);
  const before = app.audit();
  expect(await applyError(app, file("tags: [a, A]", "paused: false"))).toContain(
    "item 2 is a repetition; case is ignored",
  );
  expect(await applyError(app, file("showcase: true", 'tags: [" a"]'))).toContain(
    "item 1 begins or ends with white space",
  );
  expect(await applyError(app, file("tags: core", "paused: false"))).toContain(
    "must be a list of texts",
  );
  expect(app.audit()).toEqual(before);
  const [page] = (await app.ctx.db.write((tx) => exportFile(tx))).pages;
  expect(page?.components?.[0]).toMatchObject({ tags: ["core", "Team A"] });
});
