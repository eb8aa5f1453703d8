// Copies the addresses of the subscribe page, which can also be selected without a script.

const { words: copyWords } = document.currentScript.dataset;
const said = copyWords ? JSON.parse(copyWords) : WORDS;

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // Pages over http:// have no clipboard, but can copy the selection.
    getSelection().selectAllChildren(code);
    isCopied = document.execCommand("copy");
  }
  const word = button.querySelector("[data-word]");
  const usual = (word.dataset.usual ??= word.textContent);
  word.textContent = isCopied ? said.copied : said.selected;
  document.querySelector("[data-copied]").textContent = isCopied
    ? `${said.copied}${button.querySelector(".unseen").textContent}`
    : said.help;
  setTimeout(() => (word.textContent = usual), 2_000);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
