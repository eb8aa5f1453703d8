import { SCREEN_PARTS } from "../support/screens";
import { testScreens } from "../support/test-screens";

testScreens(SCREEN_PARTS.settings);
