import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommandLine } from "../../../src/cli/main";
import { printJson, printTable } from "../../../src/cli/print";
import type { Incident } from "../../../src/features/incidents/wire";
import { applyTransition } from "../../../src/features/monitors/engine/transitions";
import { getMonitorRecord } from "../../../src/features/monitors/records";
import { newEvaluation } from "../../../src/features/monitors/rules";
import type { Monitor } from "../../../src/features/monitors/wire";
import { createTestClock } from "../../support/clock";
import { commandLine, jsonOf } from "../../support/command-line";
import { createRemoteSite } from "../../support/remote-site";
import { serveApp } from "../../support/served-app";
import { temporaryFolder } from "../../support/temporary-folder";

const ID = /^inc_[0-9a-z]{26}$/;

/** Commands that send a request, with the scope that each needs. */
const COMMANDS: readonly [string[], string][] = [
  [["status"], "read:status"],
  [["status", "shop"], "read:status"],
  [["watch", "shop"], "read:status"],
  [["incident", "list"], "read:status"],
  [["incident", "open", "Text.", "--name", "N", "--page", "shop"], "write:incidents"],
  [["incident", "update", "inc_x", "Text."], "write:incidents"],
  [["incident", "resolve", "inc_x"], "write:incidents"],
  [["component", "set", "shop:checkout", "operational"], "write:components"],
  [["monitor", "acknowledge", "shop"], "manage:monitors"],
];

describe("the settings of commands to a server", () => {
  test.each(COMMANDS)("%p without the scope exits with 3 and names it", async (args, scope) => {
    await using site = await createRemoteSite();
    const key = await site.app.keyWith("read:analytics");
    const { exitCode, out, err } = await site.run(args, { ALLCLEAR_KEY: key });
    expect([exitCode, out]).toEqual([3, []]);
    expect(err.join("\n")).toContain(scope);
  });

  test.each(COMMANDS)("%p with a revoked key exits with 3", async (args) => {
    await using site = await createRemoteSite();
    const { exitCode, out } = await site.run(args, { ALLCLEAR_KEY: `allclear_${"0".repeat(49)}` });
    expect([exitCode, out]).toEqual([3, []]);
  });

  test("a key is read from a file, and a command without a key exits with 3", async () => {
    await using site = await createRemoteSite();
    using folder = temporaryFolder();
    const file = join(folder.path, "key");
    await Bun.write(file, `${site.key}\n`);
    const none = { ALLCLEAR_KEY: undefined as never };
    const fromFile = await site.run(["status"], { ...none, ALLCLEAR_KEY_FILE: file });
    expect([fromFile.exitCode, fromFile.err]).toEqual([0, []]);
    const without = await site.run(["status"], none);
    expect([without.exitCode, without.err]).toEqual([
      3,
      ["ALLCLEAR_KEY or ALLCLEAR_KEY_FILE must be set."],
    ]);
    // A job without access to a secret gets an empty variable, and one that was typed may end with a space.
    const empty = await site.run(["status"], { ALLCLEAR_KEY: "" });
    expect([empty.exitCode, empty.err]).toEqual([3, without.err]);
    expect((await site.run(["status"], { ALLCLEAR_KEY: `${site.key} \n` })).exitCode).toBe(0);
    const both = await site.run(["status"], { ALLCLEAR_KEY_FILE: file });
    expect([both.exitCode, both.err[0]]).toEqual([
      2,
      "ALLCLEAR_KEY and ALLCLEAR_KEY_FILE must not both be set.",
    ]);
  });

  test("a key as an option is refused and not repeated, nor one that no header can contain", async () => {
    await using site = await createRemoteSite();
    const flag = await site.run(["status", "--key", "s3cret"]);
    expect([flag.exitCode, flag.err[0]]).toEqual([
      2,
      "--key is not an option, since other processes can read arguments. Set ALLCLEAR_KEY.",
    ]);
    const broken = await site.run(["status"], { ALLCLEAR_KEY: "s3cret\nX: y" });
    expect([broken.exitCode, broken.err]).toEqual([
      3,
      ["ALLCLEAR_KEY or ALLCLEAR_KEY_FILE must be an API key."],
    ]);
    const unknown = await site.run(["incident", "list", "--token", "allclear_s3cret"]);
    expect([unknown.exitCode, unknown.err.slice(0, 2)]).toEqual([
      2,
      ["--token is not an option of allclear incident list.", "Unexpected: a key"],
    ]);
    const url = await site.run(["status"], { ALLCLEAR_SERVER: "https://me:s3cret@status.test" });
    expect(url.exitCode).toBe(2);
    for (const { out, err } of [flag, broken, unknown, url]) {
      expect([...out, ...err].join("\n")).not.toContain("s3cret");
    }
  });

  test("--server has precedence, and a command without a server exits with 2", async () => {
    await using site = await createRemoteSite();
    const flag = ["status", "--server", site.origin];
    const wrong = { ALLCLEAR_SERVER: "http://127.0.0.1:1" };
    expect((await site.run(flag, wrong)).exitCode).toBe(0);
    const none = await site.run(["status"], { ALLCLEAR_SERVER: undefined as never });
    expect([none.exitCode, none.err[0]]).toEqual([2, "--server or ALLCLEAR_SERVER is missing."]);
  });

  test.each([
    ["http://status.test", false],
    ["http://10.0.0.1:8080", false],
    ["http://127.0.0.1.example.test", false],
    ["http://[::2]:80", false],
    ["http://127.0.0.1:1", true],
    ["http://127.3.2.1:1", true],
    ["http://localhost:1", true],
    ["http://[::1]:1", true],
  ])("a key may be sent to %s without TLS: %p", async (server, isAllowed) => {
    await using site = await createRemoteSite();
    // A missing key is noticed after the address was accepted.
    const env = { ALLCLEAR_SERVER: server, ALLCLEAR_KEY: undefined as never };
    const { exitCode } = await site.run(["status"], env);
    expect(exitCode).toBe(isAllowed ? 3 : 2);
    expect((await site.run(["status", "--allow-http"], env)).exitCode).toBe(3);
  });
});

