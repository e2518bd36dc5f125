import {
  type Background,
  type Clock,
  type Config,
  ConfigError,
  jsonFault,
  type Logger,
  listed,
  openBackground,
  readTextFile,
  repeatedMembers,
} from '@bursar/base'
import { causesWithoutFee, describeNetworks, offeredPairs } from '../describe-schedule.ts'
import { causeInWords, type FeeBasis } from '../fee-basis.ts'
import type { Environment } from '../schedule/document-parts.ts'
import { type FeeSchedule, type ReadSchedule, readSchedule } from '../schedule/read-schedule.ts'
import type { FeeEvent } from './fee-event.ts'
import { openFeeRefresher } from './fee-refresher.ts'

/** The basis of quotes, refreshed in the background. */
export type Fees = {
  current(): FeeBasis
  /** Warns if no fee can be quoted. A start that is refused need not say so. */
  warnWithoutFee(): void
  /** Reads the operator's document again. Logs its faults, and then keeps the old schedule. */
  reload(): void
  close(): void
}

export type FeesDeps = {
  readonly config: Pick<Config, 'feeSchedule' | 'acceptSampleFees'>
  readonly environment: Environment
  readonly clock: Clock
  readonly log: Logger
  readonly background?: Background
}

/** Reads the schedule and observes its nodes. Throws a ConfigError with the document's faults. */
export function openFees({
  config,
  environment,
  clock,
  log,
  background = openBackground(),
}: FeesDeps): Fees {
  const acceptsSample = config.acceptSampleFees
  const report = (event: FeeEvent) => log[isGood(event) ? 'info' : 'warn'](event, 'fee source')
  const schedule = scheduleOf(config.feeSchedule, environment)
  const refresher = openFeeRefresher({ schedule, acceptsSample, clock, report, background })
  const logSources = (level: 'debug' | 'info') => {
    for (const state of describeNetworks(refresher.current(), clock())) {
      log[level](state, 'fee source')
    }
  }
  const warnWithoutFee = () => {
    const { schedule } = refresher.current()
    const hasSources = Object.values(schedule.networks).some(({ endpoints }) => endpoints[0])
    // Sources have not answered yet. What they then say is logged as it comes.
    const causes = hasSources ? [] : causesWithoutFee(offeredPairs(refresher.current(), clock()))
    if (causes.length === 0) return
    log.warn(
      { causes },
      `no fee can be quoted: ${causes.map((cause) => causeInWords[cause]).join(', ')}; customers get 503 for every withdrawal until you set the fee schedule up (docs/fees.md)`,
    )
  }
  logSources('debug')
  return {
    current: () => refresher.current(),
    warnWithoutFee,
    reload: () => {
      const read = readScheduleFile(config.feeSchedule, environment)
      if (!read.ok) {
        const { faults } = read
        log.error({ faults }, 'the fee schedule has faults; the old one stays in force')
        return
      }
      refresher.replaceSchedule(read.schedule, acceptsSample)
      log.info('the fee schedule was read again')
      logSources('info')
      warnWithoutFee()
    },
    close: () => refresher.close(),
  }
}

function scheduleOf(path: string | undefined, environment: Environment): FeeSchedule {
  const read = readScheduleFile(path, environment)
  if (read.ok) return read.schedule
  throw new ConfigError(listed(read.faults.map((fault) => `${path}: ${fault}`)))
}

/** Reads the operator's document, or the embedded schedule where there is none. */
export function readScheduleFile(path: string | undefined, environment: Environment): ReadSchedule {
  if (path === undefined) return readSchedule({}, environment)
  const file = readTextFile(path)
  if ('fault' in file) return { ok: false, faults: [`the file ${file.fault}`] }
  try {
    const schedule: unknown = JSON.parse(file.text)
    // Of two prices of one asset, the last would count.
    const repeated = repeatedMembers(file.text, schedule)
    if (repeated.length > 0) {
      return { ok: false, faults: repeated.map((member) => `${member} is given twice`) }
    }
    return readSchedule(schedule, environment)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { ok: false, faults: [`the file is not JSON: ${jsonFault(error)}`] }
  }
}

/** Events that need no attention: a source has recovered. */
const isGood = (event: FeeEvent): boolean =>
  event.event === 'node-recovered' ||
  event.event === 'price-source-recovered' ||
  (event.event === 'source-changed' && event.to === 'live')
