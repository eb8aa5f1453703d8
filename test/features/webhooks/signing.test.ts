import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { newSecret, signatureHeaders } from "../../../src/features/webhooks/signing";
import { systemRandom } from "../../../src/base/hash";

const BODY =
  '{"type":"incident.created","timestamp":"2026-03-10T12:00:00.000Z","data":{"name":"Ünï"}}';
const secret = newSecret(systemRandom);
const other = newSecret(systemRandom);

/** Signed now: the published library refuses what is older than five minutes. */
const signed = (secrets: string[], body = BODY) =>
  signatureHeaders({ id: "evt_1", at: Date.now(), body, secrets });

describe("a signature", () => {
  test("a signature equals that of the reference libraries of Standard Webhooks", () => {
    const headers = signatureHeaders({
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      at: 1_614_265_330_999,
      body: '{"test": 2432232314}',
      secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    });
    expect(headers).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  test("a signature is verified by the published library only with its secret, id and body", () => {
    const headers = signed([secret]);
    expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    expect(() => new Webhook(other).verify(BODY, headers)).toThrow("No matching signature");
    expect(() => new Webhook(secret).verify(`${BODY} `, headers)).toThrow("No matching signature");
    const renamed = { ...headers, "webhook-id": "evt_2" };
    expect(() => new Webhook(secret).verify(BODY, renamed)).toThrow("No matching signature");
  });

  test("a message is signed with each valid secret", () => {
    const headers = signed([secret, other]);
    expect(headers["webhook-signature"]).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const one of [secret, other]) {
      expect(new Webhook(one).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    }
  });

  test("signing with an invalid secret throws an error that does not contain it", () => {
    const attempt = () => signed(["whsec_not-base64-and-quite-private"]);
    expect(attempt).toThrow("The secret of a webhook must be whsec_ followed by base64");
    expect(attempt).not.toThrow("private");
  });
});