describe("a server with a certificate of its own authority", () => {
  test("it is trusted with --ca-file alone, and the key is not sent to it before", async () => {
    const clock = createTestClock();
    await using served = await serveApp({ clock, isSecure: true });
    await served.app.page({ slug: "shop", name: "Shop" }, []);
    const key = await served.app.keyWith("read:status");
    const env = { ALLCLEAR_SERVER: served.origin, ALLCLEAR_KEY: key };
    const run = commandLine("/nonexistent/data");
    const unknown = await run(["status"], env);
    expect([unknown.exitCode, unknown.out]).toEqual([4, []]);
    expect(unknown.err).toEqual([expect.stringMatching(/^No answer from https:.*certificate/i)]);
    expect((await served.app.call("/api/v1/key", { key })).body.last_used_at).toBeNull();
    const authority = join(import.meta.dir, "../../support/certificates/root.pem");
    const trusted = await run(["status", "--ca-file", authority], env);
    expect([trusted.exitCode, trusted.err]).toEqual([0, []]);
  });
});

describe("allclear status", () => {
  test("the only page is shown without a name: headline, components, incidents, maintenance", async () => {
    await using site = await createRemoteSite();
    await site.run(["component", "set", "shop:search", "degraded_performance"]);
    const component = ["--component", "shop:checkout=partial_outage"];
    await site.run(["incident", "open", "We look.\nSoon more.", "--name", "Slow", ...component]);
    const { exitCode, out, err } = await site.run(["status"]);
    expect([exitCode, err]).toEqual([0, []]);
    const [headline, ...lines] = out;
    expect(headline).toBe(`Shop: Partial System Outage  ${site.origin}/status/shop`);
    expect(lines.slice(0, 3)).toEqual([
      "  partial_outage        shop:checkout  Core / Checkout",
      "  degraded_performance  shop:search    Core / Search",
      "  operational           shop:mail      Core / Mail",
    ]);
    expect(lines[3]).toMatch(/^Incident inc_\w+: Slow$/);
    expect(lines.slice(4)).toEqual([
      "    investigating, impact major, since 2026-03-10 12:00 UTC",
      "    We look.",
      "    Soon more.",
    ]);
    expect((await site.run(["status", "SHOP"])).out).toEqual(out);
  });

  test("several pages are a line each, and one is shown by its name", async () => {
    await using site = await createRemoteSite({ pages: 2 });
    await site.run(["component", "set", "other:api", "major_outage"]);
    const { out } = await site.run(["status"]);
    expect(out).toEqual([
      "other  critical  Major System Outage      Other",
      "shop   none      All Systems Operational  Shop",
    ]);
    expect((await site.run(["status", "shop"])).out[0]).toStartWith(
      "Shop: All Systems Operational",
    );
    const missing = await site.run(["status", "nothing"]);
    expect([missing.exitCode, missing.out, missing.err]).toEqual([
      1,
      [],
      ["There is no such status page."],
    ]);
  });

  test("more pages than the API lists at once are all shown", async () => {
    await using site = await createRemoteSite();
    for (let count = 0; count < 120; count += 1) {
      await site.app.page({ slug: `page-${count}`, name: `Page ${count}` }, []);
    }
    const { out } = await site.run(["status"]);
    expect(out.length).toBe(121);
    expect(jsonOf<{ data: unknown[] }>(await site.run(["status", "--json"])).data.length).toBe(121);
  });

  test("--json prints the documents of the API", async () => {
    await using site = await createRemoteSite();
    const { body: page } = await site.app.call("/api/v1/status/shop", { key: site.key });
    expect(jsonOf<unknown>(await site.run(["status", "shop", "--json"]))).toEqual(page);
    const { body: list } = await site.app.call("/api/v1/status", { key: site.key });
    expect(jsonOf<unknown>(await site.run(["status", "--json"]))).toEqual(list);
  });

  test.each([
    ["degraded_performance", { minor: 6, major: 0, critical: 0 }],
    ["partial_outage", { minor: 6, major: 0, critical: 0 }],
    ["major_outage", { minor: 6, major: 6, critical: 0 }],
    ["under_maintenance", { minor: 0, major: 0, critical: 0 }],
  ])("with a component that is %s, --fail-on has the exit codes %p", async (status, codes) => {
    await using site = await createRemoteSite({ pages: 2 });
    await site.run(["component", "set", "shop:checkout", status]);
    for (const [level, code] of Object.entries(codes)) {
      for (const page of [["shop"], []]) {
        const { exitCode } = await site.run(["status", ...page, "--fail-on", level]);
        expect([level, page, exitCode]).toEqual([level, page, code]);
      }
      expect((await site.run(["status", "other", "--fail-on", level])).exitCode).toBe(0);
    }
    expect((await site.run(["status"])).exitCode).toBe(0);
  });

  test("--fail-on takes only the levels that it knows", async () => {
    await using site = await createRemoteSite();
    const { exitCode, err } = await site.run(["status", "--fail-on", "none"]);
    expect([exitCode, err[0]]).toEqual([2, "--fail-on must be one of minor, major, critical."]);
  });
});

