import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EVENTS, type EventType } from "../../../../src/events/outbox";
import { validateDestination } from "../../../../src/features/webhooks/formats";
import type { Message } from "../../../../src/features/webhooks/formats/format";
import { PLACEHOLDERS } from "../../../../src/features/webhooks/formats/template";
import { collectEvents, type EventsByType } from "../../../support/webhook-events";
import { gatheredEvents } from "../../../support/gathering-site";
import { incidentEvent, writeFor } from "../../../support/webhook-formats";

const URL_OF_ALL = "https://receiver.example.com/hooks";
const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

let events: EventsByType;
beforeAll(async () => {
  events = await collectEvents();
});

/** Writes the message of a template for an incident with this name. Throws without one. */
function write(name: string, settings: object, url = URL_OF_ALL): Message {
  const event = incidentEvent(name, "Text");
  const message = writeFor("template", event, { url, settings: { method: "POST", ...settings } });
  if (!message) throw new Error("There is no message.");
  return message;
}

const errorsOf = (url: string, settings: object) =>
  validateDestination("template", url, { method: "POST", ...settings }).map(
    ({ pointer, detail }) => `${pointer} ${detail}`,
  );

const HOSTILE = "a\"b\\c\nd&e=f+g%h#i/j?k<l>'m\r\nX: y\u0000\u2028é😀";

