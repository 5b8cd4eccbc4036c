import type { ErrorBody } from "../../src/domain/errors";
import { approvalsWanted, isSamePerson, lacksApprovals } from "../../src/domain/requests/approvals";
import type { Approval, UpgradeApprovals as ToldApprovals } from "../../src/domain/spec/upgrade";

/** What one run of an upgrade hands to the next about its approvals. */
export interface CarriedApprovals {
  readonly given: readonly Approval[];
  readonly askers: readonly string[];
}

/** Thrown where something would begin and somebody has rejected the upgrade. */
export class Rejected extends Error {
  constructor(readonly reason: ErrorBody) {
    super(reason.message);
  }
}

/** The approvals of an upgrade. They are of its plan: a change of that drops them. */
export class Approvals {
  private given: readonly Approval[];
  private readonly asked: Set<string>;
  private rejection: ErrorBody | undefined;

  /** `required`: undefined where the upgrade needs none. `before`: of an earlier run. */
  constructor(
    private readonly required: number | undefined,
    createdBy: string | undefined,
    before?: CarriedApprovals,
  ) {
    this.given = before?.given ?? [];
    this.asked = new Set(before?.askers ?? (createdBy === undefined ? [] : [createdBy.slice(0, 255)]));
  }

  get carried(): CarriedApprovals {
    return { given: this.given, askers: this.askers };
  }

  /** What clients are told; undefined where the upgrade needs none. */
  get told(): ToldApprovals | undefined {
    if (this.required === undefined) return undefined;
    return {
      required: this.required,
      given: [...this.given],
      ...(this.asked.size > 0 && { askedBy: [...this.asked] }),
    };
  }

  get askers(): readonly string[] {
    return [...this.asked];
  }

  get areLacking(): boolean {
    return lacksApprovals(this.told);
  }

  /** What it lacks, in words of people; undefined where nothing. */
  get wanted(): string | undefined {
    return this.told && this.areLacking ? approvalsWanted(this.told) : undefined;
  }

  /** Somebody has asked for the upgrade as it is now: whose approval counts no more. */
  askedBy(name: string | undefined): void {
    if (name === undefined || this.required === undefined) return;
    this.asked.add(name);
    this.given = this.given.filter(({ by }) => !isSamePerson(by, name));
  }

  approve(approval: Approval): void {
    this.given = [...this.given, approval];
  }

  reject(reason: ErrorBody): void {
    this.rejection = reason;
  }

  get isRejected(): boolean {
    return this.rejection !== undefined;
  }

  throwIfRejected(): void {
    if (this.rejection) throw new Rejected(this.rejection);
  }

  /** The plan has changed. True where approvals were lost by that. */
  drop(): boolean {
    const hadSome = this.given.length > 0;
    this.given = [];
    return hadSome;
  }
}
