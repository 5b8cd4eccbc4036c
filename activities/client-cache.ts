import type { ComponentManagerAccess } from "./drivers/component-manager-access";
import { DriverError } from "./drivers/driver-error";

interface Client {
  close(): Promise<void>;
}

/**
 * One client, and so one session, per component manager, for as long as its access and what else it was made of stay
 * the same. Throws DriverError where the inventory does not know the manager.
 */
export function clientCache<C extends Client, E>(
  componentManager: (id: string) => ComponentManagerAccess | undefined,
  create: (access: ComponentManagerAccess, extra: E) => C,
) {
  const clients = new Map<string, { readonly madeOf: string; readonly client: C }>();
  return (id: string, extra: E): { readonly client: C; readonly access: ComponentManagerAccess } => {
    const access = componentManager(id);
    if (!access) throw unknownComponentManager(id);
    const { url, username, password } = access;
    const madeOf = JSON.stringify([url, username, password, extra]);
    const known = clients.get(id);
    if (known?.madeOf === madeOf) return { client: known.client, access };
    const client = create(access, extra);
    clients.set(id, { madeOf, client });
    void known?.client.close();
    return { client, access };
  };
}

function unknownComponentManager(id: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "COMPONENT_MANAGER_UNKNOWN",
    message: `The inventory has no component manager ${id}.`,
    remediation: "Put the component manager back into the inventory, or start a new upgrade.",
  });
}
