// Changes the order of lists by drag, keyboard and buttons without a new page.

/** Pause between two orders, which the rate limit counts. */
const PAUSE_MS = 500;
const EDGE = 72;
const SCROLL_STEP = 8;

const itemOf = (element) => element.closest("[data-order-item]");
const nameOf = (item) => item.dataset.orderName;
const isPart = (item) => item.matches("[data-order-part]");

function begin(order) {
  const status = order.querySelector("[data-order-status]");
  const sequence = () =>
    Array.from(order.querySelectorAll("[data-order-item]"), ({ dataset }) => dataset.orderItem);
  let isSaving = false;
  let isChanged = false;

  function say(text, isWrong = false) {
    status.textContent = text;
    status.classList.toggle("t-major", isWrong);
  }

  /** Sends the order, and later changes together. */
  async function save() {
    isChanged = true;
    if (isSaving) return;
    isSaving = true;
    while (isChanged) {
      isChanged = false;
      if (!(await send())) {
        isChanged = false;
        say("The order was not saved. Reload the page to see what is stored.", true);
        break;
      }
      if (!isChanged) say(`${status.textContent.replace(/ Saving…$/, "")} Saved.`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isSaving = false;
  }

  function form() {
    const body = new URLSearchParams(JSON.parse(order.dataset.orderFields));
    for (const id of sequence()) body.append("item", id);
    return body;
  }

  async function send() {
    const body = form();
    // Not cancelled by leaving the page, if short.
    const keepalive = `${body}`.length < 60_000;
    try {
      return (await fetch(order.dataset.order, { method: "POST", body, keepalive })).ok;
    } catch {
      return false;
    }
  }

  function announceAndSave(item) {
    say(`${nameOf(item)}: ${placeOf(order, item)}. Saving…`);
    void save();
  }

  function move(item, direction, focused) {
    if (!step(order, item, direction)) {
      say(`${nameOf(item)} is ${direction === "up" ? "first" : "last"} already.`);
      return;
    }
    // It lost the focus.
    focused.focus();
    announceAndSave(item);
  }

  order.addEventListener("keydown", (event) => {
    const handle = event.target.closest("[data-order-handle]");
    const direction = { ArrowUp: "up", ArrowDown: "down" }[event.key];
    if (!handle || !direction || !event.altKey) return;
    event.preventDefault();
    move(itemOf(handle), direction, handle);
  });

  order.addEventListener("click", (event) => {
    const button = event.target.closest("[data-order-move]");
    // A click also ends a drag.
    if (button || (event.detail && event.target.closest("summary")?.dragged))
      event.preventDefault();
    if (button) move(itemOf(button), button.dataset.orderMove, button);
  });

  order.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest("[data-order-handle]");
    if (!handle || event.button !== 0) return;
    handle.dragged = false;
    const before = sequence().join();
    drag(order, handle, event, (item) => {
      handle.focus();
      if (sequence().join() !== before) announceAndSave(item);
    });
  });

  addEventListener("pagehide", () => {
    if (isChanged) navigator.sendBeacon(order.dataset.order, form());
  });

  status.hidden = false;
}

/** Moves an item by one place, a row also into the next part. Returns false at the end. */
function step(order, item, direction) {
  const isUp = direction === "up";
  const next = neighbourOf(order, item, isUp);
  if (next) {
    if (isUp) next.before(item);
    else next.after(item);
    return true;
  }
  const list = isPart(item)
    ? undefined
    : nextOf(order, "[data-order-list]", item.parentElement, isUp);
  if (!list) return false;
  if (isUp) list.append(item);
  else list.prepend(item);
  return true;
}

function neighbourOf(order, item, isUp) {
  if (isPart(item)) return nextOf(order, "[data-order-part][data-order-item]", item, isUp);
  return isUp ? item.previousElementSibling : item.nextElementSibling;
}

function nextOf(order, selector, element, isUp) {
  const all = [...order.querySelectorAll(selector)];
  return all[all.indexOf(element) + (isUp ? -1 : 1)];
}

/** Returns the place of an item: "2 of 5 in Core". */
function placeOf(order, item) {
  const group = item.parentElement.closest("[data-order-item]");
  const siblings = isPart(item)
    ? [...order.querySelectorAll("[data-order-part][data-order-item]")]
    : [...item.parentElement.children];
  const where = group ? ` in ${nameOf(group)}` : "";
  return `${siblings.indexOf(item) + 1} of ${siblings.length}${where}`;
}

/** Drags an item. A mark shows its new place, and Escape cancels. */
function drag(order, handle, { pointerId, clientY }, dropped) {
  const item = itemOf(handle);
  const mark = document.createElement(isPart(item) ? "div" : "li");
  mark.className = "order-mark";
  const over = new AbortController();
  const { signal } = over;
  let y;

  function end(isDropped) {
    over.abort();
    item.classList.remove("is-dragged");
    if (isDropped && mark.isConnected) {
      mark.replaceWith(item);
      dropped(item);
    } else {
      mark.remove();
    }
  }

  function follow() {
    if (signal.aborted) return;
    if (y !== undefined) {
      const by = y < EDGE ? -SCROLL_STEP : y > innerHeight - EDGE ? SCROLL_STEP : 0;
      scrollBy(0, by);
      place(order, item, mark, y);
    }
    requestAnimationFrame(follow);
  }

  const on = (name, act) => handle.addEventListener(name, act, { signal });
  handle.setPointerCapture(pointerId);
  on("pointermove", (event) => {
    // A press that hardly moves opens the menu.
    if (y === undefined && Math.abs(event.clientY - clientY) < 5) return;
    y = event.clientY;
    item.classList.add("is-dragged");
    handle.parentElement.open = false;
    handle.dragged = true;
  });
  on("pointerup", (event) => {
    if (y !== undefined) place(order, item, mark, event.clientY);
    end(true);
  });
  on("pointercancel", () => end(false));
  addEventListener("keydown", (event) => event.key === "Escape" && end(false), { signal });
  follow();
}

/** Puts the mark at the item's place for this height of the window. */
function place(order, item, mark, y) {
  const { left, width } = order.getBoundingClientRect();
  const under = document.elementFromPoint(left + width / 2, y);
  const part = under?.closest("[data-order-part]");
  if (!part || !order.contains(part)) return;
  const row = under.closest("[data-order-item]");
  if (isPart(item)) {
    if (part.dataset.orderItem) putNextTo(part, mark, y);
  } else if (row && !isPart(row)) {
    putNextTo(row, mark, y);
  } else if (!under.closest("[data-order-list]")) {
    // Over a heading or the text of an empty part.
    part.querySelector("[data-order-list]").prepend(mark);
  }
}

function putNextTo(element, mark, y) {
  const { top, height } = element.getBoundingClientRect();
  if (y < top + height / 2) element.before(mark);
  else element.after(mark);
}

for (const order of document.querySelectorAll("[data-order]")) begin(order);
