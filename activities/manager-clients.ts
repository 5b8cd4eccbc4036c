import type { ComponentManagerAccess } from "./drivers/component-manager-access";
import { DriverError } from "./drivers/driver-error";

interface Client {
  close(): Promise<void>;
}

/**
 * The clients of one kind of component manager by its id: one, and so one set of connections and one session, for as
 * long as its access stays the same. Throws DriverError where the inventory does not know the id.
 */
export function managerClients<C extends Client>(
  componentManager: (id: string) => ComponentManagerAccess | undefined,
  create: (access: ComponentManagerAccess) => C,
): (id: string) => C {
  const clients = new Map<string, { readonly access: ComponentManagerAccess; readonly client: C }>();
  return (id) => {
    const access = componentManager(id);
    if (!access) throw unknownComponentManager(id);
    const known = clients.get(id);
    if (known && isSame(known.access, access)) return known.client;
    const client = create(access);
    clients.set(id, { access, client });
    void known?.client.close();
    return client;
  };
}

function isSame(a: ComponentManagerAccess, b: ComponentManagerAccess): boolean {
  return a.url === b.url && a.username === b.username && a.password === b.password;
}

function unknownComponentManager(id: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "COMPONENT_MANAGER_UNKNOWN",
    message: `The inventory has no component manager ${id}.`,
    remediation: "Put the component manager back into the inventory, or start a new upgrade.",
  });
}