describe("allclear component set", () => {
  test("the status and its reason are set, by page and ref and by id", async () => {
    await using site = await createRemoteSite();
    const set = ["component", "set", "shop:checkout", "degraded_performance"];
    const { exitCode, out, err } = await site.run([...set, "--reason", "Slow queries"]);
    expect([exitCode, out, err]).toEqual([0, [], ["Set shop:checkout to degraded_performance."]]);
    const path = "/api/v1/components/shop:checkout";
    const { body } = await site.app.call(path, { key: site.key });
    expect(body.status).toBe("degraded_performance");
    const history = await site.app.call(`${path}/history`, { key: site.key });
    expect(history.body.data[0].reason).toBe("Slow queries");

    const byId = await site.run(["component", "set", body.id, "operational", "--json"]);
    expect(jsonOf<{ status: string }>(byId)).toMatchObject({ id: body.id, status: "operational" });
  });

  test("a worse cause is named, since the component goes on showing its status", async () => {
    await using site = await createRemoteSite();
    const component = ["--component", "shop:checkout=major_outage"];
    const { out } = await site.run(["incident", "open", "Down.", "--name", "Down", ...component]);
    const { err } = await site.run(["component", "set", "shop:checkout", "operational"]);
    expect(err).toEqual([
      "Set shop:checkout to operational.",
      `It shows major_outage, for which there is a cause: incident ${out[0]}.`,
    ]);
  });

  test.each([
    [["shop:nothing", "operational"], 1, "There is no such component. Name it by its id"],
    [["../key", "operational"], 1, "There is no such component."],
    [["shop:checkout", "down"], 2, "STATUS must be one of operational, under_maintenance"],
    [["shop:checkout"], 2, "STATUS is missing."],
  ])("`component set` with %p exits with %d", async (args, code, message) => {
    await using site = await createRemoteSite();
    const { exitCode, out, err } = await site.run(["component", "set", ...args]);
    expect([exitCode, out]).toEqual([code, []]);
    expect(err[0]).toStartWith(message);
  });
});

