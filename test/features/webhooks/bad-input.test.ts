import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createWebhookSite, RECEIVER, SLACK } from "../../support/webhook-site";
import { shareSite } from "../../support/shared-site";

const PUBLIC = "is not an address of the public internet";
const LINK_LOCAL = "is a link-local address";
const METADATA = "is an address at which a cloud keeps its metadata";

/** Bodies that are refused, with what is said of which field. */
const REFUSED: [string, object, string, string][] = [
  ["no URL", { url: undefined }, "#/url", "is required"],
  ["an empty URL", { url: "" }, "#/url", "is empty"],
  ["a URL without a scheme", { url: "example.com/hooks" }, "#/url", "begins with https://"],
  ["a file", { url: "file:///etc/passwd" }, "#/url", "begins with https://"],
  ["another scheme", { url: "ftp://example.com/hooks" }, "#/url", "begins with https://"],
  ["a script", { url: "javascript:alert(1)" }, "#/url", "begins with https://"],
  ["data", { url: "data:text/plain,x" }, "#/url", "begins with https://"],
  ["user info", { url: "https://me:secret@example.com/" }, "#/url", "user name or password"],
  ["a user", { url: "https://me@example.com/" }, "#/url", "user name or password"],
  ["a blank", { url: "https://example.com/a b" }, "#/url", "must not contain spaces"],
  ["a line end", { url: "https://example.com/a\r\nb" }, "#/url", "must not contain spaces"],
  ["a backslash", { url: "https:\\\\example.com\\a" }, "#/url", "backslashes"],
  ["a URL as it is shown", { url: "https://hooks.slack.com/services/…" }, "#/url", "whole URL"],
  ["a URL without an end", { url: `${RECEIVER}/${"x".repeat(2_000)}` }, "#/url", "is the most"],
  ["a host of two dots", { url: "https://example..com/" }, "#/url", "must be a host name"],
  ["loopback", { url: "http://127.0.0.1/" }, "#/url", PUBLIC],
  ["loopback as a number", { url: "http://2130706433/" }, "#/url", PUBLIC],
  ["loopback in hexadecimal", { url: "http://0x7f.1/" }, "#/url", PUBLIC],
  ["loopback in octal", { url: "http://017700000001/" }, "#/url", PUBLIC],
  ["loopback in other digits", { url: "http://①②⑦.0.0.1/" }, "#/url", PUBLIC],
  ["loopback with a dot behind", { url: "http://127.0.0.1./" }, "#/url", PUBLIC],
  ["loopback in IPv6", { url: "http://[::1]/" }, "#/url", PUBLIC],
  ["loopback mapped", { url: "http://[::ffff:7f00:1]/" }, "#/url", PUBLIC],
  ["loopback translated", { url: "http://[64:ff9b::7f00:1]/" }, "#/url", PUBLIC],
  ["a private network", { url: "https://10.1.2.3:8443/" }, "#/url", PUBLIC],
  ["a private network in IPv6", { url: "https://[fd00::1]/" }, "#/url", PUBLIC],
  ["a carrier's network", { url: "https://100.64.0.1/" }, "#/url", PUBLIC],
  ["no address", { url: "http://0.0.0.0/" }, "#/url", "is not an address that a service has"],
  ["metadata", { url: "http://169.254.169.254/latest" }, "#/url", LINK_LOCAL],
  ["metadata in IPv6", { url: "http://[fd00:ec2::254]/latest" }, "#/url", METADATA],
  ["no event", { events: [] }, "#/events", "needs at least one"],
  ["an event that does not exist", { events: ["incident.exploded"] }, "#/events/0", "one of *"],
  ["an event twice", { events: ["monitor.up", "monitor.up"] }, "#/events", "twice"],
  ["all events and one", { events: ["*", "monitor.up"] }, "#/events", "alone"],
  ["events as text", { events: "*" }, "#/events", "must be a list"],
  ["a page that does not exist", { page: "nowhere" }, "#/page", "is not the slug or id of a page"],
  ["a format that does not exist", { format: "pigeon" }, "#/format", "must be one of standard"],
  ["a setting of no format", { settings: { a: 1 } }, "#/settings/a", "is not a known field"],
  ["settings that are none", { settings: [] }, "#/settings", "must be an object"],
  ["a description without an end", { description: "x".repeat(1_001) }, "#/description", "1000"],
  ["a URL of another service", { format: "ntfy", url: "https://ntfy.sh/" }, "#/url", "topic"],
  ["a missing token", { format: "gotify" }, "#/settings/token", "is required"],
  ["an unknown field", { colour: "red" }, "#/colour", "is not a known field"],
];

