// Presets fill in forms, but never replace what a person typed or chose.

/** Controls that the person changed. */
const ownControls = new WeakSet();

document.addEventListener("input", ({ target, isTrusted }) => {
  if (isTrusted) ownControls.add(target);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-preset]");
  if (button && !event.defaultPrevented) applyPreset(button, event);
});

/** Fills the values of a preset into its form. */
function applyPreset(button, event) {
  const form = button.closest("form") ?? document.querySelector("main form[method=post]");
  if (!form) return;
  event.preventDefault();
  const presets = [...document.querySelectorAll("[data-preset]")].map(presetOf);
  const fields = [...form.elements];
  for (const [name, value] of Object.entries(presetOf(button))) {
    const filled = presets.map((preset) => [preset[name]].flat());
    fillIn(
      fields.filter((field) => field.name === name),
      [value].flat(),
      filled,
    );
  }
  for (const other of document.querySelectorAll("[data-preset]")) {
    other.removeAttribute("aria-current");
  }
  button.setAttribute("aria-current", "true");
  const menu = button.closest(".more-menu")?.querySelector("summary");
  menu?.click();
  menu?.focus();
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

function presetOf({ dataset }) {
  return JSON.parse(dataset.preset);
}

/** Sets the controls with one name. `filled` has the values of all presets. */
function fillIn(controls, wanted, filled) {
  const isChosen = controls.some((control) => ownControls.has(control));
  // A rejected form is shown again with the boxes that were checked in it.
  const shown = controls.filter(({ defaultChecked }) => defaultChecked).map(({ value }) => value);
  const isOfPreset = filled.some(
    (values) => String(values.toSorted()) === String(shown.toSorted()),
  );
  for (const control of controls) {
    if (control.type === "checkbox") {
      const isOwn = ownControls.has(control) || (control.defaultChecked && !isOfPreset);
      if (!isOwn) control.checked = wanted.includes(control.value);
    } else if (control.type === "radio") {
      if (!isChosen) control.checked = wanted.includes(control.value);
    } else if (control.type === "select-one") {
      // A choice that the link to the form made is kept too.
      const isPreset = control.options[0].value === "" && isOwnText(control, filled);
      if (!isChosen && !isPreset) write(control, wanted[0] ?? "");
    } else if (control.type !== "hidden" && control.type !== "submit") {
      if (!isOwnText(control, filled)) write(control, wanted[0] ?? "");
    }
  }
}

function isOwnText({ value }, filled) {
  return value.trim() !== "" && !filled.some(([text]) => text === value);
}

/** Sets the value of a control, and unfolds what hides it. */
function write(control, value) {
  control.value = value;
  if (value) control.closest("details")?.setAttribute("open", "");
}
