import { expect } from "chai";
import stringWidth from "string-width";
import { table } from "../../../src/cli/text";

const headings = ["ID", "STATUS", "NAME", "ENDED"];
const rows = [
  ["0b8f6c1e", "DRAFT", "Upgrade 東京-cluster-01 to 9.0.2", "2036-01-06"],
  ["1c9f7d2e", "INPROGRESS", "Upgrade b", "-"],
];
const room = { elastic: ["NAME"], optional: ["ENDED"] };

describe("table", () => {
  it("puts cells below their headings, whatever their characters are wide", () => {
    const lines = table(headings, rows);
    const column = (line: string, word: string) => stringWidth(line.slice(0, line.indexOf(word)));
    expect(column(lines[1]!, "2036-01-06")).to.equal(column(lines[0]!, "ENDED"));
    expect(lines[2]).to.match(/^1c9f7d2e {2}INPROGRESS {2}Upgrade b +-$/);
  });

  it("cuts what may be cut, then leaves out what may be left out, then takes a line for each cell", () => {
    const at = (columns: number) => table(headings, rows, { ...room, columns });
    for (const columns of [60, 50, 36])
      expect(
        at(columns).every((line) => stringWidth(line) <= columns),
        at(columns).join("\n"),
      ).to.equal(true);
    expect(at(50)[0]).to.contain("ENDED");
    expect(at(50)[1]).to.contain("…").and.to.contain("2036-01-06");
    expect(at(36)[0]).to.not.contain("ENDED");
    expect(at(30)).to.deep.equal([
      "ID      0b8f6c1e",
      "STATUS  DRAFT",
      "NAME    Upgrade 東京-cluster-01 to 9.0.2",
      "ENDED   2036-01-06",
      "",
      "ID      1c9f7d2e",
      "STATUS  INPROGRESS",
      "NAME    Upgrade b",
      "ENDED   -",
    ]);
  });

  it("cuts nothing where there is no terminal", () => {
    expect(table(headings, [["1", "2", "x".repeat(500), "4"]], room).join()).to.contain("x".repeat(500));
  });
});
