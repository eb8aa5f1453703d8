// Tests a key that is shown once, and removes secrets when the page is left.

async function testKey(button) {
  const output = button.parentElement.querySelector("[role=status]");
  const value = document.querySelector("[data-secret=value]")?.textContent;
  button.disabled = true;
  output.textContent = "Testing…";
  output.className = "muted";
  try {
    const headers = { authorization: `Bearer ${value}` };
    const answer = await fetch("/api/v1/key", { headers, credentials: "omit" });
    const body = await answer.json();
    output.className = answer.ok ? "t-ok" : "t-major";
    output.textContent = answer.ok
      ? `Works: ${body.rate_limit.toLocaleString("en")} requests a minute, ${body.remaining.toLocaleString("en")} left`
      : (body.detail ?? body.title);
  } catch {
    output.className = "t-major";
    output.textContent = "The server could not be reached. Try again in a moment.";
  }
  button.disabled = false;
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-test-key]");
  if (button) testKey(button);
});

addEventListener("pagehide", () => {
  for (const secret of document.querySelectorAll("[data-secret]")) secret.textContent = "";
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && document.querySelector("[data-secret]")) {
    // reload() would send the form again whose answer this page is.
    location.replace(location.pathname + location.search);
  }
});
