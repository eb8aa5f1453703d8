// Shows in the bar whether the screen is current, and announces changes to screen readers.

/** Minimum time between two announcements. */
const SPEAK_MS = 10_000;

/** Creates the sign. It replaces the content of `sign`: the time of the request and a link to reload. */
globalThis.createLiveSign = (sign, showChanges) => {
  const [clock] = all(".bar-time time");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "live-show";
  button.addEventListener("click", showChanges);
  const region = document.createElement("p");
  region.className = "visually-hidden";
  region.setAttribute("role", "status");
  document.body.append(region);
  const text = document.createTextNode("");
  const rest = document.createElement("span");
  rest.className = "rest";
  const link = document.createElement("a");
  // State that was announced last, at first that of the loaded page.
  let known;
  let spokenAt = Number.NEGATIVE_INFINITY;
  let formats;
  sign.replaceChildren(text, rest);

  return {
    /** Shows a state in words, and details that narrow screens hide. */
    show(words, details, isHeld) {
      sign.className = isHeld ? "live is-held" : "live";
      text.data = words;
      rest.textContent = details ? ` · ${details}` : "";
    },

    /** Shows the last state, with a link. */
    end(words, label, href) {
      this.show(`${words} · `, "", true);
      link.href = href;
      link.textContent = label;
      sign.append(link);
      button.remove();
    },

    /** Shows a button for the given number of waiting changes; none for 0. */
    offer(changes) {
      const label = `Show ${changes} ${changes === 1 ? "change" : "changes"}`;
      if (changes === 0) button.remove();
      else if (!button.isConnected) sign.append(button);
      if (button.textContent !== label) button.textContent = label;
    },

    /** Shows the server's time, in unix ms. */
    showClock(now) {
      const [minute] = all("b", clock);
      const words = this.clockAt(now);
      if (minute.textContent === words) return;
      minute.textContent = words;
      clock.dateTime = new Date(now).toISOString();
    },

    /** Returns a time as the bar shows it: "15:32 CET", or "10:32 UTC-3" in a zone without a name in English. */
    clockAt(at) {
      formats ??= clockFormats(clock.dataset.timeZone);
      const [british, american] = formats.map((format) => format.format(at));
      const names = [british, american].map((text) => text.split(" ").at(-1));
      const name = names.find((each) => !/\d/.test(each)) ?? names[1].replace("GMT", "UTC");
      return `${british.slice(0, 5)} ${name}`;
    },

    /**
     * Announces the differences from the last announced state, at most every ten seconds. `state` has
     * texts by subject. A count that is absent now is announced as zero.
     */
    speak(state) {
      known ??= state;
      if (Date.now() - spokenAt < SPEAK_MS) return;
      const ended = [...known].filter(
        ([subject, words]) => !state.has(subject) && /^\d/.test(words),
      );
      const changes = [
        ...[...state].filter(([subject, words]) => known.get(subject) !== words),
        ...ended.map(([subject, words]) => [subject, words.replace(/^[\d,]+/, "0")]),
      ];
      known = state;
      if (changes.length === 0) return;
      spokenAt = Date.now();
      region.textContent = changes.map(([subject, words]) => `${subject}: ${words}.`).join(" ");
    },
  };
};

/** Returns the formats of times in British and in American English, in UTC if the browser does not know the zone. */
function clockFormats(timeZone) {
  const options = { hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  try {
    return ["en-GB", "en-US"].map(
      (locale) => new Intl.DateTimeFormat(locale, { ...options, timeZone }),
    );
  } catch {
    return clockFormats("UTC");
  }
}
