import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { sha256 } from "../../../src/base/hash";
import { HOUR_MS } from "../../../src/base/time";
import { exportFile } from "../../../src/features/apply/apply";
import {
  deleteLocation,
  endLocationToken,
  rotateLocationToken,
  tokensOfLocation,
} from "../../../src/features/locations/locations";
import {
  findLocationByRef,
  findLocationToken,
  listLocations,
} from "../../../src/features/locations/store";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError, lineOf, linesOf } from "../../support/apply";
import { addLocation } from "../../support/locations";

const stored = (app: TestApp, token: string) =>
  findLocationToken(app.ctx.db, { hash: sha256(token) });

describe("locations", () => {
  test("a new location has a ref made from its name and a token that is stored as a hash", async () => {
    await using app = await createTestApp();
    let changes = 0;
    app.ctx.signals.locationsChanged.on(() => changes++);
    const { row, token } = await addLocation(app, "Berlin (Hetzner)");
    expect(row).toMatchObject({ ref: "berlin-hetzner", version: 1, contactAt: null });
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(stored(app, token)).toMatchObject({ locationId: row.id, endsAt: null });
    expect(JSON.stringify(app.audit())).not.toContain(token);
    expect(app.audit().at(-1)).toMatchObject({ action: "location.create", targetId: row.id });
    expect(changes).toBe(1);
    expect((await addLocation(app, "Berlin (Hetzner)")).row.ref).toBe("berlin-hetzner-2");
  });

  test("the ref local is that of the server, and no location gets it", async () => {
    await using app = await createTestApp();
    expect((await addLocation(app, "Local")).row.ref).toBe("local-2");
    expect(addLocation(app, "Other", { ref: "local" })).rejects.toThrow("that of the server");
  });

  test("a rotated token counts until the end of the overlap, and a new one at once", async () => {
    await using app = await createTestApp();
    const { ctx, clock } = app;
    const { row, token } = await addLocation(app, "Berlin");
    const rotate = (overlap: "now" | "1h") =>
      ctx.db.write((tx) => rotateLocationToken(ctx, tx, row.id, overlap, CLI_ACTOR).token);
    const second = await rotate("1h");
    expect(stored(app, token)?.endsAt).toBe(clock.now() + HOUR_MS);
    expect(stored(app, second)?.endsAt).toBeNull();
    expect(tokensOfLocation(ctx.db, row.id, clock.now()).length).toBe(2);
    expect(tokensOfLocation(ctx.db, row.id, clock.now() + HOUR_MS).length).toBe(1);
    const third = await rotate("now");
    expect([token, second].map((each) => stored(app, each))).toEqual([undefined, undefined]);
    expect(stored(app, third)?.endsAt).toBeNull();
  });

  test("an ended token is no longer stored, and the others stay", async () => {
    await using app = await createTestApp();
    const { ctx, clock } = app;
    const { row, token } = await addLocation(app, "Berlin");
    const other = await ctx.db.write(
      (tx) => rotateLocationToken(ctx, tx, row.id, "24h", CLI_ACTOR).token,
    );
    const [first] = tokensOfLocation(ctx.db, row.id, clock.now()).filter(
      ({ endsAt }) => endsAt !== null,
    );
    await ctx.db.write((tx) => endLocationToken(ctx, tx, row.id, first?.key ?? "", CLI_ACTOR));
    expect(stored(app, token)).toBeUndefined();
    expect(stored(app, other)).toBeDefined();
    const again = ctx.db.write((tx) => endLocationToken(ctx, tx, row.id, "00", CLI_ACTOR));
    expect(again).rejects.toThrow("token");
  });

  test("a location is deleted with its tokens, but not while a monitor names it", async () => {
    await using app = await createTestApp();
    const { ctx } = app;
    const { row, token } = await addLocation(app, "Berlin");
    const key = await app.keyWith("manage:monitors");
    const json = {
      type: "http",
      name: "Shop",
      config: { url: "https://shop.example.com/" },
      locations: ["local", "berlin"],
    };
    const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
    const remove = () => ctx.db.write((tx) => deleteLocation(ctx, tx, row.id, CLI_ACTOR));
    expect(remove()).rejects.toThrow("used by “Shop”");
    expect(stored(app, token)).toBeDefined();
    const path = `/api/v1/monitors/${body.id}`;
    await app.call(path, { key, method: "PATCH", json: { locations: ["local"] } });
    await remove();
    expect(stored(app, token)).toBeUndefined();
    expect(listLocations(ctx.db, {})).toEqual([]);
    expect((await addLocation(app, "Berlin")).row.ref).toBe("berlin");
  });
});

