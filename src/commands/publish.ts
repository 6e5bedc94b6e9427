/** `shelters publish`: a release to a folder or a bucket. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { offerRelease } from "../publish/offered.js";
import { type PublishPlan, planPublish } from "../publish/plan.js";
import { publish } from "../publish/publish.js";
import { openTarget } from "../publish/targets/index.js";
import { settle } from "../release/swap.js";
import { action, formatBytes, formatCount, options } from "./command.js";
import type { Reporter } from "./reporter.js";

interface PublishFlags {
  readonly target: string;
  readonly site: string;
  readonly plan?: boolean;
  readonly gzip?: boolean;
  readonly force?: boolean;
  readonly grace: number;
  readonly base?: string;
  readonly region: string;
  readonly endpoint?: string;
}

export function addPublish(program: Command): void {
  const run = action(runPublish);
  program
    .command("publish")
    .description("put a release to a folder or an S3-compatible store: content first, the manifest last")
    .argument("<target>", "a folder, or s3://bucket/prefix")
    .addOption(options.site())
    .option("--plan", "print what would be done, and do nothing")
    .addOption(
      new Option("--grace <time>", "how long what is no longer needed is kept: 0, 90m, 24h, 7d")
        .default(24 * 3_600_000, "24h")
        .argParser(parseTime),
    )
    .option("--base <address>", "address of the published copy, in front of the paths to purge")
    .option("--gzip", "store files gzipped under their plain names, for hosts that do not compress")
    .option("--force", "overwrite objects that were not published from here, and newer releases")
    .addOption(new Option("--region <name>", "region of the bucket").env("AWS_REGION").default("us-east-1"))
    .addOption(new Option("--endpoint <address>", "a store that is not Amazon's").env("AWS_ENDPOINT_URL_S3"))
    .addHelpText(
      "after",
      `
Credentials for a bucket come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile.

Examples:
  shelters publish --plan /var/www/shelters
  shelters publish s3://shelters/pyrenees --endpoint https://store.example.org --base https://shelters.example.org`,
    )
    .action((target: string, flags: Omit<PublishFlags, "target">, command: Command) =>
      run({ ...flags, target }, command),
    );
}

async function runPublish(flags: PublishFlags, reporter: Reporter): Promise<unknown> {
  const { site, gzip = false, force = false, grace, region, endpoint } = flags;
  settle(site);
  const target = await openTarget(flags.target, { site, region, endpoint });
  reporter.step("Comparing with the target");
  const release = await offerRelease(site, { gzip });
  const options = { release, target, force, grace, now: Date.now() };
  const onProgress = (done: number, of: number): void =>
    reporter.step(`Publishing: ${formatCount(done)} of ${formatCount(of)} objects`);
  const plan = flags.plan ? await planPublish(options) : await publish({ ...options, onProgress });
  const purge = plan.purge.map((path) => addressOf(path, flags.base));
  if (flags.plan) printPlan(plan, reporter);
  if (purge.length > 0 && (flags.plan || flags.base !== undefined)) printPurge(purge, reporter);
  const { generation, date } = release.manifest;
  const what = `generation ${generation}, data of ${date}, to ${target.title}`;
  reporter.line(`${flags.plan ? "Would publish" : "Published"} ${what}: ${countsOf(plan)}.`);
  const { stages, inventory: _, ...lists } = plan;
  const order = stages.flat().map(({ path }) => path);
  return { target: target.title, isDone: flags.plan !== true, generation, date, ...lists, order, purge };
}

function printPlan(plan: PublishPlan, reporter: Reporter): void {
  const added = new Set(plan.new);
  reporter.line("In this order (+ new, ~ changed, - deleted after the manifest):");
  for (const { path, bytes } of plan.stages.flat())
    reporter.line(`  ${added.has(path) ? "+" : "~"} ${path}  ${formatCount(bytes)} bytes`);
  for (const path of plan.deletable) reporter.line(`  - ${path}`);
  for (const path of plan.waiting) reporter.line(`  kept until the grace time is over: ${path}`);
}

function printPurge(purge: readonly string[], reporter: Reporter): void {
  reporter.line("To purge from caches:");
  for (const address of purge) reporter.line(`  ${address}`);
}

function countsOf(plan: PublishPlan): string {
  const bytes = plan.stages.flat().reduce((sum, object) => sum + object.bytes, 0);
  const counts = [
    `${formatCount(plan.new.length)} new`,
    `${formatCount(plan.changed.length)} changed (${formatBytes(bytes)} in all)`,
    `${formatCount(plan.unchanged.length)} unchanged`,
    `${formatCount(plan.deletable.length)} deleted`,
    `${formatCount(plan.waiting.length)} waiting to be deleted`,
  ];
  return counts.join(", ");
}

function addressOf(path: string, base: string | undefined): string {
  return base === undefined ? `/${path}` : `${base.replace(/\/+$/, "")}/${path}`;
}

const UNITS: Readonly<Record<string, number>> = { "": 1, s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 };

function parseTime(text: string): number {
  const match = /^(\d{1,6})([smhd])$|^0$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError("A time is 0, or an integer with s, m, h or d behind it.");
  return Number(match[1] ?? 0) * (UNITS[match[2] ?? ""] ?? 1);
}
