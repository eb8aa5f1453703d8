import { describe, expect, test } from "bun:test";
import { probeOf } from "../../../../src/features/monitors/probes";
import { checkOf } from "../../../support/check";
import { politeRelay, startRelay, startScriptedRelay } from "../../../support/relay";

const check = checkOf("smtp");

const CREDENTIALS = { user: "monitor", password: "smtp-s3cret" };

describe("SMTP checks", () => {
  test("an SMTP check greets a mail server and sends no mail", async () => {
    await using relay = await startRelay();
    const result = await check(relay, { tls: "off" });
    expect(result).toEqual({ outcome: "ok", latencyMs: 0, message: null });
    expect([relay.mails, relay.connections()]).toEqual([[], 1]);
  });

  test("an SMTP check begins TLS by STARTTLS, verifies the certificate and dates it", async () => {
    await using good = await startRelay();
    const result = await check(good, { tls: "starttls" });
    expect(result).toMatchObject({ outcome: "ok", message: null });
    expect(result.certificate?.expiresAt).toBe(Date.parse("2099-01-01T00:00:00Z"));
    for (const certificate of ["expired", "other", "self"] as const) {
      await using relay = await startRelay({ certificate });
      const refused = await check(relay, { tls: "starttls" });
      expect(refused).toMatchObject({ outcome: "failed", latencyMs: null });
      expect(refused.certificate?.expiresAt).toBeNumber();
      expect((await check(relay)).outcome).toBe("ok");
    }
  });

  test("an SMTP check can begin with TLS", async () => {
    await using relay = await startRelay({ secure: true });
    expect(await check(relay, { tls: "tls" })).toMatchObject({ outcome: "ok" });
    await using expired = await startRelay({ secure: true, certificate: "expired" });
    expect((await check(expired, { tls: "tls" })).outcome).toBe("failed");
  });

  test("an SMTP check signs in, and reports a refusal by its codes alone", async () => {
    await using relay = await startRelay({ credentials: CREDENTIALS });
    const tls = "starttls";
    expect(await check(relay, { tls, ...CREDENTIALS })).toMatchObject({ outcome: "ok" });
    const wrong = await check(relay, { tls, ...CREDENTIALS, password: "wr0ng-s3cret" });
    expect(wrong).toMatchObject({
      outcome: "failed",
      message: "The server answered AUTH with 535.",
    });
  });

  test("an SMTP check signs in by AUTH LOGIN if AUTH PLAIN is not offered", async () => {
    await using relay = await startRelay({ credentials: CREDENTIALS, authMethods: ["LOGIN"] });
    expect(await check(relay, { tls: "starttls", ...CREDENTIALS })).toMatchObject({
      outcome: "ok",
    });
    const other = await startRelay({ credentials: CREDENTIALS, authMethods: ["XOAUTH2"] });
    await using _other = other;
    expect((await check(other, { tls: "starttls", ...CREDENTIALS })).message).toBe(
      "The server offers neither AUTH PLAIN nor AUTH LOGIN.",
    );
  });

  test("an SMTP check that requires STARTTLS fails if it is not offered", async () => {
    await using relay = await startRelay({ disabledCommands: ["STARTTLS", "AUTH"] });
    expect((await check(relay, { tls: "starttls" })).message).toBe(
      "The server does not offer STARTTLS.",
    );
    expect((await check(relay, { tls: "starttls_if_offered" })).outcome).toBe("ok");
  });

  test("a mail server that refuses a step fails the check, with its codes alone", async () => {
    const refusals: [step: string, reply: string, message: string][] = [
      ["", "554 5.7.1 go away s3cret", "The server answered the connection with 554 5.7.1."],
      ["EHLO", "502 unknown s3cret", "The server answered EHLO with 502."],
      ["", "hello", "The server does not speak SMTP."],
    ];
    for (const [step, reply, message] of refusals) {
      await using relay = await startScriptedRelay(politeRelay({ [step]: reply }));
      expect(await check(relay, { tls: "off" })).toMatchObject({ outcome: "failed", message });
    }
  });

  test("bytes between the consent to STARTTLS and the handshake fail the check", async () => {
    const injected = { STARTTLS: "220 Go\r\n250 injected" };
    await using relay = await startScriptedRelay(politeRelay(injected, ["STARTTLS"]));
    expect((await check(relay, { tls: "starttls" })).message).toBe(
      "The server sent data between its consent to TLS and the handshake.",
    );
  });

  test("credentials of an SMTP monitor need TLS that is verified", () => {
    const { validate } = probeOf("smtp");
    const pointers = (config: object) =>
      validate({ host: "mail.example.com", ...config }).map(({ pointer }) => pointer);
    for (const tls of ["off", "starttls_if_offered", undefined]) {
      expect(pointers({ ...CREDENTIALS, ...(tls && { tls }) })).toEqual(["#/user"]);
    }
    for (const tls of ["starttls", "tls"]) expect(pointers({ ...CREDENTIALS, tls })).toEqual([]);
    expect(pointers({ password: "x", tls: "tls" })).toEqual(["#/user"]);
  });
});
