import { describe, expect, test } from "bun:test";
import createMarkdown from "markdown-it";
import { isForPeople, WEBHOOK_FORMATS } from "../../../src/base/webhook";
import { bodyFor, incidentEvent, textsIn } from "../../support/webhook-formats";

/** Formats with markup of their own. Mails are written by the kit for letters. */
const PEOPLE = WEBHOOK_FORMATS.filter((name) => isForPeople(name) && name !== "email");

/** Both as a name and as Markdown. */
const hostile = (text: string) => incidentEvent(text, text);

const slackText = (text: string) => {
  const body = bodyFor("slack", hostile(text));
  return { title: body.text, text: body.attachments[0].blocks[0].text.text };
};
const embed = (text: string) => bodyFor("discord", hostile(text)).embeds[0];
const telegramText = (text: string): string => bodyFor("telegram", hostile(text)).text;
const runs = (text: string) => textsIn(bodyFor("teams", hostile(text)).attachments[0].content.body);

/** Returns the targets of all links in a message, by the markup of its service. */
function linksIn(name: string, body: unknown): string[] {
  const json = JSON.stringify(body);
  const fields = [...json.matchAll(/"(?:url|click)":"([^"]*)"/g)];
  const markup: Record<string, RegExp> = {
    slack: /<([^|>]+)/g,
    discord: /(?<!\\)<([^>]+)>/g,
    gotify: /(?<!\\)<([^>]+)>/g,
    telegram: /<a href="([^"]+)"/g,
  };
  const inTexts = textsIn(body).flatMap((text) => [...text.matchAll(markup[name] ?? /$^/g)]);
  return [...fields, ...inTexts].map(([, link = ""]) => link);
}

describe("hostile text in notifications", () => {
  test.each(PEOPLE)(
    "a notification for %s contains no control characters or bidirectional overrides",
    (name) => {
      const text = "a\u0000b\u0007c\u001b[31md\u0085e\u202ef\u2066g\r\nh\ud800i\u2028j";
      const all = textsIn(bodyFor(name, hostile(text))).join();
      expect(all).not.toMatch(
        // oxlint-disable-next-line no-control-regex
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2066-\u2069]/,
      );
      expect(all.isWellFormed()).toBe(true);
      expect(all).toContain("New incident: abc");
      expect(all).toContain("efg");
    },
  );

  test.each(PEOPLE)("a notification for %s mentions no users or channels", (name) => {
    const event = hostile("@everyone @here @channel <!channel> <@U123> <@&42> <at>Eve</at>");
    const written = JSON.stringify(bodyFor(name, event));
    if (name === "ntfy" || name === "gotify") return expect(written).toContain("@");
    // Microsoft Teams calls those whom a card lists in its entities, and ours lists none.
    if (name === "teams") return expect(written).not.toContain("entities");
    expect(written).not.toMatch(/@(everyone|here|channel|U123)/);
    expect(written).not.toMatch(/[^\\]<[!@&]/);
  });

  test.each(PEOPLE)("a notification for %s shows the target of each link", (name) => {
    const written = textsIn(
      bodyFor(name, incidentEvent("Name", "[https://bank.example](https://evil.example/x)")),
    ).join("\n");
    expect(written).toMatch(/bank\.example.{0,3} \([^]{0,60}https:\/\/evil\.example\/x/);
    expect(written).not.toMatch(/href="https:\/\/evil[^"]*">[^<]*bank/);
    expect(written).not.toContain("](https://evil");
    expect(written).not.toContain("evil.example/x|");
  });

  test.each(PEOPLE)(
    "a notification for %s links only to web addresses without user names",
    (name) => {
      const text =
        "[a](javascript:alert(1)) [b](data:text/html,x) <file:///etc/passwd> [c](tg://user?id=1) [d](<https://bank.example@evil.example/>) ![e](vbscript:x) [f](http://good.example/f)";
      const links = linksIn(name, bodyFor(name, incidentEvent("Name", text)));
      const own = "https://status.test/status/acme/incidents/inc_1";
      const isPlain = name === "ntfy" || name === "template";
      expect(links.filter((link) => link !== own && link !== "https://bank.example/")).toEqual(
        isPlain ? [] : ["http://good.example/f"],
      );
      expect(links).toContain(own);
    },
  );

  test.each(PEOPLE)("a notification for %s loads no image", (name) => {
    const event = incidentEvent("Name", "![seen](https://tracker.example/pixel.png)");
    const written = JSON.stringify(bodyFor(name, event));
    expect(written).toContain("seen");
    expect(written).toContain("https://tracker.example/pixel.png");
    expect(written).not.toContain("![");
    expect(written).not.toContain('"type":"Image"');
  });
});

