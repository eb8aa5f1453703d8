import { Elysia } from "elysia";
import { conflict } from "../../errors";
import { setPublicAddress } from "../../features/settings";
import { actorOf, formBody, operation, seeOther, session, sessionOf } from "../../http";
import { Actions, Button, Form, FormErrors, PageHead, TextField } from "../../ui";
import {
  type Complaints,
  complaintsOrThrow,
  NO_COMPLAINTS,
  statusOf,
  wording,
} from "../form-errors";
import { type AdminParts, screen } from "../parts";
import type { ScreenRequest } from "../screens";

const GENERAL_PATH = "/admin/settings/general";
const LABELS = { public_address: "Public address" };

/** Settings → General: what holds for the whole installation. For owners. */
export function generalScreens({ ctx, admissions, screens, flashes }: AdminParts) {
  const MAY_MANAGE = session("owner");
  const isFixed = ctx.config.baseUrl !== undefined;

  function show(at: ScreenRequest, address: string, complaints = NO_COMPLAINTS) {
    return screens.show(at, {
      title: "General",
      status: statusOf(complaints),
      children: <General address={address} complaints={complaints} isFixed={isFixed} />,
    });
  }

  return new Elysia({ prefix: GENERAL_PATH })
    .use(admissions.plugin)
    .get(
      "",
      async ({ request, admission }) => show({ request, admission }, ctx.baseUrl),
      operation(screen("The settings of the installation", MAY_MANAGE)),
    )
    .post(
      "",
      async ({ request, admission, body: form }) => {
        if (isFixed)
          throw conflict("The public address is set by --base-url or ALLCLEAR_BASE_URL.");
        const address = form.text("public_address").trim();
        try {
          await ctx.db.write((tx) => setPublicAddress(ctx, tx, address, actorOf(admission)));
        } catch (error) {
          return show({ request, admission }, address, complaintsOrThrow(error));
        }
        const text = "The public address was changed.";
        flashes.put(sessionOf(admission).id, { tone: "success", text });
        return seeOther(GENERAL_PATH);
      },
      { ...formBody(), ...operation(screen("Change the public address", MAY_MANAGE)) },
    );
}

function General(props: { address: string; complaints: Complaints; isFixed: boolean }) {
  const { address, complaints, isFixed } = props;
  const wrong = wording(complaints, LABELS);
  return (
    <>
      <PageHead title="General" />
      {isFixed ? (
        <p>
          The public address is <code>{address}</code>. It is set by <code>--base-url</code> or{" "}
          <code>ALLCLEAR_BASE_URL</code>, so it cannot be changed here.
        </p>
      ) : (
        <Form action={GENERAL_PATH}>
          <FormErrors errors={wrong.all} />
          <TextField
            label={LABELS.public_address}
            name="public_address"
            type="url"
            value={address}
            hint="Such as https://status.example.com, without a path. Links are built from it. Going over to HTTPS signs everybody out."
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
