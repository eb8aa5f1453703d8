// Submits selects that act at once, and counts the selected rows.

document.addEventListener("change", ({ target }) => {
  // The sheet of a phone takes several choices, which its button submits. Only phones show the button that opens it.
  const isInSheet = target.closest(".phone-sheet")?.previousElementSibling.offsetWidth > 0;
  if (target.matches("select[data-submits]") && !isInSheet) {
    target.form.requestSubmit(target.form.querySelector(".page-choice > button"));
  }
  if (target.matches("[data-pick], [data-pick-all]")) countChosen(target.form);
});

document.addEventListener("click", ({ target }) => {
  const form = target.closest("[data-unpick]")?.form;
  if (!form) return;
  for (const box of form.querySelectorAll("[data-pick]:checked, [data-pick-all]:checked")) {
    box.checked = false;
  }
  countChosen(form);
});

function countChosen(form) {
  const all = form.querySelector("[data-pick-all]:checked")?.dataset.pickAll;
  const count = all ?? form.querySelectorAll("[data-pick]:checked").length;
  form.querySelector("[data-chosen]").textContent = `${count} selected`;
}

// A browser keeps checked boxes when it goes back.
addEventListener("pageshow", () => {
  for (const bar of document.querySelectorAll("[data-chosen]")) countChosen(bar.closest("form"));
});
