import type { UserResource } from "../../features/users/model";
import { DialogForm } from "../../ui/form";
import { keyPath, userPath } from "../../ui/frame/paths";

/** Asks before a user is disabled, naming the API keys that keep working. */
export function DisableUser(props: {
  title: string;
  user: UserResource;
  keys: readonly { id: string; name: string }[];
}) {
  const { title, user, keys } = props;
  return (
    <DialogForm
      title={title}
      action={`${userPath(user.id)}/disable`}
      button="Disable user"
      isDanger
      cancelHref={userPath(user.id)}
    >
      <p>
        The user is signed out on all devices and can no longer sign in. You can enable the user
        again.
      </p>
      {keys.length > 0 ? (
        <>
          <p>These API keys of the user keep working until they are revoked:</p>
          <ul class="plain-list">
            {keys.map((key) => (
              <li key={key.id}>
                <a href={keyPath(key.id)}>{key.name}</a>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </DialogForm>
  );
}
