import assert from 'node:assert/strict'
import type { FeeBasis } from '../src/fee-basis.ts'
import { type FeeSchedule, readSchedule } from '../src/schedule/read-schedule.ts'

/** Noon of the day after the embedded schedule's date, in microseconds. */
export const now = BigInt(Date.parse('2026-11-22T12:00:00Z')) * 1_000n

export const days = (count: number): bigint => BigInt(count) * 86_400_000_000n
export const seconds = (count: number): bigint => BigInt(count) * 1_000_000n

/** The embedded schedule with overrides. Fails with their faults if they have any. */
export function scheduleWith(overrides: unknown = {}, environment = {}): FeeSchedule {
  const read = readSchedule(overrides, environment)
  assert(read.ok, read.ok ? '' : read.faults.join('\n'))
  return read.schedule
}

/** The basis of quotes when the sample is accepted and no node has answered. */
export function basisWith(overrides: unknown = {}, changes: Partial<FeeBasis> = {}): FeeBasis {
  const schedule = scheduleWith(overrides)
  return { schedule, acceptsSample: true, costs: new Map(), prices: new Map(), ...changes }
}
