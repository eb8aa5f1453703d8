import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import type { EventType } from "../../../../src/events/outbox";
import { redeliver, sentRequest } from "../../../../src/features/webhooks/deliveries";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { type Received, startReceiver } from "../../../support/receiver";
import { updateWebhook } from "../../../support/examined";

const ALERTS = {
  format: "template",
  settings: { method: "POST", body: '{"begin": "{key}", "status": "{status}"}' },
} as const;

/** A template that also reports ends. */
const TRACKED = {
  ...ALERTS,
  settings: { ...ALERTS.settings, resolve_body: '{"end": "{key}"}' },
};

/** Records an event of a monitor. */
function record(site: DeliverySite, type: EventType, subjectId: string, data: object = {}) {
  const state = type.replace("monitor.", "");
  return site.recordEvents({ type, subjectId, data: { name: subjectId, state, ...data } });
}

const bodiesOf = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body));

describe("delivery by a template", () => {
  test("the request has its method, URL, headers and body, and is signed", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    site.app.clock.setWallClock(Date.now());
    const { secret } = await site.endpoint(`${receiver.url}/{secret.PART}?of={key}`, {
      format: "template",
      settings: {
        method: "PUT",
        headers: { Authorization: "Basic me:{secret.PASSWORD}", "X-Title": "{title}" },
        body: '{"id": "{id}", "text": "{title}", "token": "{secret.TOKEN}"}',
        secrets: { PART: "a b", PASSWORD: "pass:word", TOKEN: '"t"' },
      },
    });
    await record(site, "monitor.down", "mon_ü");
    await site.idle();
    const [got] = receiver.received;
    if (!got) throw new Error("There is no request.");
    expect(got.method).toBe("PUT");
    expect(got.path).toBe("/hook/a%20b?of=mon_%C3%BC");
    expect(got.headers).toMatchObject({
      authorization: `Basic ${btoa("me:pass:word")}`,
      "content-type": "application/json",
    });
    expect(Buffer.from(got.headers["x-title"] ?? "", "latin1").toString()).toBe(
      "Monitor down: mon_ü",
    );
    expect(JSON.parse(got.body)).toEqual({
      id: got.id,
      text: "Monitor down: mon_ü",
      token: '"t"',
    });
    expect(() => new Webhook(secret).verify(got.body, got.headers)).not.toThrow();
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 1 }]);
  });

  test("a GET request has no body", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(`${receiver.url}?text={title}`, {
      format: "template",
      settings: { method: "GET" },
    });
    await record(site, "monitor.down", "api");
    await site.idle();
    expect(receiver.received).toMatchObject([
      { method: "GET", path: "/hook?text=Monitor%20down%3A%20api", body: "" },
    ]);
    expect(receiver.received[0]?.headers["content-length"]).toBeUndefined();
  });

  test("no secret is in the stored answer of a receiver that sends all of the request back", async () => {
    const secrets = {
      PART: "first secret/%é",
      PASSWORD: 'second "secret"',
      TOKEN: "third <secret> & 'more'",
      FORM: "fourth+secret=",
      COPIED: "fifth%2Fsecret secret&<é>",
    };
    const escaped = (text: string, units: RegExp) =>
      text.replace(units, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    await using receiver = startReceiver(({ path, headers, body }) => {
      const plain = `${path} ${body} ${headers["authorization"]}`;
      const json = JSON.stringify({ path, headers, body, plain });
      const all = [json, escaped(json, /[<>&]/g), escaped(json, /[\x80-\uffff]/g)];
      return new Response(all.join("\n"), { headers: { "content-type": "application/json" } });
    });
    await using site = await createDeliverySite();
    for (const [type, body] of [
      ["application/json", '{"a": "{secret.TOKEN} {secret.FORM}"}'],
      ["application/x-www-form-urlencoded", "a={secret.TOKEN}&b={secret.FORM}"],
      ["application/xml", "<a>{secret.TOKEN} {secret.FORM}</a>"],
      ["text/plain", "{secret.TOKEN} {secret.FORM}"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop
      await site.endpoint(`${receiver.url}/{secret.PART}?t={secret.TOKEN}&c={secret.COPIED}`, {
        format: "template",
        settings: {
          method: "POST",
          headers: {
            Authorization: "Basic me:{secret.PASSWORD}",
            "Content-Type": type,
            "X-Form": "{secret.FORM} {secret.COPIED}",
          },
          body,
          secrets,
        },
      });
    }
    await record(site, "monitor.down", "api");
    await site.idle();
    expect(receiver.received).toHaveLength(4);
    const { ctx, logged } = site.app;
    const requests = site.deliveries().map(({ id }) => sentRequest(ctx, id));
    expect(requests.map((request) => request?.headers["content-type"])).toHaveLength(4);
    const said = JSON.stringify([site.tries(), requests, logged, site.app.audit()]);
    expect(said).toContain("…");
    for (const part of ["secret", "c2Vjb25k", btoa('me:second "secret"')]) {
      expect(said).not.toContain(part);
    }
    expect(said.match(/first|second|third|fourth|fifth/g)).toBeNull();
  });

  test("a redirect to another place is a failure and not followed", async () => {
    await using other = startReceiver();
    await using receiver = startReceiver(() => Response.redirect(other.url, 307));
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, ALERTS);
    await record(site, "monitor.down", "api");
    await site.idle();
    expect(other.received).toEqual([]);
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 1 }]);
  });

  test("a message whose value does not fit into the URL fails without a request", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(`${receiver.url}/{key}/x`, ALERTS);
    await record(site, "monitor.down", "..");
    await site.idle();
    expect(receiver.received).toEqual([]);
    expect(site.tries()).toMatchObject([{ error: "The message could not be written." }]);
  });
});

