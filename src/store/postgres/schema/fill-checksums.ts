import { resources } from '../../../resources/catalogue.ts'
import { bodyChecksum } from '../../integrity/checksum.ts'
import type { Statement } from '../../session.ts'
import { maskedBody } from '../../sql/masked-body.ts'
import { recordTables } from '../../sql/schema/record-migrations.ts'
import { transact } from '../cluster/transaction.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { seeEveryRow } from './grants.ts'

/** Bodies in memory at a time: a few megabytes. */
const ROWS_PER_BATCH = 1000

/** A step that changes nothing: the run that applies it fills the checksums, as every run does. */
export const checksumFillStep = '-- The checksums of stored bodies; schema/fill-checksums.ts.\n'

/**
 * Computes the checksums that are missing, because PostgreSQL 15 has no CRC-32: those of a step
 * that added the column or changed bodies, and of an import by an earlier version that outlived a
 * migration. It runs as the owner of the tables, after the grants, whose policies show them the
 * rows. It commits in batches and locks no table. The next run resumes an interrupted one.
 */
export async function fillChecksums(owner: Connection): Promise<void> {
  for (const table of recordTables) {
    const customers = await customersOf(owner, {
      text: `select distinct customer_id from bursar.${table} where checksum is null`,
    })
    for (const customerId of customers) {
      await inBatches(owner, customerId, () => fillBatch(owner, table, customerId))
    }
  }
  await fillMasks(owner)
}

const customersOf = (owner: Connection, query: Statement): Promise<readonly string[]> =>
  transact(owner, async () => {
    await owner.execute(seeEveryRow)
    return (await owner.query(query)).map(([customerId]) => String(customerId))
  })

/** Fills batches, each in a transaction, while they are full. */
async function inBatches(owner: Connection, customerId: string, fill: () => Promise<number>) {
  let filled = ROWS_PER_BATCH
  while (filled === ROWS_PER_BATCH) {
    filled = await transact(owner, async () => {
      await owner.execute(seeEveryRow)
      await setTenant(owner, customerId)
      return await fill()
    })
  }
}

async function fillBatch(owner: Connection, table: string, customerId: string): Promise<number> {
  const rows = await owner.query({
    text: `select id::text, body from bursar.${table}
      where customer_id = $1 and checksum is null limit ${ROWS_PER_BATCH} for update`,
    values: [customerId],
  })
  const checksums = rows.map(([, body]) => String(bodyChecksum(customerId, body ?? '')))
  await owner.query({
    text: `update bursar.${table} as record set checksum = computed.checksum
      from unnest($2::uuid[], $3::bigint[]) as computed (id, checksum)
      where record.customer_id = $1 and record.id = computed.id`,
    values: [customerId, textArray(rows.map(([id]) => String(id))), textArray(checksums)],
  })
  return rows.length
}

/** Makes the masked form of replaced versions from before it was kept, in batches too. */
async function fillMasks(owner: Connection): Promise<void> {
  const kinds = resources.filter(({ mask }) => mask !== undefined).map(({ kind }) => kind)
  const customers = await customersOf(owner, {
    text: `select distinct customer_id from bursar.superseded
      where masked is null and kind = any($1::text[])`,
    values: [textArray(kinds)],
  })
  for (const tenant of customers) {
    await inBatches(owner, tenant, () => fillMaskBatch(owner, tenant, kinds))
  }
}

async function fillMaskBatch(owner: Connection, tenant: string, kinds: readonly string[]) {
  const rows = await owner.query({
    text: `select ctid::text, kind, body from bursar.superseded
      where customer_id = $1 and masked is null and kind = any($2::text[])
      limit ${ROWS_PER_BATCH} for update`,
    values: [tenant, textArray(kinds)],
  })
  const masked = rows.map(([, kind, body]) => maskedBody(String(kind), String(body)) ?? '')
  const checksums = masked.map((body) => String(bodyChecksum(tenant, body)))
  await owner.query({
    text: `update bursar.superseded as version set masked = made.body, masked_checksum = made.checksum
      from unnest($2::tid[], $3::text[], $4::bigint[]) as made (row_id, body, checksum)
      where version.customer_id = $1 and version.ctid = made.row_id`,
    values: [
      tenant,
      textArray(rows.map(([row]) => String(row))),
      textArray(masked),
      textArray(checksums),
    ],
  })
  return rows.length
}

/** The policy of customers lets the owner change the rows of the customer that is set. */
const setTenant = (owner: Connection, tenant: string) =>
  owner.query({ text: `select set_config('bursar.customer_id', $1, true)`, values: [tenant] })
