import { expect } from "chai";
import { connectProblem } from "../../../src/temporal/worker";

describe("connectProblem", () => {
  it("tells what the operating system said, not the engine's own values around it", () => {
    for (const [raw, told] of [
      [
        'tonic::transport::Error(Transport, ConnectError(ConnectError("tcp connect error", 127.0.0.1:1, Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })))',
        "Connection refused",
      ],
      [
        'tonic::transport::Error(Transport, ConnectError(ConnectError("dns error", Custom { kind: Uncategorized, error: "failed to lookup address information: Name or service not known" })))',
        "failed to lookup address information: Name or service not known",
      ],
      ["tonic::transport::Error(Transport, hyper::Error(Http2))", "no connection"],
      ["Request unauthorized.", "Request unauthorized."],
    ])
      expect(connectProblem(new Error(raw))).to.equal(told);
  });
});
