// Prints a Task, whose JSON comes on the standard input: a line for each part with its status, and its errors.
import { text } from "node:stream/consumers";

const task = JSON.parse(await text(process.stdin));
show(task, "");

function show({ status, name, description, message, errors = [], stages = [], subTasks = [] }, indent) {
  // What is no Task is an error of the service.
  const doing = status === "IN_PROGRESS" && description !== name ? `: ${description}` : "";
  console.log(`${indent}${status ?? "ERROR"} ${name ?? message}${doing}`);
  for (const error of errors) console.log(`${indent}  ! ${error.message}`);
  // Nothing of what has not begun is worth a line.
  if (status === "PENDING") return;
  for (const part of [...stages, ...subTasks]) show(part, `${indent}  `);
}
