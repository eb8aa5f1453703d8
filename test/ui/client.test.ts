import { expect, test } from "bun:test";
import { describeGallery, type Gallery } from "../gallery/describe-gallery";

const KEY = /^allclear_\w{49}$/;

/** Opens the page, runs the test on it, and holds it to having complained of nothing. */
async function onPage(
  gallery: Gallery,
  look: Parameters<Gallery["open"]>[0],
  body: (page: Awaited<ReturnType<Gallery["open"]>>) => Promise<void>,
): Promise<void> {
  const page = await gallery.open(look);
  try {
    await body(page);
    expect(gallery.errors).toEqual([]);
  } finally {
    gallery.answers.clear();
    await page.context().close();
  }
}

describeGallery("copying", (gallery) => {
  test("the copy button puts the whole text on the clipboard and confirms it", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    await onPage(gallery(), { permissions }, async (page) => {
      await page.getByRole("button", { name: "Copy key" }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(KEY);
      await page.getByRole("button", { name: "Copy key" }).waitFor();
    });
  }, 600_000);

  test("the copy button works over plain HTTP, without the clipboard API", async () => {
    await onPage(gallery(), { isPlainHost: true }, async (page) => {
      expect(await page.evaluate(() => isSecureContext)).toBe(false);
      await page.evaluate(() =>
        document.addEventListener("copy", () => {
          document.title = String(getSelection());
        }),
      );
      await page.getByRole("button", { name: "Copy key" }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      expect(await page.title()).toMatch(KEY);
    });
  }, 600_000);
});

describeGallery("a dialog", (gallery) => {
  test("a dialog shows its part of the page, closes with Escape and returns the focus", async () => {
    await onPage(gallery(), {}, async (page) => {
      const opener = page.getByRole("link", { name: "Open the dialog" });
      await opener.click();
      const dialog = page.getByRole("dialog", { name: "Revoke Deploy bot?" });
      await dialog.getByRole("button", { name: "Revoke key" }).waitFor();
      // Not the button: a key pressed in haste must revoke nothing.
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(await opener.evaluate((link) => link === document.activeElement)).toBe(true);
      expect(gallery().requests).toEqual(["GET /gallery", "GET /gallery"]);
    });
  }, 600_000);

  test("a dialog closes by its cancel link and by its close button", async () => {
    await onPage(gallery(), {}, async (page) => {
      for (const leave of [
        page.getByRole("dialog").getByRole("link", { name: "Keep it" }),
        page.getByRole("dialog").getByRole("button", { name: "Close" }),
      ]) {
        await page.getByRole("link", { name: "Open the dialog" }).click();
        await leave.click();
        await page.getByRole("dialog").waitFor({ state: "detached" });
      }
    });
  }, 600_000);

  test("a dialog submits its form like the page", async () => {
    await onPage(gallery(), {}, async (page) => {
      gallery().answers.set("POST /gallery", () => new Response("Revoked."));
      await page.getByRole("link", { name: "Open the dialog" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();
      await page.getByText("Revoked.").waitFor();
      expect(gallery().requests).toContain("POST /gallery ");
    });
  }, 600_000);

  test("a dialog is replaced by the page if the server answers with another one, such as sign-in", async () => {
    await onPage(gallery(), {}, async (page) => {
      gallery().answers.set("GET /gallery", () => Response.redirect("/sign-in", 303));
      gallery().answers.set("GET /sign-in", () => new Response("Sign in"));
      await page.getByRole("link", { name: "Open the dialog" }).evaluate((link) => {
        link.setAttribute("href", "/gallery");
      });
      await page.getByRole("link", { name: "Open the dialog" }).click();
      await page.waitForURL("**/sign-in");
    });
  }, 600_000);
});

describeGallery("a form", (gallery) => {
  test("a form is submitted once, however often its button is pressed, and is usable after going back", async () => {
    await onPage(gallery(), {}, async (page) => {
      const answer = Promise.withResolvers<Response>();
      gallery().answers.set("POST /gallery", () => answer.promise);
      // In the page itself: the browser's driver waits for the answer before it looks again.
      const states = await page.evaluate(async () => {
        const find = (button: HTMLButtonElement) => button.textContent === "Invite user";
        const button = [...document.querySelectorAll("button")].find(find) as HTMLButtonElement;
        const seen = [button.disabled];
        for (const _press of [1, 2, 3]) {
          button.click();
          await new Promise((resolve) => setTimeout(resolve));
          seen.push(button.disabled);
        }
        dispatchEvent(new PageTransitionEvent("pageshow"));
        return [...seen, button.disabled];
      });
      expect(states).toEqual([false, true, true, true, false]);
      answer.resolve(new Response("Sent."));
      await page.getByText("Sent.").waitFor();
      const posts = gallery().requests.filter((request) => request.startsWith("POST"));
      expect(posts).toHaveLength(1);
      expect(posts[0]).toContain("email=ada%40northwind.example");
    });
  }, 600_000);

  test("a preset fills in a form without loading a page and updates its summary", async () => {
    await onPage(gallery(), {}, async (page) => {
      const summary = page.locator(".summary").getByRole("listitem");
      expect(await summary.allTextContents()).toEqual(["Create and update incidents."]);
      const name = page.getByLabel("Name", { exact: true });
      await page.getByRole("button", { name: "Read-only dashboard" }).click();
      expect(await name.inputValue()).toBe("Dashboard");
      expect(await page.getByLabel("read:analytics").isChecked()).toBe(true);
      expect(await page.getByLabel("write:incidents").isChecked()).toBe(false);
      expect(await summary.allTextContents()).toEqual([
        "Read status page data, components, incidents and maintenance.",
        "Access analytics and metrics data.",
      ]);
      await page.getByLabel("read:analytics").uncheck();
      await page.getByLabel("read:status").uncheck();
      expect(await summary.allTextContents()).toEqual(["do nothing yet: choose a scope."]);
      await name.fill("Deploy bot");
      await page.getByRole("button", { name: "CI incident bot" }).click();
      expect(await name.inputValue()).toBe("Deploy bot");
      expect(gallery().requests).toEqual(["GET /gallery"]);
    });
  }, 600_000);

  test("a field that belongs to a choice is visible only while that is chosen", async () => {
    await onPage(gallery(), {}, async (page) => {
      const date = page.getByLabel("Date", { exact: true });
      expect(await date.isVisible()).toBe(false);
      await page.getByLabel("A date").check();
      expect(await date.isVisible()).toBe(true);
    });
  }, 600_000);
});

describeGallery("a secret on a page", (gallery) => {
  test("the test button sends the secret to the API and shows the result in words", async () => {
    await onPage(gallery(), {}, async (page) => {
      gallery().answers.set("GET /api/v1/key", (request) => {
        const value = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
        expect(request.headers.get("cookie")).toBeNull();
        return KEY.test(value)
          ? Response.json({ rate_limit: 1_000, remaining: 999 })
          : Response.json({ title: "Invalid key" }, { status: 401 });
      });
      await page.getByRole("button", { name: "Test key" }).click();
      await page.getByText("Works: 1,000 requests a minute, 999 left").waitFor();
    });
  }, 600_000);

  test("the test button shows the server's error for a secret that does not work", async () => {
    const page = await gallery().open();
    gallery().answers.set("GET /api/v1/key", () =>
      Response.json({ title: "Revoked key", detail: "This key was revoked." }, { status: 401 }),
    );
    await page.getByRole("button", { name: "Test key" }).click();
    await page.getByText("This key was revoked.").waitFor();
    gallery().answers.clear();
    await page.context().close();
  }, 600_000);

  test("a secret is removed when its page is left, and the page is loaded again on return", async () => {
    await onPage(gallery(), {}, async (page) => {
      const secrets = page.locator("[data-secret]");
      expect((await secrets.allTextContents()).join("")).toContain("allclear_");
      await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide")));
      expect(await secrets.allTextContents()).toEqual(["", ""]);
      await Promise.all([
        page.waitForEvent("load"),
        page.evaluate(() =>
          dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })),
        ),
      ]);
      expect(gallery().requests).toEqual(["GET /gallery", "GET /gallery"]);
    });
  }, 600_000);
});

describeGallery("days", (gallery) => {
  test("arrow keys move through the days that were not good, and each is described below the bars", async () => {
    await onPage(gallery(), {}, async (page) => {
      const bars = page.locator(".day-bars").first();
      await bars.locator("[data-day]").last().focus();
      expect(await bars.locator("[data-day-note]").textContent()).toContain("Partial outage");
      await page.keyboard.press("ArrowLeft");
      // The seven days between are good and are passed over.
      expect(await bars.locator("[data-day-note]").textContent()).toEndWith(
        ": Major outage (12 min)",
      );
      await page.keyboard.press("Home");
      expect(await bars.locator("[data-day-note]").textContent()).toContain(": Partial outage (");
      // The days before the first one with data cannot be selected either.
      expect(await bars.locator("[data-day]").count()).toBe(7);
      await page.keyboard.press("Tab");
      expect(await bars.locator("[data-day-note]").textContent()).toBe("99.71 % uptime");
    });
  }, 600_000);
});
