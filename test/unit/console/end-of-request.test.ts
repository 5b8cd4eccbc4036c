import { once } from "node:events";
import { expect } from "chai";
import { endOfRequest } from "../../../src/console/model/end-of-request";

describe("endOfRequest", () => {
  it("comes by itself where nobody else ends the request", async () => {
    const { signal } = new AbortController();
    for (const request of [{}, { signal }]) {
      const end = endOfRequest(request, 5);
      await once(end, "abort");
      expect(end.reason).to.have.property("name", "TimeoutError");
    }
  });

  it("comes from its sender at once, and of an answer that goes on from nobody else", async () => {
    const sender = new AbortController();
    const [end, endless] = [
      endOfRequest({ signal: sender.signal }),
      endOfRequest({ signal: sender.signal, goesOn: true }, 1),
    ];
    await once(endOfRequest({}, 20), "abort");
    expect([end.aborted, endless.aborted]).to.deep.equal([false, false]);
    sender.abort();
    expect([end.aborted, endless.aborted]).to.deep.equal([true, true]);
  });
});