const FILE = `pages: []
locations:
  - { name: Berlin, token: "\${BERLIN_TOKEN}" }
  - { name: Oregon, ref: us-west }
monitors:
  - name: Shop
    type: http
    locations: [local, berlin, us-west]
    down_when: any
    config: { url: "https://shop.example.com/" }
`;
const TOKEN = "t0ken-of-berlin_0123456789abcdefgh";
const ENV = { BERLIN_TOKEN: TOKEN };

describe("locations in a file", () => {
  test("a file creates locations with their tokens and the monitors that name them, once", async () => {
    await using app = await createTestApp();
    const lines = linesOf(await apply(app, FILE, false, ENV));
    expect(lines).toEqual(["+ location berlin", "+ location us-west", "+ monitor shop"]);
    const berlin = findLocationByRef(app.ctx.db, { ref: "berlin" });
    expect(stored(app, TOKEN)).toMatchObject({ locationId: berlin?.id ?? "", endsAt: null });
    expect(linesOf(await apply(app, FILE, false, ENV))).toEqual([]);
    const file = await app.ctx.db.write((tx) => exportFile(tx));
    expect(file.locations).toEqual([
      { name: "Berlin", ref: "berlin", token: null },
      { name: "Oregon", ref: "us-west", token: null },
    ]);
    expect(file.monitors?.[0]).toMatchObject({
      locations: ["local", "berlin", "us-west"],
      down_when: "any",
    });
  });

  test("another token in a file replaces the one before after 24 hours, and the plan does not show it", async () => {
    await using app = await createTestApp();
    await apply(app, FILE, false, ENV);
    const other = "another-t0ken-of-berlin_0123456789";
    const lines = linesOf(await apply(app, FILE, false, { BERLIN_TOKEN: other }));
    expect(lines.length).toBe(1);
    expect(lines[0]).toMatch(/^~ location berlin: token /);
    expect(lines[0]).not.toContain(other);
    expect(stored(app, TOKEN)?.endsAt).toBe(app.clock.now() + 24 * HOUR_MS);
    expect(stored(app, other)?.endsAt).toBeNull();
  });

  test("a file without a location prunes it after the monitors that named it", async () => {
    await using app = await createTestApp();
    await apply(app, FILE, false, ENV);
    const less = FILE.replace("[local, berlin, us-west]", "[us-west]").replace(
      / {2}- \{ name: B.*\n/,
      "",
    );
    const lines = linesOf(await apply(app, less, true));
    expect(lines).toEqual([
      '~ monitor shop: locations ["local","berlin","us-west"] → ["us-west"]',
      "- location berlin",
    ]);
  });

  test("an unknown location, a short token and the ref local are rejected with their lines", async () => {
    await using app = await createTestApp();
    const unknown = FILE.replace("us-west]", "tokyo]");
    expect(await applyError(app, unknown, ENV)).toBe(
      `line ${lineOf(unknown, "tokyo")}: locations[2] does not exist`,
    );
    const short = await applyError(app, FILE, { BERLIN_TOKEN: "2short" });
    expect(short).toStartWith(`line ${lineOf(FILE, "BERLIN")}: `);
    expect(short).not.toContain("2short");
    const local = FILE.replace("ref: us-west", "ref: local");
    expect(await applyError(app, local, ENV)).toContain("that of the server");
  });
});
