import { describe, expect, test } from "bun:test";
import { endLinks, findLink, issueLink, redeemLink } from "../../../src/features/auth/links";
import {
  type AuthInstallation,
  countRows,
  openAuthInstallation,
} from "../../support/auth-installation";
import { TEST_START } from "../../support/clock";

const HOUR_MS = 3_600_000;

async function withLinks(installation: AuthInstallation) {
  await installation.addUser("usr_ada");
  await installation.addUser("usr_bob");
  const { db } = installation.ctx;
  return {
    issue: (purpose: "setup" | "invite" | "reset", userId?: string) =>
      db.write((tx) => {
        const whose = userId === undefined ? {} : { userId };
        return issueLink(installation.ctx, tx, { purpose, lastsMs: HOUR_MS, ...whose }).token;
      }),
    find: (token: string) => findLink(db, token, installation.clock.now()),
    use: (token: string) => db.write((tx) => redeemLink(tx, token, installation.clock.now())),
  };
}

describe("one-time links", () => {
  test("a one-time link works once, also after it was read several times", async () => {
    await using installation = openAuthInstallation();
    const { issue, find, use } = await withLinks(installation);
    const token = await issue("invite", "usr_ada");
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    const link = {
      purpose: "invite",
      userId: "usr_ada",
      expiresAt: TEST_START + HOUR_MS,
      isRecovery: false,
    } as const;
    expect(find(token)).toEqual(link);
    expect(find(token)).toEqual(link);
    expect(await use(token)).toEqual(link);
    expect(await use(token)).toBeUndefined();
    expect(find(token)).toBeUndefined();
    expect(countRows(installation.sqlite, "one_time_links")).toBe(0);
  });

  test("a one-time link works for one of several concurrent requests", async () => {
    await using installation = openAuthInstallation();
    const { issue, use } = await withLinks(installation);
    const token = await issue("setup");
    const used = await Promise.all(Array.from({ length: 20 }, () => use(token)));
    expect(used.filter((link) => link?.purpose === "setup")).toHaveLength(1);
    expect(used.filter((link) => link === undefined)).toHaveLength(19);
  });

  test("a one-time link still works if the change that used it was rolled back", async () => {
    await using installation = openAuthInstallation();
    const { issue, use } = await withLinks(installation);
    const token = await issue("setup");
    const undone = installation.ctx.db.write((tx) => {
      expect(redeemLink(tx, token, installation.clock.now())?.purpose).toBe("setup");
      throw new Error("undone");
    });
    expect(await undone.catch((error: Error) => error.message)).toBe("undone");
    expect((await use(token))?.purpose).toBe("setup");
  });

  test("a one-time link works until the millisecond before its end", async () => {
    await using installation = openAuthInstallation();
    const { issue, find, use } = await withLinks(installation);
    const token = await issue("reset", "usr_ada");
    await installation.clock.advance(HOUR_MS - 1);
    expect(find(token)?.userId).toBe("usr_ada");
    await installation.clock.advance(1);
    expect(find(token)).toBeUndefined();
    expect(await use(token)).toBeUndefined();
  });

  test("a one-time link is replaced only by a newer one of the same purpose and user", async () => {
    await using installation = openAuthInstallation();
    const { issue, find } = await withLinks(installation);
    const [first, ofBob, invite, setup] = [
      await issue("reset", "usr_ada"),
      await issue("reset", "usr_bob"),
      await issue("invite", "usr_ada"),
      await issue("setup"),
    ];
    const second = await issue("reset", "usr_ada");
    expect(find(first)).toBeUndefined();
    const others = [second, ofBob, invite, setup].map((token) => find(token));
    expect(others.map((link) => [link?.purpose, link?.userId])).toEqual([
      ["reset", "usr_ada"],
      ["reset", "usr_bob"],
      ["invite", "usr_ada"],
      ["setup", null],
    ]);
    const newSetup = await issue("setup");
    expect(find(setup)).toBeUndefined();
    expect(find(newSetup)?.purpose).toBe("setup");
    expect(countRows(installation.sqlite, "one_time_links")).toBe(4);
  });

  test("a one-time link works with its own token only", async () => {
    await using installation = openAuthInstallation();
    const { issue, use } = await withLinks(installation);
    const token = await issue("setup");
    const session = await installation.start("usr_ada");
    for (const wrong of ["", session, `${token} `, token.toLowerCase(), "0".repeat(43)]) {
      expect(await use(wrong), wrong).toBeUndefined();
    }
    expect((await use(token))?.purpose).toBe("setup");
  });
});

describe("voiding links", () => {
  test("endLinks ends every link of a purpose", async () => {
    await using installation = openAuthInstallation();
    const { issue, find } = await withLinks(installation);
    const [setup, invite] = [await issue("setup"), await issue("invite", "usr_ada")];
    await installation.ctx.db.write((tx) => endLinks(tx, { purpose: "setup" }));
    expect(find(setup)).toBeUndefined();
    expect(find(invite)?.purpose).toBe("invite");
  });

  test("endLinks ends every link of a user", async () => {
    await using installation = openAuthInstallation();
    const { issue, find } = await withLinks(installation);
    const ofAda = [await issue("invite", "usr_ada"), await issue("reset", "usr_ada")];
    const others = [await issue("reset", "usr_bob"), await issue("setup")];
    await installation.ctx.db.write((tx) => endLinks(tx, { userId: "usr_ada" }));
    expect(ofAda.map(find)).toEqual([undefined, undefined]);
    expect(others.map((token) => find(token)?.purpose)).toEqual(["reset", "setup"]);
  });
});
