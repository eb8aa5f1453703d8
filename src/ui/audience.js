// Shows how many subscribers a form mails, for the components that are chosen in it.

const COUNT_AFTER_MS = 300;

/** Timers of the forms that are being counted. */
const counting = new WeakMap();

/** Shows the number of subscribers for the present values of a form; its general sentence without `text`. */
function showCount(element, text) {
  element.dataset.general ??= element.textContent;
  element.textContent = text ?? element.dataset.general;
}

/** Counts the subscribers again whom a changed form mails. The last of several changes counts. */
function countAgain(form) {
  const element = form?.querySelector("[data-counted]");
  if (!element) return;
  showCount(element);
  clearTimeout(counting.get(form));
  const timer = setTimeout(async () => {
    const page = await askForForm(form, element.dataset.countIntent);
    const text = page?.querySelector("[data-counted]")?.dataset.counted;
    if (counting.get(form) === timer) showCount(element, text);
  }, COUNT_AFTER_MS);
  counting.set(form, timer);
}

/** Sends a form to be shown again, which writes nothing. Returns its screen; undefined if there is no answer. */
async function askForForm(form, intent) {
  const body = new URLSearchParams(new FormData(form));
  body.set("intent", intent);
  try {
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body });
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return undefined;
  }
}

/** Returns true for a control that a browser filled in again, such as after a reload. */
function isFilledIn({ options, checked, defaultChecked }) {
  if (!options) return checked !== defaultChecked;
  return [...options].some(({ selected, defaultSelected }) => selected !== defaultSelected);
}

document.addEventListener("change", ({ target }) => countAgain(target.closest("form")));

// A browser fills in a form again when it goes back or reloads.
addEventListener("pageshow", () => {
  for (const count of all("[data-counted]")) {
    const form = count.closest("form");
    if ([...all("select, input", form)].some(isFilledIn)) countAgain(form);
  }
});
