import { expect } from "chai";
import { runConcurrently, alternate, median, percentile } from "../../../bench/measure";

describe("numbers of the benchmark", () => {
  it("gives the value below which a share lies, whatever the order", () => {
    const numbers = Array.from({ length: 100 }, (_, i) => 99 - i);
    expect(median(numbers)).to.equal(50);
    expect(percentile(numbers, 0.99)).to.equal(99);
    expect(percentile([7], 0.99)).to.equal(7);
    expect(median([])).to.be.NaN;
    expect(numbers[0], "the numbers stay as they were").to.equal(99);
  });

  it("runs the given number at a time, and each once", async () => {
    let [working, most] = [0, 0];
    const seen: number[] = [];
    const { each } = await runConcurrently(10, 3, async (index) => {
      most = Math.max(most, ++working);
      await new Promise((resume) => setImmediate(resume));
      seen.push(index);
      working -= 1;
    });
    expect(most).to.equal(3);
    expect(seen.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 10 }, (_, i) => i));
    expect(each).to.have.length(10);
  });

  it("starts every other round with the reference", async () => {
    const order: string[] = [];
    const measured = await alternate(
      3,
      (round) => Promise.resolve(order.push(`ours ${round}`)),
      (round) => Promise.resolve(order.push(`reference ${round}`)),
    );
    expect(order).to.deep.equal(["ours 0", "reference 0", "reference 1", "ours 1", "ours 2", "reference 2"]);
    expect(measured.ours).to.deep.equal([1, 4, 5]);
    expect(measured.reference).to.deep.equal([2, 3, 6]);
  });
});
