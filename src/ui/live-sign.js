// Shows in the bar how current the screen is, and announces changes to screen readers.

/** At most one announcement in this time. */
const SPEAK_MS = 10_000;

/** Creates the sign in place of the time of the request and the link that reloads the page. */
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
  let pending = "";
  let spokenAt = Number.NEGATIVE_INFINITY;
  sign.replaceChildren(text, rest);

  return {
    /** Shows a state in words, and details that a narrow screen leaves out. */
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

    /** Offers changes that wait. */
    offer(changes) {
      const label = `Show ${changes} ${changes === 1 ? "change" : "changes"}`;
      if (changes === 0) button.remove();
      else if (!button.isConnected) sign.append(button);
      if (button.textContent !== label) button.textContent = label;
    },

    /** Shows the server's time, in unix ms. */
    showClock(now) {
      const iso = new Date(now).toISOString();
      const [minute] = all("b", clock);
      const words = `${iso.slice(11, 16)} UTC`;
      if (minute.textContent === words) return;
      minute.textContent = words;
      clock.dateTime = iso;
    },

    /** Announces the newest sentences that were not announced yet, if the last ones were long enough ago. */
    speak(sentences) {
      if (sentences.length > 0) pending = sentences.join(" ");
      if (pending === "" || Date.now() - spokenAt < SPEAK_MS) return;
      spokenAt = Date.now();
      region.textContent = pending;
      pending = "";
    },
  };
};
