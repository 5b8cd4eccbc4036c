import tseslint from "typescript-eslint";

const deepSdkPaths = {
  group: ["@temporalio/*/lib/*", "@temporalio/*/src/*"],
  message: "Files inside an SDK package move between its releases; import the package.",
};

const sentence = "/^(description|message)$/";
/** What is decided is data: a sentence may be reworded without changing what happens (docs/spec-gaps.md, "state as data"). */
const sentencesDecideNothing = [
  `CallExpression[callee.property.name=/^(startsWith|endsWith|includes|match|search)$/][callee.object.name=${sentence}]`,
  `CallExpression[callee.property.name=/^(startsWith|endsWith|includes|match|search)$/][callee.object.property.name=${sentence}]`,
  `CallExpression[callee.property.name=/^(test|exec)$/] > Identifier.arguments[name=${sentence}]`,
  `CallExpression[callee.property.name=/^(test|exec)$/] > MemberExpression.arguments[property.name=${sentence}]`,
].map((selector) => ({ selector, message: "Decide by a field, not by a sentence that is for people." }));

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "dist.*/",
      "coverage/",
      ".data/",
      "test/unit/types/errors/",
      "test/interop/third-party/client-generators/",
    ],
  },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A promise that nobody waits for loses its failure.
      "@typescript-eslint/no-floating-promises": "error",
      // Types must not pull in a module at run time: a Workflow would carry its Activities into the sandbox.
      "@typescript-eslint/consistent-type-imports": [
        "error",
        { fixStyle: "inline-type-imports", disallowTypeAnnotations: false },
      ],
      "@typescript-eslint/no-import-type-side-effects": "error",
      "no-restricted-imports": ["error", { patterns: [deepSdkPaths] }],
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "src/config.ts alone reads the environment." },
      ],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // The rest of the strict set that is taste: these read no better when they are obeyed.
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/no-meaningless-void-operator": "off",
      "@typescript-eslint/no-unnecessary-type-arguments": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      // io-ts codecs and Node's sockets are used by their shape, not by their constructor.
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      // The ports and Activities are records of functions, made to be taken apart.
      "@typescript-eslint/unbound-method": "off",
      "no-console": "error",
      "no-control-regex": "error",
      "no-constant-binary-expression": "error",
      "no-self-compare": "error",
      "no-unmodified-loop-condition": "error",
    },
  },
  {
    // These talk to the terminal of whoever started them.
    files: ["src/main.ts", "src/commands/start.ts", "bench/run-bench.ts", "bench/run-scale.ts"],
    rules: { "no-console": "off" },
  },
  {
    // io-ts tells a codec's parts as `any`, Koa the rest of the chain as `Promise<any>`.
    files: ["src/domain/codec.ts", "src/api/middleware/*.ts", "src/simulator/http/*.ts"],
    rules: {
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  // The command line is a program of its own, and this is its entry; the benchmark is told where its tools are.
  {
    files: ["src/config.ts", "src/cli/upgradectl.ts", "bench/benchmarks/start-time.ts", "bench/distant-api.ts"],
    rules: { "no-restricted-properties": "off" },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      "no-restricted-properties": "off",
      "@typescript-eslint/no-misused-spread": "off",
      // chai's assertions are properties.
      "@typescript-eslint/no-unused-expressions": "off",
      // A test may be sure of what it has arranged, and fails where it is wrong.
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/restrict-template-expressions": "off",
      "@typescript-eslint/no-base-to-string": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "@typescript-eslint/prefer-promise-reject-errors": "off",
      // Fakes keep the signatures of what they stand for.
      "@typescript-eslint/require-await": "off",
    },
  },
  {
    files: ["src/api/**/*.ts", "src/cli/**/*.ts", "src/console/**/*.{ts,tsx}", "workflows/**/*.ts"],
    rules: { "no-restricted-syntax": ["error", ...sentencesDecideNothing] },
  },
  {
    files: ["src/domain/**/*.ts"],
    rules: {
      // A worker loads the domain once for all its Workflows (scripts/bundle-workflows.mjs).
      "no-restricted-syntax": [
        "error",
        ...sentencesDecideNothing,
        {
          selector: ":matches(Program, ExportNamedDeclaration) > VariableDeclaration[kind!='const']",
          message: "All Workflows would share this state.",
        },
      ],
    },
  },
  {
    files: ["workflows/**/*.ts"],
    rules: {
      // A Workflow must take the same path when it is replayed years later.
      "no-restricted-globals": ["error", "process", "fetch", "Buffer", "performance", "crypto"],
    },
  },
  {
    // Only this file reads the time; it says why decisions may rely on it.
    files: ["workflows/**/*.ts"],
    ignores: ["workflows/clock.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: "Take now() or currentTime() of clock.ts." },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0], CallExpression[callee.name='Date']",
          message: "Take now() or currentTime() of clock.ts.",
        },
        ...sentencesDecideNothing,
      ],
    },
  },
  {
    // A replay may find the time before a local Activity where there was the time after it (docs/decisions/0036).
    files: ["workflows/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [deepSdkPaths],
          paths: [
            {
              name: "@temporalio/workflow",
              importNames: ["proxyLocalActivities", "scheduleLocalActivity"],
              message: "Workflows make decisions by the time, and local Activities advance it: use a regular Activity.",
            },
          ],
        },
      ],
    },
  },
);
