import { describe, expect, test } from "bun:test";
import {
  addressHmac,
  bounceMac,
  ensureMailKey,
  findMailKey,
  isTokenOf,
  subjectOfToken,
  tokenOf,
} from "../../../src/features/mail/tokens";
import { createTestApp } from "../../support/app";

const ID = "sub_01kah2v9w0e0rs6x0h3ye0a1bc";
const OTHER_ID = "sub_01kah2v9w0e0rs6x0h3ye0a1bd";
const KEY = { bytes: new Uint8Array(32).fill(7) };
const OTHER_KEY = { bytes: new Uint8Array(32).fill(8) };

describe("the tokens of links in mails", () => {
  test("a token is right for its key, purpose, subject and version alone", () => {
    const token = tokenOf(KEY, "manage", { id: ID, version: 1 });
    expect(isTokenOf(KEY, "manage", { id: ID, version: 1 }, token)).toBe(true);
    expect(isTokenOf(OTHER_KEY, "manage", { id: ID, version: 1 }, token)).toBe(false);
    expect(isTokenOf(KEY, "unsubscribe", { id: ID, version: 1 }, token)).toBe(false);
    expect(isTokenOf(KEY, "manage", { id: OTHER_ID, version: 1 }, token)).toBe(false);
    expect(isTokenOf(KEY, "manage", { id: ID, version: 2 }, token)).toBe(false);
    expect(isTokenOf(KEY, "manage", { id: ID }, token)).toBe(false);
    const unsubscribe = tokenOf(KEY, "unsubscribe", { id: ID });
    expect(isTokenOf(KEY, "manage", { id: ID, version: 1 }, unsubscribe)).toBe(false);
  });

  test("a token with any other character is wrong", () => {
    const token = tokenOf(KEY, "confirm", { id: ID });
    for (const wrong of [
      `${token.slice(0, -2)}${token.endsWith("A") ? "BB" : "AA"}`,
      token.slice(0, -1),
      `${token}x`,
      token.toUpperCase(),
      ID,
      "",
    ]) {
      expect(isTokenOf(KEY, "confirm", { id: ID }, wrong), wrong).toBe(false);
    }
  });

  test("the subject is read from well-formed tokens alone", () => {
    expect(subjectOfToken(tokenOf(KEY, "confirm", { id: ID }))).toBe(ID);
    for (const text of ["", ID, `${ID}.`, `${ID}.short`, `x.${"a".repeat(43)}`]) {
      expect(subjectOfToken(text), text).toBeUndefined();
    }
  });

  test("marks of addresses and of mails differ by key", () => {
    expect(addressHmac(KEY, "a@example.com")).toBe(addressHmac(KEY, "a@example.com"));
    expect(addressHmac(KEY, "a@example.com")).not.toBe(addressHmac(OTHER_KEY, "a@example.com"));
    expect(addressHmac(KEY, "a@example.com")).not.toBe(addressHmac(KEY, "b@example.com"));
    expect(bounceMac(KEY, ID)).toMatch(/^[0-9a-f]{8}$/);
    expect(bounceMac(KEY, ID)).not.toBe(bounceMac(OTHER_KEY, ID));
  });

  test("the key is created once and stays the same", async () => {
    await using app = await createTestApp();
    expect(findMailKey(app.ctx.db)).toBeUndefined();
    const first = await app.ctx.db.write((tx) => ensureMailKey(app.ctx, tx));
    const second = await app.ctx.db.write((tx) => ensureMailKey(app.ctx, tx));
    expect(first.bytes).toHaveLength(32);
    expect(Buffer.from(second.bytes)).toEqual(Buffer.from(first.bytes));
    expect(Buffer.from(findMailKey(app.ctx.db)?.bytes ?? [])).toEqual(Buffer.from(first.bytes));
  });
});