describe("allclear monitor acknowledge", () => {
  test("an outage is acknowledged with a note, and a monitor that is up exits with 5", async () => {
    await using site = await createRemoteSite();
    const { app } = site;
    const created = { type: "http", name: "Shop", config: { url: "https://shop.example.com/" } };
    const call = { key: site.key, method: "POST", json: created };
    const { id, ref } = (await app.call("/api/v1/monitors", call)).body;
    const args = ["monitor", "acknowledge", ref];
    const up = await site.run(args);
    expect([up.exitCode, up.out]).toEqual([5, []]);
    expect(up.err[0]).toContain("Only one that is down can be acknowledged.");
    await app.ctx.db.write((tx) => {
      const { row } = getMonitorRecord(tx, id);
      const evaluation = newEvaluation("down", app.ctx.clock.now());
      applyTransition(app.ctx, tx, row, { from: "pending", evaluation, message: null });
    });
    const { exitCode, out, err } = await site.run([...args, "--note", "On it."]);
    expect([exitCode, out]).toEqual([0, []]);
    expect(err[0]).toStartWith("The outage of shop is acknowledged by ");
    const shown = jsonOf<Monitor>(await site.run([...args, "--json"]));
    expect(shown.acknowledgement).toMatchObject({ note: "On it.", by: { kind: "key" } });
  });
});