describe("a template for people", () => {
  test("gets messages about monitors gathered, and one message of one change", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, ALERTS);
    await record(site, "monitor.down", "one");
    await record(site, "monitor.down", "two");
    await record(site, "monitor.down", "three");
    await site.pass(MINUTE_MS);
    expect(bodiesOf(receiver.received)).toEqual([
      { begin: "one", status: "down" },
      { begin: expect.stringMatching(/^dgr_/), status: "down" },
    ]);
    expect(receiver.received[1]?.id).toBe(JSON.parse(receiver.received[1]?.body ?? "").begin);
  });
});

describe("a template that reports ends", () => {
  test("gets each event by itself: its begin and its end have the same key", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, TRACKED);
    for (const id of ["one", "two"]) {
      // oxlint-disable-next-line no-await-in-loop
      await record(site, "monitor.down", id);
    }
    await record(site, "monitor.up", "one");
    await record(site, "monitor.up", "two", { notify: false });
    await site.pass(MINUTE_MS);
    expect(
      bodiesOf(receiver.received).toSorted((a, b) => (a.begin ? 0 : 1) - (b.begin ? 0 : 1)),
    ).toEqual([
      { begin: "one", status: "down" },
      { begin: "two", status: "down" },
      { end: "one" },
      { end: "two" },
    ]);
    expect(site.deliveries().every(({ groupId }) => groupId === null)).toBe(true);
  });

  test("gets no repeated begin once its end was delivered, unless a person sends it again", async () => {
    let answers = [500, 200];
    await using receiver = startReceiver(() => answers.shift() ?? 200);
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, TRACKED);
    await record(site, "monitor.down", "one");
    await site.idle();
    await record(site, "monitor.up", "one");
    await site.pass(HOUR_MS);
    expect(bodiesOf(receiver.received)).toEqual([{ begin: "one", status: "down" }, { end: "one" }]);
    const [down] = site.deliveries();
    expect(down).toMatchObject({ status: "superseded", tries: 1 });
    const { ctx } = site.app;
    answers = [200];
    await ctx.db.write((tx) => {
      redeliver(ctx, tx, down?.webhookId ?? "", down?.id ?? "", CLI_ACTOR);
    });
    await site.idle();
    expect(bodiesOf(receiver.received).at(-1)).toEqual({ begin: "one", status: "down" });
  });

  test("gets an end only after the answer to a repeated begin, which is then sent no more", async () => {
    const second = Promise.withResolvers<number>();
    let isAnswered = false;
    const answeredBefore: boolean[] = [];
    await using receiver = startReceiver((_, count) => {
      answeredBefore.push(isAnswered);
      return count === 1 ? 500 : count === 2 ? second.promise : 200;
    });
    await using other = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, TRACKED);
    await site.endpoint(other.url);
    await record(site, "monitor.down", "one");
    await site.idle();
    await site.app.clock.advance(10 * SECOND_MS);
    await receiver.until(2);
    await record(site, "monitor.up", "one");
    await site.app.clock.advance(2 * SECOND_MS);
    // Another endpoint does not wait.
    await other.until(2);
    isAnswered = true;
    second.resolve(503);
    await site.pass(HOUR_MS);
    expect(answeredBefore).toEqual([false, false, true]);
    expect(bodiesOf(receiver.received)).toEqual([
      { begin: "one", status: "down" },
      { begin: "one", status: "down" },
      { end: "one" },
    ]);
    expect(site.deliveries().map(({ status }) => status)).toContain("superseded");
  });

  test("gets a repeated begin of another object, or of a certificate, after the end of a monitor", async () => {
    const answers = [500, 500, 200];
    await using receiver = startReceiver(() => answers.shift() ?? 200);
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, TRACKED);
    await record(site, "monitor.down", "two");
    await site.idle();
    await record(site, "monitor.certificate_expiring", "one", { monitor: { name: "one" } });
    await site.idle();
    await record(site, "monitor.up", "one");
    await site.pass(HOUR_MS);
    const got = bodiesOf(receiver.received).map(({ begin, end }) => begin ?? `end of ${end}`);
    // The waits before a repetition differ at random.
    const repeated = got.splice(3).toSorted();
    expect([...got, ...repeated]).toEqual([
      "two",
      "one-certificate",
      "end of one",
      "one-certificate",
      "two",
    ]);
  });

  test("that begins to report ends, gets what waited for its group by itself", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url, ALERTS);
    await record(site, "monitor.down", "one");
    await record(site, "monitor.down", "two");
    await record(site, "monitor.up", "two");
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    const { ctx } = site.app;
    await ctx.db.write((tx) => {
      updateWebhook(ctx, tx, id, { settings: { resolve_body: '{"end": "{key}"}' } }, CLI_ACTOR);
    });
    await site.pass(MINUTE_MS);
    expect(bodiesOf(receiver.received).slice(1)).toEqual([
      { begin: "two", status: "down" },
      { end: "two" },
    ]);
  });
});
