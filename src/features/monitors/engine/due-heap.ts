/** An item with a due time, in ms of the monotonic clock. */
export interface Due {
  dueAt: number;
  /** Position in the heap, set by the heap; -1 outside. */
  heapIndex: number;
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
    if (item.heapIndex < 0) {
      item.heapIndex = this.#items.length;
      this.#items.push(item);
    }
    this.#sink(item, this.#rise(item));
  }

  /** Removes an item, if it is in the heap. */
  remove(item: T): void {
    const { heapIndex } = item;
    if (heapIndex < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#put(last, heapIndex);
    this.#sink(last, this.#rise(last));
  }

  /** Moves an item up while it is due before its parent. Returns its position. */
  #rise(item: T): number {
    let { heapIndex } = item;
    while (heapIndex > 0) {
      const above = (heapIndex - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || parent.dueAt <= item.dueAt) break;
      this.#put(parent, heapIndex);
      heapIndex = above;
    }
    this.#put(item, heapIndex);
    return heapIndex;
  }

  /** Moves an item down while a child is due before it. */
  #sink(item: T, from: number): void {
    let heapIndex = from;
    for (;;) {
      const left = 2 * heapIndex + 1;
      const first = this.#earlier(left, left + 1);
      const child = this.#items[first];
      if (child === undefined || child.dueAt >= item.dueAt) break;
      this.#put(child, heapIndex);
      heapIndex = first;
    }
    this.#put(item, heapIndex);
  }

  #earlier(left: number, right: number): number {
    const a = this.#items[left];
    const b = this.#items[right];
    return a !== undefined && b !== undefined && b.dueAt < a.dueAt ? right : left;
  }

  #put(item: T, heapIndex: number): void {
    this.#items[heapIndex] = item;
    item.heapIndex = heapIndex;
  }
}
