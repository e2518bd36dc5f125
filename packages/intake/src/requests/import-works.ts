import {
  contractLimits,
  noneFound,
  type OperatorInput,
  type OperatorWork,
  problem,
} from '@bursar/contract'
import { doing, type Imports, type ImportsPart, positionId, positionOf } from '@bursar/records'
import { describeImport } from '../describe-import.ts'

/** The works over the imports. */
type ImportWorks = {
  readonly list: OperatorWork
  readonly get: OperatorWork
  readonly cancel: OperatorWork
}

export function importWorks(imports: Imports): ImportWorks {
  return {
    list: async (input) => {
      const importsMax = Number(input.parameters.get('limit') ?? contractLimits.pageSizeDefault)
      // One more than is answered tells that there are more.
      const found = await imports.list({ ...partOf(input), importsMax: importsMax + 1 })
      const shown = found.slice(0, importsMax)
      input.trace.rows = shown.length
      const last = found.length > importsMax ? shown.at(-1) : undefined
      return {
        body: { imports: shown.map(describeImport) },
        next: last && positionOf(last.startedAt, last.id),
      }
    },
    get: async (input) => {
      const id = idOf(input)
      const found = await imports.find(id, input.caller.boundTo ?? undefined)
      if (found === undefined) throw noneFound('import', id)
      input.trace.rows = 1
      return { body: describeImport(found) }
    },
    cancel: async (input) => {
      const id = idOf(input)
      const deed = { action: 'cancel_import', ids: [id] } as const
      const cancelled = await doing(deed, () =>
        imports.cancel(id, input.caller.boundTo ?? undefined),
      )
      if (cancelled.outcome === 'unknown') throw noneFound('import', id)
      const { outcome, found } = cancelled
      if (outcome === 'ended') {
        const { state } = found
        throw problem('conflict', `the import has ended: it is ${state}`, { meta: { state } })
      }
      return { body: describeImport(found), deed }
    },
  }
}

const idOf = ({ parameters }: OperatorInput): string => String(parameters.get('id'))

function partOf({ caller, parameters, after }: OperatorInput): Omit<ImportsPart, 'importsMax'> {
  return {
    state: textOf(parameters.get('state')),
    kind: textOf(parameters.get('kind')),
    ofClientsOf: caller.boundTo ?? undefined,
    after: after && positionId(after),
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
