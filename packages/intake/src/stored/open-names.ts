import { recordsLimits } from '@bursar/records'

/** Names of customers or records. With too many to keep, any name may be one of them. */
export function openNames() {
  const names = new Set<string>()
  const isFull = () => names.size === recordsLimits.faultsReportedMax
  return {
    add(name: string): void {
      if (!isFull()) names.add(name)
    },
    mayHave: (name: string): boolean => isFull() || names.has(name),
  }
}
