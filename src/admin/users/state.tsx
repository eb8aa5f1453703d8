import { stateOfUser } from "../../features/users/rules";
import type { UserResource } from "../../features/users/model";
import { State } from "../../ui/blocks";

/** State of a user: active, invited or disabled. */
export function UserState({ user }: { user: UserResource }) {
  const state = stateOfUser(user);
  switch (state) {
    case "active":
      return <State tone="ok">Active</State>;
    case "invited":
      return <State tone="none">Invited</State>;
    case "disabled":
      return (
        <State tone="none" isPaused>
          Disabled
        </State>
      );
  }
}
