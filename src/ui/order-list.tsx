import type { ComponentChildren } from "preact";
import { safeHref } from "./buttons";
import { ORDERING_SCRIPT } from "./assets";

interface OrderListProps {
  /**
   * Path that a new order is posted to: `fields`, then one `item` per id in the new order, each part
   * before its rows. Without it the list is read-only.
   */
  action?: string | undefined;
  fields?: Readonly<Record<string, string>>;
  /** `OrderPart`s. */
  children: ComponentChildren;
}

/**
 * List whose order can be changed by buttons. A script adds handles to drag, or to move with Alt and the
 * arrow keys, and announces each change to screen readers.
 */
export function OrderList({ action, fields = {}, children }: OrderListProps) {
  if (action === undefined) return <div class="order">{children}</div>;
  return (
    <div
      class="order"
      data-order={safeHref(action)}
      data-order-fields={JSON.stringify(fields)}
      data-order-hint="Drag a handle to change the order, or press Alt with the up or down arrow key on it."
    >
      <p class="hint order-status" role="status" data-order-status hidden />
      {children}
      <script type="module" src={ORDERING_SCRIPT} />
    </div>
  );
}

interface OrderPartProps {
  /** Id of a part that can be moved as a whole. */
  id?: string;
  /** Title above the rows. A part without a title comes first. */
  title?: string;
  actions?: ComponentChildren;
  /** Path that the part's move buttons post to. */
  moveAction?: string | undefined;
  /** Text shown without rows. */
  emptyText: string;
  /** `OrderRow`s. */
  children: ComponentChildren;
}

/** Part of an `OrderList`, with its rows. */
export function OrderPart(props: OrderPartProps) {
  const { id, title, moveAction, actions, emptyText, children } = props;
  const isMovable = id !== undefined && moveAction !== undefined;
  return (
    <section
      class="card order-part"
      id={id}
      data-order-part
      data-order-item={isMovable ? id : undefined}
      data-order-name={isMovable ? title : undefined}
    >
      {title === undefined ? null : (
        <header class="order-head">
          {isMovable ? <Handle name={title} /> : null}
          <h2 class="order-text">{title}</h2>
          <div class="order-actions">
            {isMovable ? <MoveButtons action={moveAction} name={title} /> : null}
            {actions}
          </div>
        </header>
      )}
      <ul data-order-list>{children}</ul>
      <p class="order-empty muted">{emptyText}</p>
    </section>
  );
}

interface OrderRowProps {
  id: string;
  name: string;
  href: string;
  /** Note after the name. */
  note?: ComponentChildren;
  actions?: ComponentChildren;
  moveAction?: string | undefined;
}

/** Row of an `OrderPart`. */
export function OrderRow({ id, name, href, note, actions, moveAction }: OrderRowProps) {
  return (
    <li
      class="order-row"
      id={id}
      data-order-item={moveAction === undefined ? undefined : id}
      data-order-name={moveAction === undefined ? undefined : name}
    >
      {moveAction === undefined ? null : <Handle name={name} />}
      <div class="order-text">
        <a class="order-name" href={safeHref(href)}>
          {name}
        </a>
        {note}
      </div>
      <div class="order-actions">
        {moveAction === undefined ? null : <MoveButtons action={moveAction} name={name} />}
        {actions}
      </div>
    </li>
  );
}

function Handle({ name }: { name: string }) {
  return (
    <button class="order-handle" type="button" hidden data-order-handle aria-label={`Move ${name}`}>
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M5 2h2v2H5ZM9 2h2v2H9ZM5 7h2v2H5ZM9 7h2v2H9ZM5 12h2v2H5ZM9 12h2v2H9Z" />
      </svg>
    </button>
  );
}

const DIRECTIONS = [
  { value: "up", word: "up", path: "M8 3l5 5-1.4 1.4L9 6.8V13H7V6.8L4.4 9.4 3 8Z" },
  { value: "down", word: "down", path: "M8 13L3 8l1.4-1.4L7 9.2V3h2v6.2l2.6-2.6L13 8Z" },
] as const;

function MoveButtons({ action, name }: { action: string; name: string }) {
  return (
    <form class="order-move" method="post" action={safeHref(action)}>
      {DIRECTIONS.map(({ value, word, path }) => (
        <button
          key={value}
          class="button quiet"
          name="direction"
          value={value}
          title={`Move ${word}`}
          aria-label={`Move ${name} ${word}`}
          data-order-move={value}
        >
          <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d={path} />
          </svg>
        </button>
      ))}
    </form>
  );
}