describe("values in a template", () => {
  test("a value in JSON stays one text, whatever it contains", () => {
    const any = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(fc.oneof(any, fc.constant(HOSTILE)), (name) => {
        const { body } = write(name, { headers: JSON_TYPE, body: '{"a": "[{title}]", "b": 1}' });
        expect(JSON.parse(body)).toEqual({ a: expect.stringMatching(/^\[[^]*\]$/), b: 1 });
      }),
    );
  });

  test("a value in a form stays one field, whatever it contains", () => {
    const { body } = write(HOSTILE, { headers: FORM_TYPE, body: "a={title}&\n  b={key}&\nc=1" });
    const fields = new URLSearchParams(body);
    expect([...fields.keys()]).toEqual(["a", "b", "c"]);
    expect(fields.get("a")).toStartWith("New incident: a\"b\\c d&e=f+g%h#i/j?k<l>'m X: y");
    expect(fields.get("b")).toBe("inc_1");
  });

  test("a value in the URL stays in its part of the path or the query", () => {
    const url = "https://receiver.example.com/a/{title}/b?c={title}&d=1";
    const target = new URL(write(HOSTILE, { body: "x" }, url).url ?? "");
    const [, , title = ""] = target.pathname.split("/");
    expect(decodeURIComponent(title)).toContain("d&e=f+g%h#i/j?k<l>'m X: y");
    expect(target.pathname.split("/")).toHaveLength(4);
    expect([...target.searchParams.keys()]).toEqual(["c", "d"]);
    expect(target.searchParams.get("c")).toBe(decodeURIComponent(title));
  });

  test("a value that would lead to another place on the server is not sent", () => {
    const url = "https://receiver.example.com/a/{secret.PART}/b";
    const settings = (PART: string) => ({ body: "x", secrets: { PART } });
    expect(write("Name", settings("..."), url).url).toEndWith("/a/.../b");
    for (const part of [".", "..", "%2e%2e"]) {
      expect(() => write("Name", settings(part), url)).toThrow("does not fit");
    }
  });

  test("a value in a header is one line without control characters, in UTF-8", () => {
    const { headers } = write(HOSTILE, { headers: { "X-Title": "{title}", "X-Text": "{text}" } });
    const bytes = Buffer.from(headers["x-title"] ?? "", "latin1");
    expect(bytes.toString()).toStartWith("New incident: a\"b\\c d&e=f+g%h#i/j?k<l>'m X: y");
    expect(bytes.toString()).toContain("é😀");
    expect(bytes.toString()).not.toMatch(/\p{Cc}/u);
  });

  test("a value in XML and HTML is escaped, and in text it is as it is", () => {
    const body = "<a>{title}</a>";
    for (const type of ["application/xml", "text/html; charset=utf-8", "application/soap+xml"]) {
      const written = write('<b c="d">&', { headers: { "Content-Type": type }, body }).body;
      expect(written).toBe("<a>New incident: &lt;b c=&quot;d&quot;&gt;&amp;</a>");
    }
    const plain = write("<b>&", { headers: { "Content-Type": "text/plain" }, body }).body;
    expect(plain).toBe("<a>New incident: <b>&</a>");
  });

  test("a body without a Content-Type is JSON if it begins like it, and text otherwise", () => {
    expect(write('"', { body: ' {"a": "{title}"}' })).toMatchObject({
      headers: JSON_TYPE,
      body: ' {"a": "New incident: \\""}',
    });
    expect(write('"', { body: "{title}" })).toMatchObject({
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: 'New incident: "',
    });
    expect(write("Name", { method: "GET" })).toEqual({
      method: "GET",
      url: URL_OF_ALL,
      headers: {},
      body: "",
    });
  });

  test("other types with JSON are escaped as JSON, and a broken body of one is an error", () => {
    for (const type of ["application/x-ndjson", "application/vnd.a+json", "text/json"]) {
      const headers = { "Content-Type": type };
      expect(write('"', { headers, body: '{"a": "{title}"}' }).body).toBe(
        '{"a": "New incident: \\""}',
      );
      expect(errorsOf(URL_OF_ALL, { headers, body: '{"a": {title}}' })).toHaveLength(1);
    }
  });

  test("a secret in a URL can be escaped already", () => {
    const url = "https://receiver.example.com/{secret.A}?token={secret.B}";
    const secrets = { A: "a/b c", B: "a%3Db%2f=100%" };
    expect(write("Name", { body: "x", secrets }, url).url).toBe(
      "https://receiver.example.com/a%2Fb%20c?token=a%3Db%2f%3D100%25",
    );
  });

  test("user name and password of basic authentication are encoded, other credentials are not", () => {
    const of = (authorization: string) =>
      write("Name", { headers: { authorization }, secrets: { A: "us er", B: "p:ä" } }).headers[
        "authorization"
      ];
    expect(of("Basic {secret.A}:{secret.B}")).toBe(
      `Basic ${Buffer.from("us er:p:ä").toString("base64")}`,
    );
    expect(of("Basic {secret.A}")).toBe("Basic us er");
    expect(of("Bearer {secret.A}:x")).toBe("Bearer us er:x");
  });

  test("mentions of people and whole channels have no effect", () => {
    const { body } = write('@channel <!here> <users/all> <at id="all"> a@b.example', {
      body: "{title}",
    });
    expect(body).toBe(
      'New incident: @\u200bchannel <\u200b!here> <\u200busers/all> <\u200bat id="all"> a@b.example',
    );
  });

  test("the title and the text are cut at their limits", () => {
    const event = incidentEvent("Name ".repeat(50), "Text ".repeat(1_000));
    const settings = { method: "POST", body: "{title}|{text}" };
    const lengthsOf = (limits: object) =>
      writeFor("template", event, { url: URL_OF_ALL, settings: { ...settings, ...limits } })
        ?.body.split("|")
        .map(({ length }) => length);
    // Cut before spaces, with an ellipsis.
    expect(lengthsOf({ title_limit: 20, text_limit: 100 })).toEqual([19, 99]);
    // Pairs of surrogates are never parted.
    const pairs = incidentEvent("😀".repeat(200), "😀".repeat(9_000));
    for (const limit of [50, 51, 52, 53]) {
      const limits = { title_limit: limit, text_limit: limit };
      const body = writeFor("template", pairs, {
        url: URL_OF_ALL,
        settings: { ...settings, ...limits },
      })?.body;
      expect(body?.isWellFormed()).toBe(true);
      expect(Math.max(...(body?.split("|") ?? []).map(({ length }) => length))).toBeLessThan(
        limit + 1,
      );
    }
    const [title = 0, text = 0] = lengthsOf({}) ?? [];
    expect(title).toBeLessThanOrEqual(250);
    expect(text).toBeGreaterThan(3_900);
    expect(text).toBeLessThanOrEqual(4_000);
  });

  test("a long run of spaces in a form or in a secret is read at once", () => {
    // In time in proportion to the square of their number it would take minutes.
    const spaces = " ".repeat(500_000);
    const { headers, body } = write("Name", {
      headers: { ...FORM_TYPE, authorization: "Basic {secret.A}" },
      body: `a=1&${spaces}\nb=2`,
      secrets: { A: spaces },
    });
    expect(body).toBe("a=1&b=2");
    expect(headers["authorization"]).toBe(`Basic ${spaces}`);
  });

  test("every placeholder of every event has a text, except for events without components", () => {
    const names = Object.keys(PLACEHOLDERS);
    const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, `{${name}}`])));
    for (const event of Object.values(events)) {
      const settings = { method: "POST", body };
      const message = writeFor("template", event, { url: URL_OF_ALL, settings });
      const values = JSON.parse(message?.body ?? "{}") as Record<string, string>;
      const empty = names.filter((name) => !values[name] && name !== "components");
      expect([event.type, empty]).toEqual([event.type, []]);
      expect(values).toMatchObject({ event: event.type, id: "evt_1", page: "Acme" });
    }
  });
});

