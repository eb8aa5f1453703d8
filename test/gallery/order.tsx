import { ButtonLink } from "../../src/ui/buttons";
import { OrderList, OrderPart, OrderRow } from "../../src/ui/list";
import { Section, StatusLabel } from "../../src/ui/blocks";

/** A list that can be reordered, and its read-only form. */
export function GalleryOrder({ path }: { path: string }) {
  const move = `${path}/move`;
  return (
    <Section title="An order">
      <OrderList action={path}>
        <OrderPart title="Without a group" emptyText="All components are in groups.">
          <OrderRow
            id="example-website"
            name="Website"
            href={path}
            moveAction={move}
            note={
              <p class="order-note">
                <StatusLabel status="major_outage" />
                <span>
                  because of the incident <a href={path}>Checkout fails for one customer in five</a>
                </span>
              </p>
            }
            actions={<ButtonLink href={path}>Set status</ButtonLink>}
          />
        </OrderPart>
        <OrderPart
          id="example-group"
          title="Europe"
          moveAction={move}
          actions={<ButtonLink href={path}>Edit</ButtonLink>}
          emptyText="No components yet."
        >
          {[]}
        </OrderPart>
      </OrderList>
      <OrderList>
        <OrderPart title="Only to read" emptyText="No components yet.">
          <OrderRow id="example-api" name="API" href={path} />
        </OrderPart>
      </OrderList>
    </Section>
  );
}
