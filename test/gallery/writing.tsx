import { Checkbox } from "../../src/ui/choices";
import { Fold, Section } from "../../src/ui/blocks";
import { Form, TextArea } from "../../src/ui/form";

/** Text areas and collapsed content. */
export function GalleryWriting({ path }: { path: string }) {
  return (
    <Section title="Writing">
      <Form action={path}>
        <TextArea
          label="Message"
          name="message"
          value="It is the **disk**."
          hint="What visitors should know now. Markdown."
        />
        <TextArea label="Reason" name="reason" error="is empty" />
        <Checkbox
          label="Send notifications"
          name="notify_people"
          hint="Sent to every subscribed channel."
          isChecked
        />
        <Checkbox label="I know" name="known" isChecked={false} error="is needed" />
        <Fold title="More">
          <TextArea label="Notes" name="notes" rows={2} />
        </Fold>
        <Fold title="Errors are visible" isOpen>
          <TextArea label="Post-mortem" name="long_text" value="" isLong />
        </Fold>
      </Form>
    </Section>
  );
}