describe("allclear incident", () => {
  test("an incident is opened with every field, and its id alone is on standard output", async () => {
    await using site = await createRemoteSite({ pages: 2 });
    const { exitCode, out, err } = await site.run([
      ..."incident open --name Slow --page shop --impact critical --status identified".split(" "),
      ..."--component shop:checkout=partial_outage --component shop:mail=major_outage".split(" "),
      ..."--started-at 2026-03-10T11:00:00Z --external-ref ci-7 --no-notify".split(" "),
      "We look.",
    ]);
    expect([exitCode, out.length]).toEqual([0, 1]);
    expect(out[0]).toMatch(ID);
    expect(err).toEqual([`Opened “Slow”, ${site.origin}/status/shop/incidents/${out[0]}.`]);
    const { body } = await site.app.call(`/api/v1/incidents/${out[0]}`, { key: site.key });
    expect(body).toMatchObject({
      page: "shop",
      name: "Slow",
      impact_override: "critical",
      status: "identified",
      external_ref: "ci-7",
      started_at: "2026-03-10T11:00:00.000Z",
      updates: [{ body: "We look." }],
    });
    const statuses = body.components.map((one: { name: string; status: string }) => one.status);
    expect(statuses.toSorted()).toEqual(["major_outage", "partial_outage"]);
    const opened = site.app.events().find(({ type }) => type === "incident.created");
    expect(opened?.data["notify"]).toBe(false);
  });

  test("the page is that of the components, or the only one; else it is missing", async () => {
    await using site = await createRemoteSite();
    const open = ["incident", "open", "Text.", "--name", "N", "--json"];
    expect(jsonOf<Incident>(await site.run(open)).page).toBe("shop");
    await site.app.page({ slug: "other", name: "Other" }, ["API"]);
    const missing = await site.run(open);
    expect([missing.exitCode, missing.err[0]]).toEqual([2, "--page is missing."]);
    const component = ["--component", "other:api=partial_outage"];
    expect(jsonOf<Incident>(await site.run([...open, ...component])).page).toBe("other");
    const writer = await site.app.keyWith("write:incidents");
    const unread = await site.run(open, { ALLCLEAR_KEY: writer });
    expect([unread.exitCode, unread.err[0]]).toEqual([2, "--page is missing."]);
  });

  test("a message is read from standard input, in several lines", async () => {
    await using site = await createRemoteSite();
    const open = ["incident", "open", "-", "--name", "N", "--json"];
    const incident = jsonOf<Incident>(await site.run(open, {}, ["One.", "", "Two."]));
    expect(incident.updates[0]?.body).toBe("One.\n\nTwo.");
    const empty = await site.run(open);
    expect([empty.exitCode, empty.err[0]]).toEqual([2, "MESSAGE is empty."]);
    const long = await site.run(open, {}, ["a".repeat(70_000)]);
    expect([long.exitCode, long.err[0]]).toEqual([2, "Standard input is too long."]);
  });

  test("an incident is updated and resolved, and its components with it", async () => {
    await using site = await createRemoteSite();
    const component = ["--component", "shop:checkout=major_outage"];
    const opened = await site.run(["incident", "open", "Down.", "--name", "Down", ...component]);
    const id = opened.out[0] ?? "";
    const better = ["--component", "shop:checkout=degraded_performance", "--status", "monitoring"];
    const updated = await site.run(["incident", "update", id, "Better.", ...better]);
    expect([updated.exitCode, updated.out, updated.err]).toEqual([
      0,
      [],
      [`Updated ${id}: monitoring.`],
    ]);
    const json = await site.run(["incident", "update", id, "Still.", "--no-notify", "--json"]);
    expect(jsonOf<object>(json)).toMatchObject({ status: "monitoring", body: "Still." });
    const resolved = await site.run(["incident", "resolve", id]);
    expect([resolved.exitCode, resolved.err]).toEqual([0, [`Updated ${id}: resolved.`]]);
    const { body } = await site.app.call(`/api/v1/incidents/${id}`, { key: site.key });
    expect(body.status).toBe("resolved");
    expect(body.updates.map((update: { body: string }) => update.body)).toEqual([
      "This incident has been resolved.",
      "Still.",
      "Better.",
      "Down.",
    ]);
    const { body: shown } = await site.app.call("/api/v1/components/shop:checkout", {
      key: site.key,
    });
    expect(shown.status).toBe("operational");
  });

  test("resolving again without a message adds no second update", async () => {
    await using site = await createRemoteSite();
    const { out } = await site.run(["incident", "open", "Down.", "--name", "Down"]);
    const id = out[0] ?? "";
    const updates = async () => {
      const { body } = await site.app.call(`/api/v1/incidents/${id}`, { key: site.key });
      return body.updates.map((update: { body: string }) => update.body);
    };
    await site.run(["incident", "resolve", id, "Over."]);
    const again = await site.run(["incident", "resolve", id]);
    expect([again.exitCode, again.out, again.err]).toEqual([0, [], [`${id} is already resolved.`]]);
    const json = await site.run(["incident", "resolve", id, "--json"]);
    expect(jsonOf<object>(json)).toMatchObject({ status: "resolved", body: "Over." });
    expect(await updates()).toEqual(["Over.", "Down."]);
    await site.run(["incident", "resolve", id, "The cause was found."]);
    expect(await updates()).toEqual(["The cause was found.", "Over.", "Down."]);
  });

  test("a key that may not read resolves an incident", async () => {
    await using site = await createRemoteSite();
    const { out } = await site.run(["incident", "open", "Down.", "--name", "Down"]);
    const writer = await site.app.keyWith("write:incidents");
    const resolved = await site.run(["incident", "resolve", out[0] ?? ""], {
      ALLCLEAR_KEY: writer,
    });
    expect([resolved.exitCode, resolved.err]).toEqual([0, [`Updated ${out[0]}: resolved.`]]);
  });

  test("open incidents are listed, and with --all or a status also resolved ones", async () => {
    await using site = await createRemoteSite();
    const none = await site.run(["incident", "list"]);
    expect([none.exitCode, none.out, none.err]).toEqual([0, [], ["There is no open incident."]]);
    const open = async (name: string) =>
      (await site.run(["incident", "open", "Text.", "--name", name])).out[0] ?? "";
    const past = await open("Past");
    await site.run(["incident", "resolve", past, "Over."]);
    const now = await open("Now");
    const ids = async (...more: string[]) =>
      jsonOf<{ data: Incident[] }>(
        await site.run(["incident", "list", "--json", ...more]),
      ).data.map(({ id }) => id);
    expect(await ids()).toEqual([now]);
    expect(await ids("--all")).toEqual([now, past]);
    const first = await site.run(["incident", "list", "--all", "--limit", "1"]);
    expect([first.out.at(-1)?.startsWith(now), first.err]).toEqual([
      true,
      ["There are more. --until 2026-03-10T12:00:00.000Z lists earlier ones."],
    ]);
    expect(await ids("--all", "--limit", "1")).toEqual([now]);
    expect(await ids("--status", "resolved")).toEqual([past]);
    expect(await ids("--component", "shop:mail")).toEqual([]);
    expect(await ids("--page", "shop", "--since", "2027-01-01T00:00:00Z")).toEqual([]);
    const { out, err } = await site.run(["incident", "list"]);
    expect(err).toEqual([]);
    expect(out.map((line) => line.split(/\s{2,}/))).toEqual([
      ["ID", "PAGE", "STATUS", "IMPACT", "STARTED", "NAME"],
      [now, "shop", "investigating", "none", "2026-03-10T12:00:00.000Z", "Now"],
    ]);
    const wrong = await site.run(["incident", "list", "--limit", "0"]);
    expect(wrong.exitCode).toBe(1);
  });

  test("a draft is opened and listed as one", async () => {
    await using site = await createRemoteSite();
    const { out, err } = await site.run(["incident", "open", "T.", "--name", "D", "--draft"]);
    expect(err).toEqual(["Opened “D”, a draft."]);
    const { out: list } = await site.run(["incident", "list"]);
    expect(list[1]?.split(/\s{2,}/).slice(0, 3)).toEqual([out[0] ?? "", "shop", "draft"]);
  });

  test("a second incident with the same reference is a conflict, which exits with 5", async () => {
    await using site = await createRemoteSite();
    const open = ["incident", "open", "T.", "--name", "N", "--external-ref", "ci-7"];
    expect((await site.run(open)).exitCode).toBe(0);
    const second = await site.run(open);
    expect([second.exitCode, second.out]).toEqual([5, []]);
    expect(second.err[0]).toContain("ci-7");
  });

  test.each([
    [["open", "T."], 2, "--name is missing."],
    [["open", "--name", "N"], 2, "MESSAGE is missing."],
    [["open", " ", "--name", "N"], 2, "MESSAGE is empty."],
    [["open", "T.", "--name", "N", "--impact", "bad"], 2, "--impact must be one of none, minor"],
    [
      ["open", "T.", "--name", "N", "--component", "shop:mail"],
      2,
      "--component shop:mail must end",
    ],
    [["open", "T.", "--name", "N", "--component", "=major_outage"], 2, "--component =major_outage"],
    [
      ["open", "T.", "--name", "N", "--component", "a=operational", "--component", "a=operational"],
      2,
      "--component a is given more than once.",
    ],
    [
      ["open", "T.", "--name", "N", "--page", "shop", "--component", "__proto__=operational"],
      1,
      "One field is wrong.",
    ],
    [["open", "T.", "--name", "N", "--page", "nothing"], 1, "One field is wrong."],
    [["open", "T.", "--name", "N", "--component", "shop:x=major_outage"], 1, "One field is wrong."],
    [["update", "inc_x", "T."], 1, "There is no such incident."],
    [["resolve", "inc_x"], 1, "There is no such incident."],
    [["update", "inc_x"], 2, "MESSAGE is missing."],
  ])("`incident` with %p exits with %d", async (args, code, message) => {
    await using site = await createRemoteSite();
    const { exitCode, out, err } = await site.run(["incident", ...args]);
    expect([exitCode, out]).toEqual([code, []]);
    expect(err[0]).toStartWith(message);
  });
});

