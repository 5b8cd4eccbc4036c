import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { splitLabel } from "../domain/spec/change-record";
import type { ToleratedFailures } from "../domain/spec/upgrade-spec";
import { timeExamples } from "./time-text";

/** How a request for an upgrade is given: as a file, or by these options. */
export interface RequestOptions {
  readonly file?: string;
  readonly like?: string;
  readonly cluster?: readonly string[];
  readonly to?: string;
  readonly at?: string;
  readonly hosts?: readonly string[];
  readonly excludeHosts?: readonly string[];
  readonly hostsAtOnce?: number;
  readonly soakSeconds?: number;
  readonly toleratedFailures?: ToleratedFailures;
  readonly skipFailedPrechecks?: true;
  readonly draft?: true;
  readonly ignoreMaintenanceWindow?: true;
  readonly reason?: string;
  readonly change?: string;
  readonly label?: readonly (readonly [name: string, value: string])[];
}

/** Adds the options of {@link RequestOptions} but `--draft`. */
export function withRequestOptions(command: Command): Command {
  return command
    .option("-f, --file <file>", "the request as JSON or YAML; - is standard input")
    .addOption(
      new Option("--like <upgrade>", "the same request as for this upgrade, without its times").conflicts([
        "file",
        "cluster",
        "to",
        "hosts",
        "excludeHosts",
        "skipFailedPrechecks",
        "hostsAtOnce",
        "soakSeconds",
        "toleratedFailures",
      ]),
    )
    .addOption(
      new Option("-c, --cluster <clusters>", "clusters by name or id, separated by commas")
        .argParser(separated)
        .conflicts("file"),
    )
    .addOption(
      new Option("--hosts <hosts>", "only these hosts of the cluster, by name or id, separated by commas")
        .argParser(separated)
        .conflicts(["file", "excludeHosts"]),
    )
    .addOption(
      new Option("--exclude-hosts <hosts>", "all hosts of the cluster but these, separated by commas")
        .argParser(separated)
        .conflicts("file"),
    )
    .addOption(
      new Option(
        "--hosts-at-once <n>",
        "hosts of a cluster out of service at once, at most what its rollout policy allows",
      )
        .argParser(wholeNumber)
        .conflicts("file"),
    )
    .addOption(
      new Option("--soak-seconds <n>", "seconds between hosts, at least what the rollout policy requires")
        .argParser(wholeNumber)
        .conflicts("file"),
    )
    .addOption(
      new Option(
        "--tolerated-failures <n or %>",
        "hosts of a cluster that may fail without stopping it, such as 2 or 10%, at most what its rollout policy allows",
      )
        .argParser((text: string): ToleratedFailures => (text.endsWith("%") ? text : wholeNumber(text)))
        .conflicts("file"),
    )
    .addOption(
      new Option(
        "--skip-failed-prechecks",
        "leave out clusters that fail their prechecks, upgrade the others",
      ).conflicts("file"),
    )
    .addOption(new Option("--to <bundle>", "bundle to upgrade to: version, name or id").conflicts("file"))
    .addOption(new Option("--at <time>", `begin at this time, such as ${timeExamples}`).conflicts("file"))
    .option(
      "--ignore-maintenance-window",
      "do not wait for maintenance windows and change freezes; needs --reason and the role ADMIN",
    )
    .option("--reason <text>", "why the upgrade is made, for people")
    .option("--change <id>", "id of the change record, such as CHG0012345")
    .option(
      "--label <name=value>",
      "a label; can be repeated",
      (text: string, before: LabelOptions | undefined): LabelOptions => [...(before ?? []), nameAndValue(text)],
    );
}

type LabelOptions = NonNullable<RequestOptions["label"]>;

/** A label as it is written on the command line. */
export function nameAndValue(text: string): LabelOptions[number] {
  const [name, value] = splitLabel(text);
  if (name === "" || value === "") throw new InvalidArgumentError("It is a label as NAME=VALUE.");
  return [name, value];
}

/** The values of an option that has commas between them, or is repeated. */
export function separated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(",")].map((one) => one.trim()).filter((one) => one !== "");
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It is a whole number.");
  return Number(text);
}
