import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { hashPassword, readUsersFile } from "../../../src/authentication/users";

describe("the users file", () => {
  const folder = mkdtempSync(join(tmpdir(), "users-file-"));
  const file = join(folder, "users.yaml");
  let hash: string;
  before(async () => (hash = await hashPassword("a password of somebody")));
  after(() => rmSync(folder, { recursive: true }));

  function problems(content: string): readonly string[] {
    writeFileSync(file, content);
    const read = readUsersFile(file);
    return E.isLeft(read) ? read.left : [];
  }

  it("holds users with their roles", () => {
    writeFileSync(file, `users:\n  - username: alice\n    role: OPERATOR\n    password: ${hash}\n`);
    const users = readUsersFile(file);
    if (E.isLeft(users)) throw new Error(users.left.join(" "));
    expect([...users.right.keys()]).to.deep.equal(["alice"]);
    expect(users.right.get("alice")).to.include({ username: "alice", role: "OPERATOR" });
  });

  it("tells everything that is wrong, by place and field, and repeats no password", () => {
    const content = `users:
  - {username: "", role: ROOT, password: a password that is not hashed}
  - {username: bob, role: viewer, password: '${hash}'}
  - {username: alice, role: ADMIN, password: '${hash}'}
  - {username: alice, role: VIEWER, password: '${hash}'}
`;
    const found = problems(content);
    expect(found.map((problem) => problem.split(" ")[0])).to.deep.equal([
      "users[0].username",
      "users[0].role",
      "users[0].password",
      "users[1].role",
      "users[3]:",
    ]);
    expect(found.join()).to.not.contain("not hashed").and.not.contain(hash);
  });

  it("is refused where it is no YAML, has no users or cannot be read", () => {
    expect(problems("users: [\n")).to.have.length(1);
    expect(problems(`users:\n  - password: "${hash}\n`).join()).to.not.contain(hash);
    expect(problems("")).to.deep.equal(["It needs a list named users."]);
    expect(problems("users: []")).to.deep.equal(["It has no user."]);
    const missing = readUsersFile(join(folder, "nowhere.yaml"));
    expect(E.isLeft(missing) && missing.left[0]).to.contain("ENOENT");
  });
});