describe("the key of a template", () => {
  const keyOf = (type: EventType) =>
    writeFor("template", events[type], {
      url: URL_OF_ALL,
      settings: { method: "POST", body: "{key}" },
    })?.body;

  test("all that is sent about one object has one key, and a certificate another", () => {
    const { subjectId } = events["monitor.down"];
    for (const type of ["monitor.down", "monitor.reminder", "monitor.up"] as const) {
      expect(keyOf(type)).toBe(subjectId);
    }
    expect(keyOf("monitor.certificate_expiring")).toBe(`${subjectId}-certificate`);
    expect(keyOf("incident.created")).toBe(keyOf("incident.resolved"));
    expect(keyOf("maintenance.started")).toBe(keyOf("maintenance.completed"));
  });

  test("gathered events have the worst status, and the key of their object if it is one", () => {
    const write = (gathered: ReturnType<typeof gatheredEvents>) => {
      const event = gathered.events.at(-1);
      const settings = { method: "POST", body: "{status} {key}" };
      return event && writeFor("template", event, { url: URL_OF_ALL, settings, gathered })?.body;
    };
    expect(write(gatheredEvents())).toBe("down evt_1");
    const { "monitor.down": down, "monitor.up": up } = events;
    const ofOne = { events: [down, { ...up, id: "evt_2" }], stillDown: 0 };
    expect(write(ofOne)).toBe(`up ${up.subjectId}`);
  });
});

describe("the request for the end", () => {
  const settings = {
    method: "POST",
    headers: { ...JSON_TYPE, "X-Way": "begin" },
    body: '{"begin": "{key}"}',
    resolve_method: "PUT",
    resolve_url: `${URL_OF_ALL}/{key}/close`,
    resolve_headers: { ...JSON_TYPE, "X-Way": "end" },
    resolve_body: '{"end": "{key}"}',
  };
  /** Returns the requests of a type of event: `begin`, `end`, or none. */
  const wayOf = (type: EventType, data: object = {}, own: object = settings) => {
    const event = { ...events[type], data: { ...events[type].data, ...data } };
    const message = writeFor("template", event, { url: URL_OF_ALL, settings: { ...own } });
    return message?.headers["x-way"] ?? message?.method;
  };

  test("each type of event is the begin or the end of something, or nothing to report", () => {
    const ways = Object.fromEntries(
      (Object.keys(EVENTS) as EventType[]).map((type) => [type, wayOf(type)]),
    );
    expect(ways).toEqual({
      "component.status_changed": "begin",
      "incident.created": "begin",
      "incident.updated": "begin",
      "incident.resolved": "end",
      "incident.reopened": "begin",
      "incident.postmortem_published": undefined,
      "incident.deleted": "end",
      "maintenance.scheduled": "begin",
      "maintenance.updated": "begin",
      "maintenance.started": "begin",
      "maintenance.completed": "end",
      "maintenance.cancelled": "end",
      "maintenance.reminder": "begin",
      "monitor.down": "begin",
      "monitor.up": "end",
      "monitor.degraded": "begin",
      "monitor.reminder": "begin",
      "monitor.certificate_expiring": "begin",
      "location.offline": "begin",
      "fleet.alarm": "begin",
      "webhook.test": "begin",
    });
    expect(wayOf("component.status_changed", { status: "operational" })).toBe("end");
    expect(wayOf("fleet.alarm", { state: "cleared" })).toBe("end");
    expect(wayOf("incident.created", { status: "resolved" })).toBeUndefined();
    expect(wayOf("incident.updated", { status: "resolved" })).toBeUndefined();
  });

  test("has its own method, URL, headers and body, and those of the first request by default", () => {
    const event = events["monitor.up"];
    const written = (own: object) =>
      writeFor("template", event, { url: URL_OF_ALL, settings: { ...own } });
    expect(written(settings)).toEqual({
      method: "PUT",
      url: `${URL_OF_ALL}/${event.subjectId}/close`,
      headers: { "content-type": "application/json", "x-way": "end" },
      body: `{"end": "${event.subjectId}"}`,
    });
    const { method, headers, body, resolve_body } = settings;
    expect(written({ method, headers, body, resolve_body })).toMatchObject({
      method: "POST",
      url: URL_OF_ALL,
      headers: { "x-way": "begin" },
      body: `{"end": "${event.subjectId}"}`,
    });
    expect(written({ method, body, resolve_method: "GET" })).toMatchObject({
      method: "GET",
      body: "",
    });
  });

  test("is sent for an end of which people are not told, unlike the request for a begin", () => {
    expect(wayOf("incident.created", { notify: false })).toBeUndefined();
    expect(wayOf("incident.resolved", { notify: false })).toBe("end");
    const { method, headers, body } = settings;
    expect(wayOf("incident.resolved", { notify: false }, { method, headers, body })).toBe(
      undefined,
    );
  });
});

