import type { ComponentManagerAccess } from "./drivers/component-manager-access";
import { DriverError } from "./drivers/driver-error";

interface Client {
  close(): Promise<void>;
}

/**
 * The clients of one kind of component manager by its id: one, and so one set of connections and one session, for as
 * long as its access stays the same, and the secrets that its client has to hide. A client that was given before is
 * closed when the access changes, with what is under way on it: ask for the client at each use. Throws DriverError where
 * the inventory does not know the id.
 */
export function managerClients<C extends Client>(
  componentManager: (id: string) => ComponentManagerAccess | undefined,
  create: (access: ComponentManagerAccess, secrets: readonly string[]) => C,
): (id: string, secrets?: readonly string[]) => C {
  const clients = new Map<string, { readonly madeOf: string; readonly client: C }>();
  return (id, secrets = []) => {
    const access = componentManager(id);
    if (!access) throw unknownComponentManager(id);
    const { url, username, password } = access;
    const madeOf = JSON.stringify([url, username, password, ...secrets]);
    const known = clients.get(id);
    if (known?.madeOf === madeOf) return known.client;
    const client = create(access, secrets);
    clients.set(id, { madeOf, client });
    void known?.client.close();
    return client;
  };
}

function unknownComponentManager(id: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "COMPONENT_MANAGER_UNKNOWN",
    message: `The inventory has no component manager ${id}.`,
    remediation: "Restore the component manager in the inventory, or start a new upgrade.",
  });
}
