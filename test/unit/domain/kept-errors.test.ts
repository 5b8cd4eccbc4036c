import { expect } from "chai";
import { keepErrors } from "../../../src/domain/task/task-progress";

describe("keepErrors", () => {
  const errors = (attempt: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ message: `${attempt} ${i}` }));

  it("keeps all errors of a few attempts, the oldest first", () => {
    const [first, second] = [errors("first", 3), errors("second", 2)];
    expect(keepErrors(first, second)).to.deep.equal([...first, ...second]);
  });

  it("keeps the latest attempt whole and the last of those before, however often it is tried", () => {
    let kept = errors("first", 256);
    for (const attempt of ["second", "third", "last"]) kept = keepErrors(kept, errors(attempt, 256));
    expect(kept).to.have.length(300);
    expect(kept.slice(-256)).to.deep.equal(errors("last", 256));
    expect(kept[0]).to.deep.equal({ message: "third 212" });
  });

  it("drops everything before an attempt that has more errors than are kept", () => {
    expect(keepErrors(errors("first", 10), errors("last", 400))).to.deep.equal(errors("last", 400));
  });
});
