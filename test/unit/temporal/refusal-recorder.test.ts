import { expect } from "chai";
import type { RecordPayload } from "../../../src/domain/requests/upgrade-request";
import { RefusalRecorder } from "../../../src/temporal/refusal-recorder";
import type { RefusedRequest } from "../../../src/upgrades/ports";

const refused: RefusedRequest = {
  request: "pause",
  requestedBy: "ada",
  reason: { errorCode: "REQUEST_NOT_POSSIBLE", message: "The upgrade is already paused.", remediationMessage: "Wait." },
};
const short = { events: 100, bytes: 10_000 };

describe("Refusals that the API has upgrades record", () => {
  let now: number;
  let sent: [id: string, payload: RecordPayload][];
  let failing: boolean;
  let recorder: RefusalRecorder;
  beforeEach(() => {
    now = 0;
    sent = [];
    failing = false;
    recorder = new RefusalRecorder(
      (id, payload) => {
        sent.push([id, payload]);
        return failing ? Promise.reject(new Error("no connection")) : Promise.resolve();
      },
      () => now,
    );
  });

  it("tell who asked what, and the code and message of the reason", async () => {
    await recorder.record("u1", { ...refused, scheduledTimestamp: "2026-12-01T09:30:00.000Z" }, short);
    expect(sent).to.deep.equal([
      [
        "u1",
        {
          request: "pause",
          requestedBy: "ada",
          via: "HTTP",
          scheduledTimestamp: "2026-12-01T09:30:00.000Z",
          reason: { errorCode: "REQUEST_NOT_POSSIBLE", message: "The upgrade is already paused." },
        },
      ],
    ]);
  });

  it("go once in ten minutes of each caller, request, reason and upgrade", async () => {
    const differing: [string, RefusedRequest][] = [
      ["u1", refused],
      ["u2", refused],
      ["u1", { ...refused, requestedBy: "bob" }],
      ["u1", { ...refused, request: "resume" }],
      ["u1", { ...refused, reason: { ...refused.reason, errorCode: "RESOURCE_LOCKED" } }],
    ];
    for (let i = 0; i < 3; i++) for (const [id, one] of differing) await recorder.record(id, one, short);
    expect(sent).to.have.length(differing.length);
    now = 600_000;
    await recorder.record("u1", refused, short);
    expect(sent).to.have.length(differing.length + 1);
  });

  it("do not go into a long history", async () => {
    await recorder.record("u1", refused, { events: 10_001, bytes: 10_000 });
    expect(sent).to.deep.equal([]);
  });

  it("never fail the request, and go again where they were not sent", async () => {
    failing = true;
    await recorder.record("u1", refused, short);
    await recorder.record("u1", refused, short);
    expect(sent).to.have.length(2);
  });
});
