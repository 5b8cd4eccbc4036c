/** Where a value is within a JSON tree: names of fields and indexes of elements. */
export type FieldPath = readonly (string | number)[];

/** A path as errors of the service write it, such as `resourceUpgradeSpecs[0].resourceId`. */
export function writtenPath(path: FieldPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");
}

/** The path that was written so. Fields of the interface are never only digits. */
export function pathWritten(written: string): FieldPath {
  return [...written.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key));
}

/** The path without its last key. */
export function parentPath(written: string): string {
  return written.replace(/(?:^|\.)[^.[\]]*$|\[\d+\]$/, "");
}

/** The value at a path; undefined where the tree does not reach so far. */
export function valueAt(tree: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>(
    (value, key) => (isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    tree,
  );
}

/**
 * The tree with another value at a path; undefined takes the field or element away. Objects that are empty then go too:
 * a form shows none of them. A list stays, because an empty one may mean something.
 */
export function withValueAt(tree: unknown, [key, ...rest]: FieldPath, value: unknown): unknown {
  if (key === undefined) return value;
  if (typeof key === "number") {
    const list: readonly unknown[] = Array.isArray(tree) ? tree : [];
    const inner = rest.length === 0 ? value : (withValueAt(list[key], rest, value) ?? {});
    return inner === undefined
      ? list.filter((_, i) => i !== key)
      : key < list.length
        ? list.map((old, i) => (i === key ? inner : old))
        : [...list, inner];
  }
  const record = isTree(tree) && !Array.isArray(tree) ? tree : {};
  const { [key]: old, ...others } = record;
  const inner = withValueAt(old, rest, value);
  if (inner === undefined) return Object.keys(others).length === 0 ? undefined : others;
  // A field stays in its place, so that the request that is shown does not jump about.
  return old === undefined ? { ...others, [key]: inner } : { ...record, [key]: inner };
}

function isTree(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === "object" && value !== null;
}
