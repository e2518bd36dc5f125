import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeAddress } from '../../packages/sandbox/src/encode-address.ts'
import { aDepositAddress } from '../../test/support/records.ts'
import { startProcess } from '../../test/support/server-process.ts'
import type { Row } from '../report.ts'
import { timed } from '../timed.ts'
import { customerOf, idOf, microsOf } from '../world.ts'

/** The store that the rows fill, and what bounds it. */
export type ImportTarget = {
  readonly env: Readonly<Record<string, string>>
  /** How the reference inserts the same rows into the same table with the same indexes. */
  readonly bulk: string
  /** Bytes of the store for each byte of the file, and milliseconds until a server is ready. */
  readonly goals: { readonly bytes: number; readonly startMs: number }
  /** Empties the store before an import. */
  reset(): void
  /** Rows a second of the reference. */
  bulkRate(): number
  /** Bytes of the deposit addresses with their indexes. */
  bytes(): number
}

type Imports = {
  readonly folder: string
  readonly records: number
  readonly target: ImportTarget
}

/** Imports of deposit addresses into an empty table, what they take, and the next start. */
export function importRows({ folder, records, target }: Imports): readonly Row[] {
  const file = join(folder, 'deposit-addresses.ndjson')
  const env = { ...target.env, LOG_LEVEL: 'silent' }
  let used = { seconds: 0, megabytes: 0 }
  const importAll = () => {
    target.reset()
    used = timed([process.execPath, 'dist/main.js', 'import', 'deposit-addresses', file], env)
    return used
  }
  const write = () => writeFileSync(file, addressLines(records))
  return [
    {
      name: `import of ${records} deposit addresses`,
      goal: 0.6,
      unit: '/s',
      reference: `/s ${target.bulk}`,
      measure: async (round) => {
        if (round === 0) write()
        const { seconds } = importAll()
        return { ours: records / seconds, theirs: target.bulkRate() }
      },
    },
    {
      name: 'bytes on disk',
      goal: target.goals.bytes,
      atMost: true,
      unit: 'MB',
      rounds: 1,
      reference: 'MB of NDJSON',
      measure: async () => ({ ours: target.bytes() / 1e6, theirs: statSync(file).size / 1e6 }),
    },
    {
      name: 'memory of an import',
      goal: 1,
      atMost: true,
      unit: 'MB',
      rounds: 1,
      reference: 'MB goal',
      measure: async () => ({ ours: used.megabytes, theirs: 250 }),
    },
    {
      name: 'start to ready',
      goal: 1,
      atMost: true,
      unit: 'ms',
      reference: 'ms goal',
      measure: async () => {
        const startedAt = performance.now()
        const service = await startProcess(['dist/main.js', 'serve'], {
          env: { ...env, PORT: '0' },
        })
        const { status } = await fetch(`${service.url}/readyz`)
        const ours = performance.now() - startedAt
        await service.stop()
        if (status !== 200) throw new Error(`/readyz answers ${status}`)
        return { ours, theirs: target.goals.startMs }
      },
    },
  ]
}

export function addressLines(records: number): string {
  const lines: string[] = []
  const payload = Buffer.alloc(32, 7)
  for (let at = 0; at < records; at += 1) {
    payload.writeUInt32BE(at)
    lines.push(
      JSON.stringify(
        aDepositAddress({
          id: idOf(at),
          customer_id: customerOf(at),
          ref_id: `ref-${at}`,
          address: encodeAddress('ETHEREUM', payload),
          profile_id: `profile-${at % 100}`,
          account_id: `account-${at % 1000}`,
          identity_id: `identity-${at % 1000}`,
          created_at: new Date(Number(microsOf(at) / 1000n)).toISOString(),
        }),
      ),
    )
  }
  return `${lines.join('\n')}\n`
}
