import type { Client } from "@temporalio/client";
import type { Info } from "@temporalio/activity";
import { MockActivityEnvironment, type MockActivityEnvironmentOptions } from "@temporalio/testing";
import { withLease, type Lease } from "../../activities/drivers/lease";

/** An Activity's surroundings whose heartbeats Temporal answers: the Activity is never taken away from its worker. */
export function activityEnvironment(
  info: Partial<Info>,
  options: MockActivityEnvironmentOptions = {},
): MockActivityEnvironment {
  return new MockActivityEnvironment(
    { heartbeatTimeoutMs: 15_000, scheduledTimestampMs: Date.now(), ...info },
    { client: answeringClient, ...options },
  );
}

const answeringClient = {
  withAbortSignal: <A>(_signal: AbortSignal, call: () => Promise<A>) => call(),
  withDeadline: <A>(_deadline: number, call: () => Promise<A>) => call(),
  activity: { heartbeat: () => Promise.resolve() },
} as unknown as Client;

const lastingLease: Lease = {
  renew: () => Promise.resolve(),
  isValid: () => true,
  follow: () => undefined,
  lost: () => undefined,
};

/** A driver whose methods may change its component manager, without an Activity around them. */
export function leased<Driver extends object>(driver: Driver): Driver {
  return new Proxy(driver, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) =>
        withLease(lastingLease, () => Reflect.apply(member, target, args) as Promise<unknown>);
    },
  });
}
