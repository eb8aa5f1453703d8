// Filters the components of a large status page by their names and those of their groups.

/** Ids of the groups that the filter has opened, not the reader. */
const openedByFilter = new Set();

const filterField = () => document.querySelector(".filter input");
const filterWords = () => (filterField()?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);

/** Hides the rows of a document that lack a word of the filter, and the groups without other rows. */
function filterRows(root) {
  const typed = filterWords();
  let [found, total] = [0, 0];
  for (const group of root.querySelectorAll(".groups > .group")) {
    const name = group.querySelector("h3").firstChild.textContent;
    let count = 0;
    for (const row of group.querySelectorAll(".component")) {
      const text = `${name} ${row.querySelector(".name").textContent}`.toLowerCase();
      total += 1;
      row.hidden = !typed.every((word) => text.includes(word));
      if (!row.hidden) count += 1;
    }
    group.hidden = count === 0;
    found += count;
  }
  for (const status of root.querySelectorAll(".filter [role=status]")) {
    status.textContent = typed.length === 0 ? "" : foundText({ count: found, total });
  }
}

function foundText(numbers) {
  const { count } = numbers;
  if (!count) return words.none;
  if (!ownWords) return `${count} component${count > 1 ? "s" : ""}`;
  return words.found.replace(/{(\w+)}/g, (_, name) => numbers[name].toLocaleString(locale));
}

/** Filters the page. Groups with a match are open as long as the field has text. */
function applyFilter() {
  filterRows(document);
  const isFiltered = filterWords().length > 0;
  for (const group of document.querySelectorAll(".groups > .group")) {
    if (isFiltered && !group.hidden && !group.open) {
      group.open = true;
      openedByFilter.add(group.id);
    } else if (!isFiltered && openedByFilter.delete(group.id)) group.open = false;
  }
}

document.addEventListener("input", ({ target }) => {
  if (target === filterField()) applyFilter();
});
// A browser may have kept the text of an earlier visit.
if (filterField()?.value) applyFilter();
