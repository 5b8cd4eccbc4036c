import * as t from "io-ts";
import { canonicalId, DescribedType, IntegerBetween } from "../domain/codec";
import { NotificationType } from "../domain/notifications/upgrade-notification";
import { rolloutFields } from "../domain/spec/upgrade-spec";
import { Timestamp } from "../domain/timestamp";

/** What requests name: UUIDs are compared in lower case. */
const Id = new DescribedType<string>(
  "string",
  { type: "string" },
  t.string.is,
  (u, c) => (typeof u === "string" ? t.success(canonicalId(u)) : t.failure(u, c)),
  t.identity,
);

const ComponentManager = t.intersection([
  t.type({ id: t.string, type: t.keyof({ VCENTER: null, NSX: null }), url: t.string, username: t.string }),
  t.partial({ name: t.string, passwordFile: t.string, passwordVariable: t.string }),
]);

const Rollout = t.partial({ ...rolloutFields, healthGate: t.boolean });

/** How many persons have to approve upgrades of a domain, beside the one who asks for it. */
const Approvals = t.type({ required: IntegerBetween(0, 10, "approvals") });

const MaintenanceWindow = t.intersection([
  t.type({ id: t.string, timeZone: t.string, recurrence: t.string, start: t.string, duration: t.string }),
  t.partial({ lastStartBefore: t.string }),
]);

const ChangeFreeze = t.intersection([
  t.type({ id: t.string, from: Timestamp, until: Timestamp, reason: t.string }),
  t.partial({ domains: t.array(t.string) }),
]);

/** A check of the operators that upgrades ask. */
const OwnCheck = t.intersection([
  t.type({
    id: t.string,
    kind: t.keyof({ PROMETHEUS: null, ALERTMANAGER: null, WEBHOOK: null }),
    at: t.array(t.string),
    onFailure: t.keyof({ WAIT: null, PAUSE: null, FAIL: null }),
  }),
  t.partial({
    domains: t.array(t.string),
    timeoutSeconds: IntegerBetween(1, 60, "seconds"),
    intervalSeconds: IntegerBetween(5, 3600, "seconds"),
    url: t.string,
    urlFile: t.string,
    urlVariable: t.string,
    allowHttp: t.boolean,
    tokenFile: t.string,
    tokenVariable: t.string,
    query: t.string,
    condition: t.type({
      operator: t.keyof({ LT: null, LE: null, EQ: null, NE: null, GE: null, GT: null }),
      value: t.number,
    }),
    emptyPasses: t.boolean,
    filter: t.array(t.string),
    secretFile: t.string,
    secretVariable: t.string,
    decideMinutes: IntegerBetween(1, 10_080, "minutes"),
  }),
]);

/** Where hosts of baseline-managed clusters find what is to be installed. */
const Source = t.partial({ metadataUrls: t.array(t.string), vibUrls: t.array(t.string) });

const MailServer = t.intersection([
  t.type({ host: t.string }),
  t.partial({
    port: IntegerBetween(1, 65_535),
    tls: t.keyof({ STARTTLS: null, IMPLICIT: null, NONE: null }),
    allowPlaintext: t.boolean,
    username: t.string,
    passwordFile: t.string,
    passwordVariable: t.string,
  }),
]);

/** The inventory as it is written, before its references are followed (docs/configuration.md). */
export const InventoryContent = t.intersection([
  t.type({
    componentManagers: t.array(ComponentManager),
    domains: t.array(
      t.intersection([
        t.type({ id: t.string, platformVersion: t.string }),
        t.partial({ name: t.string, rollout: Rollout, approvals: Approvals, maintenanceWindow: t.string }),
      ]),
    ),
    clusters: t.array(
      t.intersection([
        t.type({
          resourceId: Id,
          name: t.string,
          domain: t.string,
          componentManager: t.string,
          cluster: t.string,
        }),
        t.partial({ rollout: Rollout, maintenanceWindow: t.string }),
      ]),
    ),
  }),
  t.partial({
    netvirtManagers: t.array(
      t.intersection([
        t.type({ resourceId: Id, name: t.string, domain: t.string, componentManager: t.string }),
        t.partial({ sans: t.array(t.string) }),
      ]),
    ),
    managementServers: t.array(
      t.intersection([
        t.type({ resourceId: Id, name: t.string, componentManager: t.string }),
        t.partial({
          sans: t.array(t.string),
          dnsServers: t.array(t.string),
          temporaryRootPasswordFile: t.string,
          temporaryRootPasswordVariable: t.string,
          answers: t.array(
            t.intersection([t.type({ item: t.string }), t.partial({ valueFile: t.string, valueVariable: t.string })]),
          ),
        }),
      ]),
    ),
    personalities: t.array(
      t.intersection([
        t.type({ id: Id, name: t.string, version: t.string }),
        t.partial({
          addOn: t.type({ name: t.string, version: t.string }),
          components: t.record(t.string, t.string),
        }),
      ]),
    ),
    isos: t.array(t.intersection([t.type({ id: Id, name: t.string, version: t.string }), Source])),
    notificationReceivers: t.array(
      t.intersection([
        t.type({ id: t.string }),
        t.partial({
          format: t.keyof({ CLOUDEVENTS: null, SLACK: null, TEAMS: null, EMAIL: null }),
          events: t.array(NotificationType),
          retryHours: IntegerBetween(1, 168, "hours"),
          url: t.string,
          urlFile: t.string,
          urlVariable: t.string,
          allowHttp: t.boolean,
          secretFile: t.string,
          secretVariable: t.string,
          smtp: MailServer,
          from: t.string,
          to: t.array(t.string),
        }),
      ]),
    ),
    maintenanceWindows: t.array(MaintenanceWindow),
    freezes: t.array(ChangeFreeze),
    checks: t.array(OwnCheck),
    patches: t.array(
      t.intersection([
        t.type({ version: t.string, metadataUrls: t.array(t.string) }),
        t.partial({ vibUrls: t.array(t.string) }),
      ]),
    ),
  }),
]);
export type InventoryContent = t.TypeOf<typeof InventoryContent>;
