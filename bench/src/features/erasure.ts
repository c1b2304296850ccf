/** The erasure of an account with features, next to one without. */
import { LayerRunners } from "../../../packages/server/src/features/layer-runners.ts";
import { median } from "../median.ts";
import { print } from "../scene.ts";
import { type FeatureScene, REASON } from "./feature-scene.ts";
import { row } from "./table.ts";

/**
 * Erases accounts with and without features in turn.
 * @param events the number of events of each account.
 */
export async function measureErasure(scene: FeatureScene, events: number, rounds: number): Promise<void> {
  const { owner, drs } = scene;
  const runners = new LayerRunners({ budgetMs: 50 });
  const ratios: number[] = [];
  const eraseSeconds = async (account: string): Promise<number> => {
    const started = performance.now();
    await drs("erase", "run", "--account", account, ...REASON, "--yes", "--break-glass");
    return (performance.now() - started) / 1_000;
  };
  for (let round = 0; round < rounds; round++) {
    const [bare, full] = [`bare-${round}`, `full-${round}`];
    await scene.fill(2 * events, (event) => (event % 2 === 0 ? bare : full));
    await owner.query("delete from extraction_due");
    await scene.beginBackfill();
    await scene.runBackfills(runners);
    await owner.query("delete from feature_row where account = $1", [bare]);
    await owner.query("vacuum analyze");
    const seconds = [await eraseSeconds(bare), await eraseSeconds(full)] as const;
    print(JSON.stringify({ erasureSeconds: seconds }));
    ratios.push(seconds[1] / seconds[0]);
  }
  await runners.close();
  row(`erasure of an account of ${events} events, with features ÷ without`, median(ratios).toFixed(2), "≤ 1.5");
}
