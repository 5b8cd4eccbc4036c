import { expect } from "chai";
import { isLeft, isRight } from "fp-ts/Either";
import { json } from "../../../src/api/answer";
import { cancelledTaskExample, retriedTaskExample, taskExample } from "../../../src/api/openapi/examples";
import { taskJson } from "../../../src/api/task-json";
import { Task, type SubTask } from "../../../src/domain/task";
import { initialTask } from "../../../src/domain/task-progress";
import { clusters, samplePlan } from "../../support/sample-plan";

describe("a Task as JSON", () => {
  const begun = initialTask(samplePlan({ resources: clusters(3) }));
  const [prechecks, product] = begun.subTasks as [SubTask, SubTask];
  const textOf = (task: Task) => {
    const bytes = taskJson.toBytes(task);
    return isRight(bytes) ? bytes.right.toString() : bytes.left.message;
  };

  const tasks: Readonly<Record<string, Task>> = {
    "of an example": taskExample,
    cancelled: cancelledTaskExample,
    retried: retriedTaskExample,
    "of three clusters": begun,
    "without SubTasks": { ...begun, subTasks: [] },
    "whose SubTasks hold none": { ...begun, subTasks: [{ ...product, subTasks: [] }, prechecks] },
    "in a list, where it has none": (({ subTasks: _, ...header }) => header)(begun),
    "with what looks like JSON": {
      ...begun,
      name: '"subTasks":[]',
      errors: [{ message: '\\"subTasks":[]', context: { subTasks: "[]" } }],
    },
    "with text in other scripts": { ...begun, name: "Обновление 升级 🚀", subTasks: [{ ...product, name: "升级" }] },
    "with fields that nobody knows": {
      ...begun,
      own: 1,
      subTasks: [{ ...product, own: { subTasks: [] } } as SubTask],
    } as Task,
  };
  for (const [name, task] of Object.entries(tasks))
    it(`is the same ${name}`, () => {
      const expected = json(Task).toBytes(task);
      expect(textOf(task)).to.equal(isRight(expected) && expected.right.toString());
    });

  it("has what has changed, and what has not", () => {
    textOf(begun);
    const [first, ...others] = product.subTasks as [SubTask, ...SubTask[]];
    const changed = { ...product, subTasks: [{ ...first, description: "Upgrades its hosts." }, ...others] };
    const task: Task = { ...begun, status: "In Progress", subTasks: [prechecks, changed] };
    expect(JSON.parse(textOf(task))).to.deep.equal(task);
  });

  const wrong: Readonly<Record<string, unknown>> = {
    "the Task": { ...begun, status: "Done" },
    "its list of SubTasks": { ...begun, subTasks: {} },
    "a product": { ...begun, subTasks: [{ ...product, status: "Done" }] },
    "a resource": { ...begun, subTasks: [{ ...product, subTasks: [{ ...product.subTasks?.[0], name: 1 }] }] },
  };
  for (const [name, task] of Object.entries(wrong))
    it(`does not leave where ${name} is not valid`, () => {
      expect(isLeft(taskJson.toBytes(task as Task))).to.equal(true);
    });
});
