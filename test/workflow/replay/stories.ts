import { cancelStories } from "./stories/cancel";
import { checkStories } from "./stories/checks";
import { draftStories } from "./stories/draft";
import { failureStories } from "./stories/failure";
import { freezeStories } from "./stories/freeze";
import { holdStories } from "./stories/holds";
import { notificationStories } from "./stories/notifications";
import { operationStories } from "./stories/operations";
import { productStories } from "./stories/products";
import { readinessStories } from "./stories/readiness";
import { scopeStories } from "./stories/scope";
import { successStories } from "./stories/success";
import type { Story } from "./story";

/** Every story, by the name under which its histories are stored. */
export const stories: Readonly<Record<string, Story>> = {
  ...successStories,
  ...draftStories,
  ...failureStories,
  ...cancelStories,
  ...productStories,
  ...operationStories,
  ...notificationStories,
  ...freezeStories,
  ...scopeStories,
  ...holdStories,
  ...readinessStories,
  ...checkStories,
};
