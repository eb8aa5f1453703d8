import { CheckboxList } from "../../ui";
import type { Field } from "../forms/field";

/** Screen data of the field: webhooks that get the events of selected monitors. */
export interface WebhooksContext {
  webhooks: readonly { id: string; name: string }[];
}

/** Field for the webhooks that get the events of this monitor; hidden without any for selected monitors. */
export function webhooksField(): Field<readonly string[], string[], WebhooksContext> {
  const label = "Webhooks";
  return {
    label,
    initial: [],
    read: (sent, name) => sent.all(name),
    // Sorted, so that a form with the same webhooks changes nothing.
    toBody: (ids) => ids.toSorted(),
    fromStored: (ids) => ids,
    Input({ name, value, errors, context: { webhooks } }) {
      if (webhooks.length === 0 && errors[name] === undefined) return null;
      return (
        <CheckboxList
          legend={label}
          name={name}
          hint="Webhooks for selected monitors that get the events of this one. Those for all monitors are not listed."
          error={errors[name]}
          options={webhooks.map((webhook) => ({
            value: webhook.id,
            label: webhook.name,
            isChecked: value.includes(webhook.id),
          }))}
        />
      );
    },
  };
}