describe("Slack", () => {
  test("Slack control sequences are escaped, and only web addresses are links", () => {
    const { title, text } = slackText("<!channel> & <https://evil.example|Log in> <@U1> <#C1>");
    expect(title).toContain(
      "New incident: &lt;!channel&gt; &amp; &lt;https://evil.example¦Log in&gt;",
    );
    expect(text).not.toMatch(/<(?!https?:\/\/[^|>\s]+>)/);
  });

  test("Slack formatting characters are replaced by lookalikes, except within words", () => {
    const { text } = slackText("\\*bold\\* \\_it\\_ snake_case_name \\~x\\~ \\`code\\`");
    expect(text).toContain("∗bold∗ ˍitˍ snake_case_name ∼x∼ ˋcodeˋ");
  });

  test("a text cannot end a code block on Slack", () => {
    const { text } = slackText("`` a`b <!here> ``\n\n```\nx\n  ```` y\n```");
    expect(text).toContain("`aˋb &lt;!here&gt;`");
    expect(text).toContain("```\nx\n  ˋˋˋˋ y\n```");
  });
});

describe("Discord", () => {
  test("Discord messages allow no mentions", () => {
    expect(bodyFor("discord", hostile("@everyone")).allowed_mentions).toEqual({ parse: [] });
  });

  test("Discord markup in a text is escaped with backslashes", () => {
    const { title, description } = embed("**b** ||s|| <:e:1> # no");
    expect(title).toBe("New incident: \\*\\*b\\*\\* \\|\\|s\\|\\| \\<:e:1\\> # no");
    expect(description).toContain("**b** \\|\\|s\\|\\| \\<:e:1\\> # no");
    expect(embed("a\n\\# h\n\\- i\n1\\) n").description).toContain("a\n\\# h\n\\- i\n1\\) n");
    expect(embed("a\n-# small\n>>> all").description).toContain("a\n\\-# small");
  });
});

describe("Gotify", () => {
  test("Gotify messages keep code in a list as code, without images", () => {
    const picture = "![x](https://tracker.example/)";
    const event = incidentEvent("Name", `- a\n- \`\`\`\n  ${picture}\n  # b\n  \`\`\`\n- c`);
    const { message } = bodyFor("gotify", event);
    expect(message).toContain(`- a\n\n\`\`\`\n${picture}\n# b\n\`\`\`\n\n- c`);
    const tokens = createMarkdown().parse(message, {});
    const types = tokens.flatMap(({ type, children }) => [
      type,
      ...(children ?? []).map((t) => t.type),
    ]);
    expect(types).toContain("fence");
    expect(types).not.toContain("image");
  });
});

describe("Telegram", () => {
  test("HTML in a text is escaped for Telegram", () => {
    const text = telegramText('<b>x</b> &amp; <a href="tg://user?id=1">y</a> "q"');
    expect(text).toContain("&lt;b&gt;x&lt;/b&gt; &amp;amp; &lt;a href=&quot;tg://user");
    expect(text.match(/<\/?[a-z]+/g)?.filter((tag) => !/^<\/?(a|b)$/.test(tag))).toEqual([]);
  });

  test("Telegram messages neutralise mentions and keep e-mail addresses", () => {
    expect(telegramText("ask @alice or eve@example.com")).toContain(
      "ask @\u200balice or eve@example.com",
    );
  });
});

describe("Microsoft Teams", () => {
  test("Teams messages contain texts unchanged in runs without markup", () => {
    expect(runs("\\*\\*b\\*\\* [x](y:z) <at>Eve</at>")).toContain("**b** [x](y:z) <at>Eve</at>");
  });

  test("Teams messages neutralise card functions in texts", () => {
    expect(runs("{{DATE(2026-01-01T00:00:00Z)}}").join()).not.toContain("{{");
  });
});

describe("messages of checks", () => {
  test.each(PEOPLE)("the message of a check is escaped for %s", (name) => {
    const message = "answered [**ok**](https://evil.example)\n# <!channel>";
    const data = { name: "Shop", state: "down", last_check: { message } };
    const event = { ...incidentEvent("", ""), type: "monitor.down" as const, data };
    const body = bodyFor(name, event);
    expect(JSON.stringify(body)).not.toMatch(/"(href|url)":"https:\/\/evil|<https:\/\/evil/);
    const written = textsIn(body).join("\n").replaceAll("\\", "");
    expect(written).toMatch(/\[(\*\*|∗∗)ok(\*\*|∗∗)\]\(https:\/\/evil\.example\)/);
  });
});
