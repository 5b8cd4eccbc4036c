/** Where a text stops being JSON. `position` counts UTF-16 units from 0, `line` and `column` from 1. */
export interface JsonSyntaxError {
  readonly position: number;
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

type Expecting = "value" | "value or ]" | "key or }" | "key" | ":" | ", or ]" | ", or }" | "end";

const names: Record<Expecting, string> = {
  value: "a value",
  "value or ]": 'a value or "]"',
  "key or }": 'a field name in double quotes or "}"',
  key: "a field name in double quotes",
  ":": '":"',
  ", or ]": '"," or "]"',
  ", or }": '"," or "}"',
  end: "the end of the text",
};

const space = /[ \t\n\r]*/y;
// eslint-disable-next-line no-control-regex -- JSON strings hold no control characters
const plainCharacters = /[^"\\\u0000-\u001f]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Finds the first place where a text breaks the grammar of RFC 8259, or undefined where it is JSON. `JSON.parse`
 * tells that place in some of its messages only, and repeats the caller's text in others. jsonc-parser cannot
 * replace it: it recurses, and 10,000 of the 524,288 levels that fit into a body overflow its stack.
 */
export function findJsonSyntaxError(text: string): JsonSyntaxError | undefined {
  const open: ("[" | "{")[] = [];
  let expecting: Expecting = "value";
  let position = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = position;
    if (!pattern.test(text)) return false;
    position = pattern.lastIndex;
    return true;
  };
  const takeCharacter = (character: string): boolean => {
    if (text[position] !== character) return false;
    position += 1;
    return true;
  };
  // One expression for all of a string would need a stack as deep as the string has escapes.
  const takeString = (): boolean => {
    const start = position;
    if (!takeCharacter('"')) return false;
    do take(plainCharacters);
    while (take(escape));
    if (takeCharacter('"')) return true;
    position = start;
    return false;
  };
  const afterValue = (): Expecting => {
    const container = open.at(-1);
    if (!container) return "end";
    return container === "[" ? ", or ]" : ", or }";
  };
  const opened = (container: "[" | "{"): Expecting => {
    open.push(container);
    return container === "[" ? "value or ]" : "key or }";
  };
  const closed = (): Expecting => {
    open.pop();
    return afterValue();
  };
  const step = (): Expecting | undefined => {
    if (expecting === "key" || expecting === "key or }") {
      if (takeString()) return ":";
      return expecting === "key or }" && takeCharacter("}") ? closed() : undefined;
    }
    if (expecting === ":") return takeCharacter(":") ? "value" : undefined;
    if (expecting === ", or ]" || expecting === ", or }") {
      if (takeCharacter(",")) return expecting === ", or ]" ? "value" : "key";
      return takeCharacter(expecting === ", or ]" ? "]" : "}") ? closed() : undefined;
    }
    if (takeCharacter("[")) return opened("[");
    if (takeCharacter("{")) return opened("{");
    if (expecting === "value or ]" && takeCharacter("]")) return closed();
    return takeString() || take(scalar) ? afterValue() : undefined;
  };
  for (;;) {
    take(space);
    if (expecting === "end") return position === text.length ? undefined : located(text, position, names.end);
    const next = step();
    if (next === undefined) return located(text, position, names[expecting]);
    expecting = next;
  }
}

function located(text: string, position: number, expected: string): JsonSyntaxError {
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { position, line: before.split("\n").length, column: position - lineStart + 1, expected };
}

/** Whether lists and objects nest deeper than `limit` levels; a scalar has depth 0. Uses no recursion. */
export function isNestedDeeperThan(value: unknown, limit: number): boolean {
  let containers = [value].filter(isContainer);
  for (let depth = 1; containers.length > 0; depth += 1) {
    if (depth > limit) return true;
    containers = containers.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
