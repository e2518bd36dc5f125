import { largest, smallest } from '@bursar/base'
import type { CostModel } from '../../cost-model.ts'

/** An alarm is a log text about a figure that was reduced to its cap. */
export type Observation = { readonly model: CostModel; readonly alarms: readonly string[] }

export type Bounded = { readonly units: bigint; readonly alarms: readonly string[] }

/** Raises a figure to its floor, or reduces it to its cap with an alarm. */
export function bound(name: string, units: bigint, floor: bigint, cap: bigint): Bounded {
  const alarms = units > cap ? [`${name} is ${units}, above its cap ${cap}, which is used`] : []
  return { units: largest(floor, smallest(cap, units)), alarms }
}
