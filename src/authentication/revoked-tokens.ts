import { access, constants, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Which refresh tokens have been revoked before their time. `id` is the UUID in the token. */
export interface RevokedTokens {
  revoke(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
}

/**
 * Revocations as empty files of a folder, named by the token's id: they outlive the process, and every API process
 * that sees the folder knows of them, without a lock. Files are removed when their tokens have expired anyway.
 * Rejects where the folder cannot be written.
 */
export async function revokedTokens(folder: string, lifetimeHours: number): Promise<RevokedTokens> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  await removeExpired(folder, lifetimeHours);
  return {
    revoke: (id) => writeFile(join(folder, id), "", { mode: 0o600 }),
    has: async (id) => (await stat(join(folder, id)).catch(onlyMissing)) !== undefined,
  };
}

/** A folder that cannot be looked into must not read as "not revoked". */
function onlyMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

async function removeExpired(folder: string, lifetimeHours: number): Promise<void> {
  const oldest = Date.now() - lifetimeHours * 3_600_000;
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const revoked = await stat(file).catch(onlyMissing);
    // Several API processes may be doing the same.
    if (revoked?.isFile() && revoked.mtimeMs < oldest) await rm(file, { force: true });
  }
}
