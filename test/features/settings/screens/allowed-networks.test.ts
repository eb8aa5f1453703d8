import { describe, expect, test } from "bun:test";
import { createEgress } from "../../../../src/egress/egress";
import { Fault } from "../../../../src/egress/model";
import { followSettings, readAllowedNetworks } from "../../../../src/features/settings/settings";
import { createTestApp, expectProblem, type TestApp } from "../../../support/app";
import { HTML } from "../../../support/dashboard";
import { patience } from "../../../support/egress";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { startReceiver } from "../../../support/receiver";
import { shareSite } from "../../../support/shared-site";

const GENERAL = "/admin/settings/general";
const NETWORKS = `${GENERAL}/networks`;
const NAMED = "Settings → General → Allowed networks or ALLCLEAR_OUTBOUND_ALLOW";

function save(app: TestApp, session: string, text: string) {
  return app.call(NETWORKS, { session, form: { allowed_networks: text } });
}

describe("the allowed networks", () => {
  test("an owner allows networks in canonical spelling, once each, and the change is audited", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const answer = await save(
      app,
      session,
      " 10.1.2.3/8 \r\n\r\n192.168.1.20\r\n10.0.0.0/8\r\nFD12::1/16",
    );
    expect([answer.status, answer.headers.get("location")]).toEqual([303, GENERAL]);
    const allowed = ["10.0.0.0/8", "192.168.1.20", "fd12::/16"];
    expect(readAllowedNetworks(app.ctx.db)).toEqual(allowed);
    const page = readHtml((await app.call(GENERAL, { session })).text);
    expect(page.texts("textarea")).toEqual([allowed.join(" ")]);
    expect(app.audit().at(-1)).toMatchObject({
      action: "settings.allowed_networks",
      summary: `Set the allowed networks to ${allowed.join(", ")}`,
    });
    const before = app.audit();
    await save(app, session, allowed.join("\n"));
    expect(app.audit()).toEqual(before);
  });

  test("webhooks reach an allowed network at once, and no longer after its removal", async () => {
    await using app = await createTestApp();
    await using receiver = startReceiver();
    const session = await app.signedIn();
    const key = await app.keyWith("manage:webhooks");
    const egress = createEgress(app.ctx);
    const url = new URL(receiver.url);
    const send = () =>
      egress.request({ url, method: "POST", policy: "webhook", signal: patience() });
    const rejection = { kind: "refused", message: expect.stringContaining(NAMED) };
    expect(await send()).toMatchObject(rejection);
    const json = { url: "http://127.0.0.2/hook" };
    const { errors } = expectProblem(
      await app.call("/api/v1/webhooks", { method: "POST", key, json }),
      "validation_failed",
    );
    expect(errors).toEqual([{ pointer: "#/url", detail: expect.stringContaining(NAMED) }]);

    await save(app, session, "127.0.0.0/8");
    expect(await send()).not.toBeInstanceOf(Fault);
    expect((await app.call("/api/v1/webhooks", { method: "POST", key, json })).status).toBe(201);

    await save(app, session, "");
    expect(app.audit().at(-1)?.summary).toBe("Removed all allowed networks");
    expect(await send()).toMatchObject(rejection);
  });

  test("the form of a webhook names the setting that allows its private address", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const path = "/admin/settings/webhooks/new";
    const form = { form: "1", format: "standard", which: "all", url: "http://192.168.1.5/hook" };
    const answer = await app.call(path, { session, form });
    expect([answer.status, fieldErrorsOn(answer.text)["url"]]).toEqual([
      422,
      expect.stringContaining(NAMED),
    ]);
  });

  test("a start and a change by another process apply the stored networks", async () => {
    await using app = await createTestApp();
    await save(app, await app.signedIn(), "10.0.0.0/8");
    const { ctx } = app;
    ctx.allowedNetworks = [];
    followSettings(ctx);
    expect(ctx.allowedNetworks).toHaveLength(1);
  });

  const shared = shareSite(createTestApp);
  test.each([
    ["no network", "lan", "lan is not one"],
    ["a shortened address", "10/8", "10/8 is not one"],
    ["an octal address", "010.0.0.0/8", "010.0.0.0/8 is not one"],
    ["a prefix that is too long", "10.0.0.0/33", "10.0.0.0/33 is not one"],
    ["two networks on one line", "10.0.0.0/8, 10.1.0.0/16", "is not one"],
    ["link-local addresses", "169.254.0.0/16", "is a link-local address"],
    ["a part of them", "10.0.0.0/8\n169.254.169.254", "is a link-local address"],
    ["those of IPv6", "fe80::/10", "is a link-local address"],
    ["those of IPv4 in IPv6", "::ffff:169.254.1.0/120", "is a link-local address"],
    ["a metadata address", "fd00:ec2::254", "a cloud keeps its metadata"],
    ["a metadata address of IPv4", "100.100.100.200/32", "a cloud keeps its metadata"],
    ["multicast addresses", "224.0.0.0/8", "is not an address that a service has"],
    ["too many", Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`).join("\n"), "100 lines"],
  ])(
    "a list with %s is shown again with its error, and nothing is written",
    async (_, text, detail) => {
      const app = await shared();
      const session = await app.signedIn();
      const before = app.audit();
      const answer = await save(app, session, text);
      expect([answer.status, fieldErrorsOn(answer.text)["allowed_networks"]]).toEqual([
        422,
        expect.stringContaining(detail),
      ]);
      expect(readHtml(answer.text).texts("textarea")).toEqual([text.replaceAll("\n", " ")]);
      expect([app.audit(), readAllowedNetworks(app.ctx.db)]).toEqual([before, []]);
    },
  );

  test("a network that contains metadata addresses can be allowed, and they stay refused", async () => {
    await using app = await createTestApp();
    expect((await save(app, await app.signedIn(), "0.0.0.0/0\n::/0")).status).toBe(303);
    const egress = createEgress(app.ctx);
    for (const host of ["169.254.169.254", "[fd00:ec2::254]", "[fe80::1]", "100.100.100.200"]) {
      const outcome = await egress.resolve({ host, policy: "webhook", signal: patience() });
      expect(outcome).toMatchObject({ kind: "refused" });
    }
    expect(
      await egress.resolve({ host: "192.168.1.1", policy: "webhook", signal: patience() }),
    ).toEqual(["192.168.1.1"]);
  });

  test.each([
    ["", "Webhooks reach only public addresses."],
    ["10.0.0.0/8", "Webhooks may also reach 10.0.0.0/8."],
  ])(
    "networks set by variable (%p) rule, are shown, and cannot be changed",
    async (value, shown) => {
      await using app = await createTestApp({ env: { ALLCLEAR_OUTBOUND_ALLOW: value } });
      const session = await app.signedIn();
      const page = readHtml((await app.call(GENERAL, { session })).text);
      expect(page.texts("#general-networks p")).toEqual([
        shown,
        "Set by ALLCLEAR_OUTBOUND_ALLOW, so it cannot be changed here.",
      ]);
      expect(page.texts("textarea")).toEqual([]);
      const { detail } = expectProblem(await save(app, session, "192.168.0.0/16"), "conflict");
      expect(detail).toContain("ALLCLEAR_OUTBOUND_ALLOW");
      expect(readAllowedNetworks(app.ctx.db)).toEqual([]);
    },
  );

  test("an admin cannot change the allowed networks, and neither can another site", async () => {
    await using app = await createTestApp();
    const admin = await app.signedIn("admin");
    expectProblem(await save(app, admin, "10.0.0.0/8"), "insufficient_role");
    const owner = await app.signedIn();
    const form = { allowed_networks: "10.0.0.0/8" };
    const headers = { ...HTML, origin: "https://evil.example" };
    expect((await app.call(NETWORKS, { session: owner, form, headers })).status).toBe(403);
    expect(readAllowedNetworks(app.ctx.db)).toEqual([]);
  });
});
