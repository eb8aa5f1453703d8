import { expect, test } from "bun:test";
import { createTestApp } from "../../support/app";
import { apply, applyError, lineOf } from "../../support/apply";
import { MONITORS_FILE as FILE, readMonitors } from "../../support/monitors-file";

test("the unchanged file of these tests is accepted", async () => {
  await using app = await createTestApp();
  expect((await apply(app, FILE)).changes).toHaveLength(10);
});

test.each([
  {
    right: "type: tls",
    wrong: "type: pigeon",
    says: "monitors[0].type must be one of http, tcp, tls, dns, ping, push",
  },
  { right: "interval_seconds: 30", wrong: "interval: 30", says: ".interval is not a known field" },
  {
    right: "interval_seconds: 30",
    wrong: "interval_seconds: 4",
    says: ".interval_seconds must be a whole number from 5 to 86,400",
  },
  {
    right: "interval_seconds: 30",
    wrong: "retry_interval_seconds: 61",
    says: ".retry_interval_seconds must not be longer than the interval of 60 seconds",
  },
  {
    right: "config: { host: acme.example }",
    wrong: "degraded_after_ms: 1",
    says: "monitors[0].config is required",
  },
  {
    right: "https://api.acme.example/health",
    wrong: "http://169.254.169.254/",
    says: ".config.url names an address that is a link-local address",
  },
  {
    right: "https://api.acme.example/health",
    wrong: "file:///etc/passwd",
    says: ".config.url must begin with http:// or https://",
  },
  {
    right: "assertions:\n                - { source: status, op: eq, value: 204 }",
    wrong: "body: Hello",
    says: ".config.body cannot be sent with GET",
  },
  {
    right: "op: eq, value: 204",
    wrong: "op: matches, value: 204",
    says: ".config.assertions[0].op must be one of eq, ne",
  },
  {
    right: "name: Database",
    wrong: "name: Api health",
    without: "                ref: db\n",
    says: "has the same ref as an earlier one: api-health",
  },
  {
    right: "name: Database",
    wrong: "name: …",
    without: "                ref: db\n",
    says: "ref is required, such as api",
  },
  {
    right: "other/mail",
    wrong: "other/post",
    says: "components[1] is not a component: other/post",
  },
  { right: "other/mail", wrong: "mail", says: "components[1] is not a component: mail" },
])(
  "a file is rejected with its line, and nothing is created: $says",
  async ({ right, wrong, without, says }) => {
    await using app = await createTestApp();
    const text = FILE.replace(right, wrong).replace(without ?? "", "");
    const rejection = await applyError(app, text);
    expect(rejection).toStartWith(`line ${lineOf(text, wrong)}: `);
    expect(rejection).toContain(says);
    expect(rejection).not.toContain("\n");
    expect(app.audit()).toEqual([]);
    expect(await readMonitors(app)).toEqual([]);
  },
);

test("another type under an existing ref is rejected and leaves the monitor unchanged", async () => {
  await using app = await createTestApp();
  await apply(app, FILE);
  const before = await readMonitors(app);
  const text = FILE.replace("type: tls", "type: push").replace("host: acme.example", "");
  expect(await applyError(app, text)).toBe(
    `line ${lineOf(text, "type: push, paused")}: type is tls and cannot change; use another ref for another type`,
  );
  expect(await readMonitors(app)).toEqual(before);
});
