/** An item with a due time, in ms of the monotonic clock. */
export interface Due {
  dueAt: number;
  /** Position in the heap, set by the heap; -1 outside. */
  place: number;
}

/**
 * Binary heap of due items, the earliest first. Items know their positions, so that each can be
 * moved.
 */
export class DueHeap<T extends Due> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  /** Adds an item, or moves it. */
  schedule(item: T, dueAt: number): void {
    item.dueAt = dueAt;
    if (item.place < 0) {
      item.place = this.#items.length;
      this.#items.push(item);
    }
    this.#sink(item, this.#rise(item));
  }

  /** Removes an item, if it is in the heap. */
  remove(item: T): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#put(last, place);
    this.#sink(last, this.#rise(last));
  }

  /** Moves an item up while it is due before its parent. Returns its position. */
  #rise(item: T): number {
    let { place } = item;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || parent.dueAt <= item.dueAt) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(item, place);
    return place;
  }

  /** Moves an item down while a child is due before it. */
  #sink(item: T, from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      const first = this.#earlier(left, left + 1);
      const child = this.#items[first];
      if (child === undefined || child.dueAt >= item.dueAt) break;
      this.#put(child, place);
      place = first;
    }
    this.#put(item, place);
  }

  #earlier(left: number, right: number): number {
    const a = this.#items[left];
    const b = this.#items[right];
    return a !== undefined && b !== undefined && b.dueAt < a.dueAt ? right : left;
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}