describe("the request of a template", () => {
  const SECRET = { secrets: { TOKEN: "t" } };

  test.each<[what: string, url: string, settings: object, errors: string[]]>([
    [
      "without a method",
      URL_OF_ALL,
      { method: "FETCH" },
      ["#/settings/method must be one of POST, PUT, PATCH, GET, DELETE"],
    ],
    [
      "with a placeholder in the host",
      "https://{key}.example.com/a",
      {},
      ["#/url must name its host, without placeholders"],
    ],
    ...[
      "https:///{secret.TOKEN}/a",
      "https:/{key}/a",
      "https:{key}/a",
      "HTTPS:////{page}/a",
      "https://receiver.example.com:{key}/a",
    ].map((url): [string, string, object, string[]] => [
      `with a placeholder in the host, as ${url}`,
      url,
      SECRET,
      ["#/url must name its host, without placeholders"],
    ]),
    [
      "with a placeholder in the host of the request for the end",
      URL_OF_ALL,
      { resolve_url: "https:{page}" },
      ["#/settings/resolve_url must name its host, without placeholders"],
    ],
    [
      "with more placeholders than a message can hold",
      URL_OF_ALL,
      { body: "{text}".repeat(51) },
      [
        "#/settings/body has too many placeholders: a request may have 50, with those of its URL and headers",
      ],
    ],
    [
      "with more placeholders than a message for an end can hold",
      `${URL_OF_ALL}/{key}`,
      { headers: { "X-A": "{key}" }, body: "{text}", resolve_body: "{text}".repeat(49) },
      [
        "#/settings/resolve_body has too many placeholders: a request may have 50, with those of its URL and headers",
      ],
    ],
    [
      "with an empty Content-Type",
      URL_OF_ALL,
      { headers: { "Content-Type": " " }, body: "{text}" },
      ["#/settings/headers/Content-Type must be JSON, a form, XML or text"],
    ],
    [
      "with an unknown placeholder",
      `${URL_OF_ALL}/{Title}`,
      { headers: { "X-A": "{text_}" }, body: "{ok} {secret.token} {secret_TOKEN} {key" },
      [
        "#/url names {Title}, which is no placeholder",
        "#/settings/headers/X-A names {text_}, which is no placeholder",
        "#/settings/body names {ok}, which is no placeholder",
      ],
    ],
    [
      "with a secret whose name is not in capitals",
      URL_OF_ALL,
      { body: "{secret.token}" },
      [
        "#/settings/body names {secret.token}, whose name must have capitals, digits and underscores",
      ],
    ],
    [
      "without the value of a secret",
      `${URL_OF_ALL}/{secret.A}`,
      {
        headers: { "X-B": "{secret.B}" },
        body: "{secret.C}",
        resolve_body: "{secret.D}",
        secrets: { C: "c", B: null, D: "" },
      },
      ["A", "B", "D"].map(
        (name) => `#/settings/secrets/${name} is required, since the request has {secret.${name}}`,
      ),
    ],
    [
      "with a secret of another spelling",
      URL_OF_ALL,
      { ...SECRET, secrets: { "a b": "c" } },
      ["#/settings/secrets/a b must have capitals, digits and underscores"],
    ],
    [
      "with a control character in a secret of a header",
      URL_OF_ALL,
      { headers: { "X-A": "{secret.A}" }, body: "{secret.B}", secrets: { A: "a\nb", B: "a\nb" } },
      ["#/settings/secrets/A has control characters, which a header cannot have"],
    ],
    [
      "with control characters in a header",
      URL_OF_ALL,
      { headers: { "X-A": "a\r\nX-B: c", "X-C": "\u0007" } },
      [
        "#/settings/headers/X-A has control characters",
        "#/settings/headers/X-C has control characters",
      ],
    ],
    [
      "with headers that Allclear sets, that HTTP does not allow or that are named twice",
      URL_OF_ALL,
      {
        headers: { Host: "a", "Content-Length": "1", "Webhook-Id": "a", "a b": "c" },
        resolve_headers: { "X-A": "1", "x-a": "2" },
      },
      [
        "#/settings/headers/Host is set by Allclear itself",
        "#/settings/headers/Content-Length is set by Allclear itself",
        "#/settings/headers/Webhook-Id is set by Allclear itself",
        "#/settings/headers/a b has a name that HTTP does not allow",
        "#/settings/resolve_headers/x-a is named twice",
      ],
    ],
    [
      "with a credential that can be read",
      URL_OF_ALL,
      { headers: { authorization: "Bearer abc", Cookie: "a=b", "X-Api-Key": "{key}" } },
      ["authorization", "Cookie", "X-Api-Key"].map(
        (name) => `#/settings/headers/${name} is a secret: write it as {secret.NAME}`,
      ),
    ],
    [
      "with a type that has parts or placeholders",
      URL_OF_ALL,
      {
        headers: { "Content-Type": "multipart/form-data; boundary=a" },
        resolve_headers: { "Content-Type": "text/{key}" },
      },
      [
        "#/settings/headers/Content-Type must be JSON, a form, XML or text",
        "#/settings/resolve_headers/Content-Type must not contain placeholders",
      ],
    ],
    ...[
      '{"a": {title}}',
      '{"a": "{title}"',
      '{"a": "b\\{title}"}',
      '{"{title}": "\\u00{key}"}',
    ].map((body): [string, string, object, string[]] => [
      "with a body that is not JSON",
      URL_OF_ALL,
      { headers: JSON_TYPE, body },
      ["#/settings/body must be JSON, with placeholders inside of texts only"],
    ]),
    [
      "with a body that is not a form",
      URL_OF_ALL,
      { headers: FORM_TYPE, body: "a=b c&d=ä" },
      [
        "#/settings/body must be a form such as to={secret.TO}&text={text}, without spaces and accents outside of placeholders",
      ],
    ],
    [
      "with a body of a GET request",
      URL_OF_ALL,
      { method: "GET", body: "a", resolve_method: "POST", resolve_body: "{" },
      [
        "#/settings/body must be left out of a GET request",
        "#/settings/resolve_body must be JSON, with placeholders inside of texts only",
      ],
    ],
    [
      "whose end goes to another server, or to none",
      URL_OF_ALL,
      { resolve_url: "https://other.example.com/hooks" },
      ["#/settings/resolve_url must have the same scheme, host and port as the URL"],
    ],
    [
      "whose end goes to a host by a placeholder",
      URL_OF_ALL,
      { resolve_url: "https://receiver.example.com{secret.TOKEN}/", ...SECRET },
      ["#/settings/resolve_url must name its host, without placeholders"],
    ],
    [
      "whose end has a user name or a space",
      URL_OF_ALL,
      { resolve_url: "https://a:b@receiver.example.com/" },
      ["#/settings/resolve_url must not contain a user name or password"],
    ],
    [
      "with limits out of range",
      URL_OF_ALL,
      { title_limit: 5, text_limit: 100_000 },
      [
        "#/settings/title_limit must be a whole number from 20 to 1,000",
        "#/settings/text_limit must be a whole number from 50 to 10,000",
      ],
    ],
  ])("%s is rejected", (_what, url, settings, errors) => {
    expect(errorsOf(url, settings)).toEqual(errors);
  });

  test("with placeholders and secrets in every part is accepted", () => {
    const settings = {
      method: "PATCH",
      headers: { Authorization: "Bearer {secret.TOKEN}", "X-Note": "{title} é" },
      body: '{"a": "{text}", "{key}": ["{secret.TOKEN}"], "b": {"c": {}}}',
      resolve_method: "DELETE",
      resolve_url: `${URL_OF_ALL}/{key}?t={secret.TOKEN}`,
      secrets: { TOKEN: "t", UNUSED: "u" },
    };
    expect(errorsOf(`${URL_OF_ALL}/{id}`, settings)).toEqual([]);
  });
});
