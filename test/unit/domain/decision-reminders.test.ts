import { expect } from "chai";
import { nextReminder } from "../../../src/domain/notifications/decision-reminders";

const hour = 3_600_000;
const day = 24 * hour;

describe("nextReminder", () => {
  const at = (now: number, days = 7) => nextReminder({ since: 0, until: days * day }, now);

  it("comes each day, and for the last time four hours before the end", () => {
    const times: number[] = [];
    for (let next = at(0); next !== undefined; next = at(next)) times.push(next);
    expect(times).to.deep.equal([...[1, 2, 3, 4, 5, 6].map((n) => n * day), 7 * day - 4 * hour]);
  });

  it("is one that lies ahead where several have passed while no worker ran", () => {
    expect(at(3.5 * day)).to.equal(4 * day);
    expect(at(7 * day - hour)).to.equal(undefined);
  });

  it("comes once within a single day, and never where there is less time than eight hours", () => {
    expect(at(0, 1)).to.equal(20 * hour);
    expect(at(20 * hour, 1)).to.equal(undefined);
    expect(nextReminder({ since: 0, until: 7 * hour }, 0)).to.equal(undefined);
  });
});
