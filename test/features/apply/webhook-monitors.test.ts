import { expect, test } from "bun:test";
import { exportFile } from "../../../src/features/apply/apply";
import { listAllWebhooks } from "../../../src/features/webhooks/store";
import { createTestApp } from "../../support/app";
import { apply, applyError, lineOf, linesOf } from "../../support/apply";
import { readMonitors } from "../../support/monitors-file";

const file = (monitors: string, more = "") => `pages: []
monitors:
  - { name: Shop, type: tcp, config: { host: a.test, port: 80 } }
  - { name: Mail, type: tcp, config: { host: a.test, port: 25 } }
webhooks:
  - description: Chat
    url: https://receiver.example.com/hooks
    secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
    ${monitors}
${more}`;

test("a file names the monitors of a webhook by ref, and its export does so too", async () => {
  await using app = await createTestApp();
  await apply(app, file("monitors: [mail, shop]"));
  const [shop, mail]: { id: string }[] = await readMonitors(app);
  expect(listAllWebhooks(app.ctx.db, {})).toMatchObject([{ monitors: [mail?.id, shop?.id] }]);
  expect(linesOf(await apply(app, file("monitors: [mail, shop]")))).toEqual([]);
  const exported = await app.ctx.db.write((tx) => exportFile(tx));
  expect(exported.webhooks).toMatchObject([{ monitors: ["mail", "shop"] }]);
  expect(linesOf(await apply(app, file("monitors: [shop]")))).toEqual([
    '~ webhook chat: monitors ["mail","shop"] → ["shop"]',
  ]);
  expect(linesOf(await apply(app, file("enabled: true")))).toEqual([
    '~ webhook chat: monitors ["shop"] → ["*"]',
  ]);
  const whole = await app.ctx.db.write((tx) => exportFile(tx));
  expect(whole.webhooks?.[0]).not.toHaveProperty("monitors");
});

test("an unknown monitor of a webhook is rejected with its line, and nothing is changed", async () => {
  await using app = await createTestApp();
  const text = file("monitors: [shop, nothing]");
  const message = await applyError(app, text);
  expect(message).toContain("monitors[1] is not a monitor");
  expect(message).toContain(`${lineOf(text, "monitors: [shop")}`);
  expect(await readMonitors(app)).toEqual([]);
});
