import { largest, smallest } from '../../../values/bounds.ts'
import type { CostModel } from '../../models/cost-model.ts'

/** What one look at a node gave. Alarms are sentences for the log: figures that were cut to their cap. */
export type Observation = { readonly model: CostModel; readonly alarms: readonly string[] }

export type Bounded = { readonly units: bigint; readonly alarms: readonly string[] }

/** Never under the floor, and never over the cap without saying so. */
export function bound(name: string, units: bigint, floor: bigint, cap: bigint): Bounded {
  const alarms = units > cap ? [`${name} is ${units}, above its cap ${cap}, which is used`] : []
  return { units: largest(floor, smallest(cap, units)), alarms }
}
