import { expect } from "chai";
import {
  beginUnder,
  type Closures,
  whyClosed,
  findHeldHosts,
  ClosureError,
  lookAtClosure,
} from "../../../activities/closure-check";
import { type Lease, requireLease, withLease } from "../../../activities/drivers/lease";
import type { Hold, HoldTarget } from "../../../src/domain/hold";
import type { Freeze } from "../../../src/domain/freeze";
import type { Opening } from "../../../src/domain/opening";
import { ManualClock } from "../../support/manual-clock";
import { rejectionOf } from "../../support/rejection-of";

const freeze: Freeze = { reason: "Storage is lost.", frozenBy: "alice", since: "2026-12-01T01:12:00.000Z" };

describe("A request that begins something", () => {
  let clock: ManualClock;
  let frozen: readonly Freeze[];
  let holds: readonly Hold[];
  let asked: readonly HoldTarget[];
  let looks: number;
  let opening: Opening;
  let renewal: () => void;
  let isOurs: boolean;
  beforeEach(() => {
    opening = { isOpen: true };
    [holds, asked] = [[], []];
    [clock, frozen, looks, renewal, isOurs] = [new ManualClock(), [], 0, () => undefined, true];
  });

  const lease: Lease = {
    renew: () => Promise.resolve(renewal()),
    isValid: () => isOurs,
    follow: () => undefined,
    lost: () => undefined,
  };
  const closures: Closures = {
    readFreezes: () => ((looks += 1), Promise.resolve(frozen)),
    readHolds: (targets) => ((asked = targets), Promise.resolve(holds)),
    openingOf: () => opening,
  };
  /** Sends requests as the connection does, with what `between` does right before each is written; gives how many were sent. */
  function begin(answers: readonly { status: number }[], between: () => void = () => undefined): Promise<number> {
    let sent = 0;
    return withLease(lease, () =>
      beginUnder(
        closures,
        [{ domain: "fra1" }],
        clock,
      )(async () => {
        for (const answer of answers) {
          const held = requireLease("test");
          await held.renew();
          between();
          if (!held.isValid()) return sent;
          sent += 1;
          const change = Promise.resolve(answer);
          held.follow(change);
          await change;
        }
        return sent;
      }),
    );
  }

  it("is sent while nothing is frozen", async () => {
    expect(await begin([{ status: 200 }])).to.equal(1);
  });

  it("is not sent while something is, and says who and why", async () => {
    frozen = [freeze];
    const error = await rejectionOf(begin([{ status: 200 }]));
    expect(error).to.be.instanceOf(ClosureError);
    expect((error as ClosureError).body).to.deep.include({
      errorCode: "FROZEN",
      message: "alice froze all upgrades at 2026-12-01T01:12:00.000Z: Storage is lost.",
    });
  });

  it("is not sent where that cannot be read", async () => {
    const unreadable = () => Promise.reject(new Error("Temporal is away"));
    const work = () =>
      beginUnder({ ...closures, readFreezes: unreadable }, [], clock)(() => requireLease("test").renew());
    const error = await rejectionOf(withLease(lease, work));
    expect((error as ClosureError).body.errorCode).to.equal("FREEZE_UNREADABLE");
  });

  it("is not sent outside of the maintenance window, which is no freeze", async () => {
    opening = { isOpen: false, because: "OUTSIDE_MAINTENANCE_WINDOW", id: "saturdays", opensAt: 1_796_504_400_000 };
    const error = await rejectionOf(begin([{ status: 200 }]));
    expect((error as ClosureError).body).to.include({
      errorCode: "OUTSIDE_MAINTENANCE_WINDOW",
      message: "Outside maintenance window saturdays. It begins at 2026-12-05T21:00:00.000Z.",
    });
    frozen = [freeze];
    expect(((await rejectionOf(begin([{ status: 200 }]))) as ClosureError).body.errorCode).to.equal("FROZEN");
  });

  it("is not sent while its cluster or one of its hosts is held, and a freeze is told before it", async () => {
    const common = { clusterId: "c-1", clusterName: "cl-1", reason: "Storage", placedBy: "alice" };
    const held: Hold = { ...common, since: "2026-12-01T01:12:00.000Z" };
    holds = [{ ...held, hostId: "host-1", hostName: "esx-1" }, held];
    const of = async () => {
      const place = { domain: "fra1", clusters: ["c-1"] };
      const error = await whyClosed(closures, [place], { cluster: "c-1", hosts: ["host-1", "host-2"] });
      return error?.errorCode;
    };
    expect(await of()).to.equal("RESOURCE_HELD");
    expect(asked).to.deep.equal([
      { clusterId: "c-1" },
      { clusterId: "c-1", hostId: "host-1" },
      { clusterId: "c-1", hostId: "host-2" },
    ]);
    holds = holds.slice(0, 1);
    expect(await of()).to.equal("HOST_HELD");
    frozen = [freeze];
    expect(await of()).to.equal("FROZEN");
  });

  it("is not sent where holds cannot be read", async () => {
    const readHolds = () => Promise.reject(new Error("Temporal is away"));
    const look = () =>
      beginUnder(
        { ...closures, readHolds },
        [{ domain: "fra1", clusters: ["c-1"] }],
        clock,
      )(() => requireLease("test").renew());
    const error = await rejectionOf(withLease(lease, look));
    expect((error as ClosureError).body.errorCode).to.equal("FREEZE_UNREADABLE");
    const found = await rejectionOf(findHeldHosts({ readHolds }, { cluster: "c-1", hosts: ["host-1"] }));
    expect((found as ClosureError).body.errorCode).to.equal("FREEZE_UNREADABLE");
  });

  it("is not written when the window has closed since its look, and is not sent then", async () => {
    const close = () => {
      opening = { isOpen: false, because: "OUTSIDE_MAINTENANCE_WINDOW", id: "saturdays" };
    };
    expect(await begin([{ status: 200 }], close)).to.equal(0);
    expect(await rejectionOf(begin([{ status: 200 }]))).to.be.instanceOf(ClosureError);
  });

  it("is not written when its look is older than 3 s, however long the process was frozen or a connection was waited for", async () => {
    expect(await begin([{ status: 200 }], () => clock.pass(2_900))).to.equal(1);
    expect(await begin([{ status: 200 }], () => clock.pass(3_000))).to.equal(0);
  });

  it("looks after the lease was renewed, which may take as long as Temporal is away", async () => {
    renewal = () => {
      frozen = [freeze];
    };
    expect(await rejectionOf(begin([{ status: 200 }]))).to.be.instanceOf(ClosureError);
  });

  it("needs the lease of its Activity as well", async () => {
    isOurs = false;
    expect(await begin([{ status: 200 }])).to.equal(0);
  });

  it("is looked at again after one that was refused, and not after one that was accepted", async () => {
    const pass = () => {
      frozen = [freeze];
      clock.pass(2_000);
    };
    expect(await rejectionOf(begin([{ status: 503 }, { status: 200 }], pass))).to.be.instanceOf(ClosureError);
    [frozen, looks] = [[], 0];
    expect(await begin([{ status: 200 }, { status: 200 }, { status: 200 }], pass)).to.equal(3);
    expect(looks).to.equal(1);
  });
});

describe("The wait for the end of a freeze", () => {
  it("fails, to be tried again, as long as the freeze is the same one", async () => {
    const look = (known?: string, frozen = [freeze]) =>
      lookAtClosure(
        {
          readFreezes: () => Promise.resolve(frozen),
          readHolds: () => Promise.resolve([]),
          openingOf: () => ({ isOpen: true }),
        },
        { places: [], ...(known !== undefined && { known }) },
      );
    const { error } = await look();
    const known = error?.message ?? "";
    expect(await rejectionOf(look(known))).to.deep.include({ type: "FROZEN", nonRetryable: false });
    expect((await look(known, [{ ...freeze, reason: "Another" }])).error?.message).to.contain("Another");
    expect(await look(known, [])).to.deep.equal({});
  });
});
