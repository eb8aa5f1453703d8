// Search in a list that opens, such as that of the types of monitors, and the way through it by keyboard.

// The event does not bubble.
document.addEventListener("toggle", ({ target }) => focusSearch(target), true);

function focusSearch(picker) {
  // The event fires late: the user may have typed or chosen already.
  if (picker.matches("[data-picker][open]") && !picker.querySelector(".more-items :focus"))
    picker.querySelector("input").focus();
}

document.addEventListener("input", ({ target }) => {
  const picker = target.closest("[data-picker]");
  if (picker) narrow(picker, wordsOf(target.value));
});

/** Shows the options of which a word begins with each of the typed ones. */
function narrow(picker, typed) {
  for (const item of picker.querySelectorAll("li")) {
    const words = wordsOf(`${item.textContent} ${item.dataset.words}`);
    item.hidden = !typed.every((start) => words.some((word) => word.startsWith(start)));
  }
  const message = picker.querySelector("[data-empty]");
  message.textContent = optionsOf(picker).length === 0 ? message.dataset.empty : "";
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function optionsOf(picker) {
  return [...picker.querySelectorAll("li:not([hidden]) button")];
}

document.addEventListener("keydown", (event) => {
  const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
  const picker = target.closest?.("[data-picker][open]");
  // Enter and arrows also choose what an input method proposes.
  if (!picker || event.isComposing || altKey || ctrlKey || metaKey || shiftKey) return;
  const options = optionsOf(picker);
  const field = picker.querySelector("input");
  if (key === "Enter" && target === field) {
    event.preventDefault();
    options[0]?.click();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (!step) return;
  event.preventDefault();
  const index = options.indexOf(target);
  (options[index + step] ?? (step < 0 ? field : options[index]))?.focus();
});
