import { openTimeSlices, paceOf } from '@bursar/base'
import {
  contractLimits,
  deleteSandboxRecord,
  noneFound,
  type OperatorWorks,
  problem,
  putSandboxRecords,
  resourceOf,
} from '@bursar/contract'
import {
  importEntries,
  readNdjson,
  recordRules,
  refusedRecords,
  requestReading,
} from '@bursar/intake'
import type { SandboxState } from '@bursar/records'
import type { ServiceParts } from '@bursar/server'
import type { Customers } from './control-customers.ts'

type RecordDeps = {
  readonly parts: Pick<ServiceParts, 'store' | 'config'>
  readonly state: SandboxState
  readonly customers: Customers
}

export function recordWorks({ parts, state, customers }: RecordDeps): OperatorWorks {
  const rules = recordRules(parts.config)
  const slices = openTimeSlices()
  return {
    [putSandboxRecords.id]: async ({ parameters, request }) => {
      const signal = request.left()
      const customerId = parameters.get('customer_id')
      if (typeof customerId === 'string') await customers.require(customerId)
      const report = await importEntries(
        parts.store,
        resourceOf(String(parameters.get('kind'))),
        readNdjson(chunksOf(request.body), requestReading(paceOf(slices, signal))),
        {
          dryRun: false,
          isInServer: true,
          signal,
          faultsMax: contractLimits.faultsAnsweredMax,
          allowOlder: parameters.get('allow_older') === true,
          expected: { mayBeEmpty: true },
          ...(typeof customerId === 'string' && { customerId }),
          rules,
        },
      )
      const { faults, faultCount } = report
      if (faultCount > 0) throw refusedRecords(faults, otherCustomer, report)
      if (report.records === 0) {
        throw problem('malformed', 'the body has no record; send one JSON object a line')
      }
      const { added, changed, unchanged } = report
      return { body: { added, changed, unchanged } }
    },
    [deleteSandboxRecord.id]: async ({ parameters }) => {
      const resource = resourceOf(String(parameters.get('kind')))
      const id = String(parameters.get('id'))
      if (await state.removeRecord(resource, id)) return {}
      throw noneFound(resource.noun, id)
    },
  }
}

const otherCustomer = 'must be the customer that customer_id names in the query'

async function* chunksOf(bytes: Buffer): AsyncIterable<Uint8Array> {
  yield bytes
}