describe("`maintenance run` without a window", () => {
  test.each([
    [["--component", "shop:checkout"], "-- PROGRAM [ARGUMENTS] is missing."],
    [["--", "true"], "--component is missing."],
    [["--component", "cmp_x", "--", "true"], "--component must be PAGE:REF without --page."],
    [
      ["--component", "shop:mail", "--component", "other:api", "--", "true"],
      "--component must name components of one page.",
    ],
    [["--component", "shop:checkout", "--", "no-such-program"], "There is no program no-such"],
    [["--component", "shop:checkout", "--", "./nothing"], "There is no program ./nothing that can"],
    [["--component", "shop:checkout", "--", "/etc/passwd"], "There is no program /etc/passwd that"],
    [["true", "--component", "shop:checkout", "--", "true"], "Unexpected: true"],
  ])("%p exits with 125 and plans nothing", async (args, message) => {
    await using site = await createRemoteSite();
    const { exitCode, out, err } = await site.run(["maintenance", "run", ...args]);
    expect([exitCode, out]).toEqual([125, []]);
    expect(err[0]).toStartWith(message);
    const { body } = await site.app.call("/api/v1/maintenance", { key: site.key });
    expect(body.data).toEqual([]);
  });

  test("help is for the command, not for the program that it runs", async () => {
    await using site = await createRemoteSite();
    const help = await site.run(["maintenance", "run", "--help", "--", "true"]);
    expect([help.exitCode, help.out[0]?.startsWith("allclear maintenance run")]).toEqual([0, true]);
    const words = await site.run(["maintenance", "run", "--", "true", "--help"]);
    expect([words.exitCode, words.out]).toEqual([125, []]);
  });
});

