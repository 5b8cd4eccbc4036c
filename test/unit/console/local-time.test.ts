import { expect } from "chai";
import { exactTime, formatTime } from "../../../src/console/model/local-time";

const now = Date.parse("2026-12-01T12:00:00Z");
const timeZone = "Asia/Kolkata";

describe("the console's times", () => {
  it("are local or UTC, with the day only where it is not today's", () => {
    const times = ["2026-12-01T09:05:00Z", "2026-12-02T09:05:00Z", "2027-01-02T09:05:00Z"].map(Date.parse);
    const shown = (display: "LOCAL" | "UTC") => times.map((at) => formatTime(at, { display, now, timeZone }));
    expect(shown("LOCAL")).to.deep.equal(["14:35", "2 Dec, 14:35", "2 Jan 2027, 14:35"]);
    expect(shown("UTC")).to.deep.equal(["09:05 UTC", "2 Dec, 09:05 UTC", "2 Jan 2027, 09:05 UTC"]);
    // 20:00 UTC is the next day in India.
    expect(formatTime(Date.parse("2026-12-01T20:00:00Z"), { display: "LOCAL", now, timeZone })).to.equal(
      "2 Dec, 01:30",
    );
  });

  it("are relative where they are asked for so", () => {
    expect(formatTime(now - 180_000, { display: "RELATIVE", now })).to.equal("3 min ago");
  });

  it("are exact with zone and UTC", () => {
    expect(exactTime(Date.parse("2026-12-01T09:05:07Z"), timeZone)).to.match(
      /^1 Dec 2026, 14:35:07 \S+ \(2026-12-01 09:05:07 UTC\)$/,
    );
  });

  it("say UTC once where that is the zone of the browser", () => {
    expect(exactTime(Date.parse("2026-12-01T09:05:07Z"), "UTC")).to.equal("1 Dec 2026, 09:05:07 UTC");
  });
});
