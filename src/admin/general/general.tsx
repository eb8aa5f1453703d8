import { Actions, Button, Form, ErrorSummary, PageHead, TextField } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { GENERAL_PATH } from "../paths";

const LABELS = { public_address: "Public address" };

/** Settings → General: settings of the whole installation. */
export function General(props: { address: string; complaints: Complaints; isFixed: boolean }) {
  const { address, complaints, isFixed } = props;
  const wrong = wording(complaints, LABELS);
  return (
    <>
      <PageHead title="General" />
      {isFixed ? (
        <p>
          The public address is <code>{address}</code>. The address is set by{" "}
          <code>--base-url</code> or <code>ALLCLEAR_BASE_URL</code>, so it cannot be changed here.
        </p>
      ) : (
        <Form action={GENERAL_PATH}>
          <ErrorSummary errors={wrong.all} />
          <TextField
            label={LABELS.public_address}
            name="public_address"
            type="url"
            value={address}
            hint="For example https://status.example.com, without a path. Links use this address. Switching to HTTPS signs out all users. If a wrong address keeps you out, start the server with --base-url."
            error={wrong.about("public_address")}
            autocomplete="off"
            required
          />
          <Actions>
            <Button kind="primary">Save address</Button>
          </Actions>
        </Form>
      )}
    </>
  );
}