const SECRETS: [string, unknown, string][] = [
  ["without its beginning", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must begin with whsec_"],
  ["that is too short", "whsec_c2hvcnQ=", "24 to 64 bytes"],
  ["that is too long", `whsec_${Buffer.alloc(65).toString("base64")}`, "24 to 64 bytes"],
  ["that is no base64", "whsec_not*base64*at*all*not*base64", "base64"],
  ["that is no text", 5, "must be text"],
  ["that is nothing", null, "must be text"],
];

describe("invalid input for a webhook", () => {
  const shared = shareSite(createWebhookSite);

  test.each(REFUSED)(
    "a webhook with %s is rejected, and nothing is written",
    async (_, json, pointer, detail) => {
      const site = await shared();
      const before = await site.state();
      const answer = await site.post({ url: RECEIVER, ...json });
      const { errors } = expectProblem(answer, "validation_failed");
      expect(errors).toEqual([{ pointer, detail: expect.stringContaining(detail) }]);
      expect(await site.state()).toEqual(before);
    },
  );

  test.each(SECRETS)(
    "a webhook with a secret %s is rejected, and the secret is not repeated",
    async (_, secret, detail) => {
      const site = await shared();
      const before = await site.state();
      const answer = await site.post({ url: RECEIVER, secret });
      const { errors } = expectProblem(answer, "validation_failed");
      expect(errors).toEqual([{ pointer: "#/secret", detail: expect.stringContaining(detail) }]);
      if (typeof secret === "string") expect(answer.text).not.toContain(secret);
      expect(await site.state()).toEqual(before);
    },
  );

  test("a webhook with several invalid fields is rejected with one error per field", async () => {
    await using site = await createWebhookSite();
    const json = {
      url: "http://127.0.0.1/",
      format: "ntfy",
      events: ["x"],
      page: "y",
      secret: "z",
    };
    const { errors } = expectProblem(await site.post(json), "validation_failed");
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "#/events/0",
      "#/page",
      "#/url",
      "#/secret",
    ]);
    const { errors: next } = expectProblem(
      await site.post({ ...json, events: ["*"], settings: { token: "a b" } }),
      "validation_failed",
    );
    expect(next.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "#/page",
      "#/url",
      "#/settings/token",
      "#/secret",
    ]);
  });

  test("a webhook with unusual but valid input is created", async () => {
    await using site = await createWebhookSite();
    const bodies = [
      { url: "http://93.184.215.14:8080/hooks?a=1" },
      { url: "https://[2606:4700:4700::1111]/" },
      { url: "https://bücher.example/" },
      { url: RECEIVER, events: ["*"] },
      { url: RECEIVER, page: "acme", description: null },
      { url: RECEIVER, page: site.pageId },
      { url: RECEIVER, page: null, settings: {} },
      { url: RECEIVER, secret: `whsec_${Buffer.alloc(24).toString("base64")}` },
      { url: RECEIVER, secret: `whsec_${Buffer.alloc(64).toString("base64")}` },
    ];
    for (const json of bodies) expect((await site.post(json)).status).toBe(201);
  });

  test("a webhook with a private address is created only if the installation allows its network", async () => {
    const env = { ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8,169.254.0.0/16" };
    await using site = await createWebhookSite({ env });
    expect((await site.post({ url: "http://10.1.2.3/" })).status).toBe(201);
    for (const url of ["http://192.168.1.1/", "http://169.254.169.254/"]) {
      expectProblem(await site.post({ url }), "validation_failed");
    }
  });
});

describe("invalid changes of a webhook", () => {
  const shared = shareSite(createWebhookSite);
  // What is missing from a change stays as it is.
  const rejected = REFUSED.filter(([name]) => name !== "no URL");

  test.each([...rejected, ["no field", {}, "#", "must contain at least one field"] as const])(
    "a change of a webhook to %s is rejected, and nothing is written",
    async (_, json, pointer, detail) => {
      const site = await shared();
      const { id } = await site.create();
      const before = await site.state();
      const { errors } = expectProblem(await site.patch(id, json), "validation_failed");
      expect(errors).toEqual([{ pointer, detail: expect.stringContaining(detail) }]);
      expect(await site.state()).toEqual(before);
    },
  );

  test("a change of a webhook's secret is rejected", async () => {
    await using site = await createWebhookSite();
    const { id } = await site.create();
    const before = await site.state();
    const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
    const { errors } = expectProblem(await site.patch(id, { secret }), "validation_failed");
    expect(errors).toEqual([{ pointer: "#/secret", detail: "is not a known field" }]);
    expect(await site.state()).toEqual(before);
  });
});

describe("requests for an unknown webhook", () => {
  const shared = shareSite(createWebhookSite);

  test.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/rotate-secret"],
    ["POST", "/test"],
    ["GET", "/deliveries"],
    ["GET", "/deliveries/dlv_1"],
    ["POST", "/deliveries/dlv_1/redeliver"],
  ])("an unknown webhook answers %s %s with 404, and nothing is written", async (method, path) => {
    const site = await shared();
    const { id } = await site.create({ url: SLACK, format: "slack" });
    expect((await site.call(`/${id}`, { method: "DELETE" })).status).toBe(204);
    const before = await site.state();
    const json = method === "PATCH" ? { json: { enabled: false } } : {};
    for (const gone of [id, "whk_1", "x"]) {
      expectProblem(await site.call(`/${gone}${path}`, { method, ...json }), "not_found");
    }
    expect(await site.state()).toEqual(before);
  });
});