describe("texts of a server", () => {
  /** Text with commands for a terminal: C0, C1, DEL, line separators, bidirectional overrides. */
  const HOSTILE = "a\u001b[2J\u0007\u009b31m\u007f\u2028b\u202ec";

  /** Serves this document as Allclear would. */
  function serving(document: unknown) {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => Response.json(document, { headers: { "x-request-id": "req_1" } }),
    });
    return {
      url: `http://127.0.0.1:${server.port}`,
      [Symbol.dispose]: () => void server.stop(true),
    };
  }

  async function runAtTerminal(args: string[], env: Record<string, string>) {
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    const output = { out: print, err: print, isTerminal: true };
    const input = { isTerminal: true, line: async () => "", bytes: async () => new Uint8Array() };
    await runCommandLine(args, { ALLCLEAR_KEY: "allclear_x", ...env }, output, input);
    return lines.join("\n");
  }

  const page = { id: HOSTILE, slug: HOSTILE, name: HOSTILE, url: HOSTILE };
  const update = { id: HOSTILE, body: `${HOSTILE}\n${HOSTILE}`, status: "investigating" };
  const incident = {
    id: HOSTILE,
    page: HOSTILE,
    name: HOSTILE,
    status: "investigating",
    impact: "major",
    started_at: "2026-03-10T12:00:00.000Z",
    updates: [update],
  };
  const document = {
    page,
    status: { indicator: "major", description: HOSTILE },
    groups: [{ id: "g", name: HOSTILE }],
    components: [
      { id: "c", ref: HOSTILE, name: HOSTILE, group_id: "g", status: "major_outage", causes: [] },
    ],
    incidents: [incident],
    maintenance: [
      {
        ...incident,
        status: "in_progress",
        scheduled_for: incident.started_at,
        scheduled_until: incident.started_at,
      },
    ],
  };

  test.each([
    [["status", "shop"], document],
    [["status", "shop", "--json"], document],
    [["status"], { data: [document, document], next_cursor: null }],
    [["incident", "list"], { data: [incident], next_cursor: null }],
    [["incident", "list", "--json"], { data: [incident], next_cursor: null }],
  ])("%p passes no command of a text on to a terminal", async (args, served) => {
    using server = serving(served);
    const text = await runAtTerminal(args, { ALLCLEAR_SERVER: server.url, NO_COLOR: "1" });
    expect(text).toContain("[2J");
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
    if (args.includes("--json")) expect(JSON.parse(text)).toEqual(served);
  });

  test("JSON and tables of commands on a data directory pass none on either", () => {
    const lines: string[] = [];
    const output = { out: (line: string) => void lines.push(line), err: () => {} };
    printJson(output, { name: HOSTILE });
    expect(JSON.parse(lines.join("\n"))).toEqual({ name: HOSTILE });
    printTable(output, ["NAME", "NOTE"], [[HOSTILE, ""]]);
    // oxlint-disable-next-line no-control-regex
    expect(lines.join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
    expect(lines.slice(-2)).toEqual(["NAME             NOTE", "a [2J  31m  b c"]);
  });

  test("colours are for terminals without NO_COLOR, and show nothing that a word does not", async () => {
    using server = serving(document);
    const env = { ALLCLEAR_SERVER: server.url };
    const coloured = await runAtTerminal(["status", "shop"], env);
    expect(coloured).toContain("\u001b[1;31mmajor_outage\u001b[0m");
    const plain = await runAtTerminal(["status", "shop"], { ...env, NO_COLOR: "1" });
    expect(plain).not.toContain("\u001b");
    // oxlint-disable-next-line no-control-regex
    expect(coloured.replaceAll(/\u001b\[[\d;]*m/g, "")).toBe(plain);
    expect(await runAtTerminal(["status", "shop"], { ...env, TERM: "dumb" })).toBe(plain);
  });
});
