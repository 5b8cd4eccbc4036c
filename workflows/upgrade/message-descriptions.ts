/** What the Temporal Web UI says of each Query; requests are described where they are decided. */
export const queryDescriptions = {
  task: "The Task of the upgrade, without the hosts of its clusters.",
  upgrade: "The upgrade with its phase, what it waits for and how many hosts are done.",
  request: "What became of a request: accepted or refused, and why. Input: its requestId, a JSON string.",
  activity: "Who has asked what of the upgrade, and what has happened to it.",
  taskWithChildren: "For the service itself: the Task, and the Workflows of its clusters.",
} as const;
