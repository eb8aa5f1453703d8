// Shows the age of a copy of a status page, which is complete without a script.

const COPY_WARN_MS = 300_000;
const COPY_ASK_MS = 60_000;
const COPY_TIMEOUT_MS = 10_000;
/** Bytes of the list of copied files that contain its time, which comes first. */
const COPY_HEAD_BYTES = 100;

// A copy is not written again while its server is down, and a notice ends all the same.
for (const notice of document.querySelectorAll("[data-until]")) {
  if (Date.now() >= Date.parse(notice.dataset.until)) notice.remove();
}

const madeAt = document.querySelector("[data-made-at]");
if (madeAt) showAge();

function showAge() {
  const asWritten = madeAt.textContent;
  const warning = document.querySelector("[data-copy-old]");
  const strip = madeAt.closest(".strip");
  let latest = Date.parse(madeAt.dateTime);
  ask();
  setInterval(() => document.hidden || ask(), COPY_ASK_MS);
  document.addEventListener("visibilitychange", () => document.hidden || show());

  /** Reads the time at which all copies were compared with their originals. Unchanged ones are not written again. */
  async function ask() {
    try {
      const answer = await fetch("/mirror.json", {
        headers: { Range: `bytes=0-${COPY_HEAD_BYTES - 1}` },
        signal: AbortSignal.timeout(COPY_TIMEOUT_MS),
      });
      const [, asOf] = /"as_of":"([^"]+)"/.exec(await answer.text()) ?? [];
      latest = Math.max(latest, Date.parse(asOf) || 0);
    } catch {
      // The age is that of the last known time.
    }
    show();
  }

  function show() {
    const age = Date.now() - latest;
    const isOld = age >= COPY_WARN_MS;
    madeAt.title = asWritten;
    setCopyText(
      madeAt,
      words.age.replace("{age}", () => ageOf(age)),
    );
    setCopyText(warning, isOld ? words.old : "");
    strip?.classList.toggle("t-maint", !isOld);
    strip?.classList.toggle("t-degraded", isOld);
  }
}

/** Changes a text only if it differs, since screen readers announce each change. */
function setCopyText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
