import { limitsOf } from '@bursar/base'
import { Type } from 'typebox'
import { described, flag, uuid } from '../../fields.ts'
import { about } from '../../members.ts'
import { control, customerField, kindField } from './sandbox-members.ts'

const limits = limitsOf({
  /** Records of one call of the sandbox: ten times its own, and held in memory whole. */
  sandboxRecordsBytesMax: 16 * 1024 * 1024,
})

const count = (description: string) => about(description, Type.Integer({ minimum: 0 }))

export const putSandboxRecords = control({
  id: 'putSandboxRecords',
  summary:
    'Adds and replaces records by the rules of `bursar import`. One fault, and nothing changes.',
  tag: 'Records',
  method: 'PUT',
  path: '/sandbox/records/:kind',
  parameters: { kind: kindField },
  query: {
    customer_id: described(
      customerField,
      'The customer of records without a `customer_id`. Naming another one is a fault.',
    ),
    allow_older: described(flag, 'Lets a record replace one that is newer.'),
  },
  body: {
    bytesMax: limits.sandboxRecordsBytesMax,
    tooLarge: 'The body has more than 16 MiB.',
  },
  answers: {
    400: {
      description:
        'A parameter or a record has a fault. `meta.errors` names line, member, code and reason of the first 100.',
    },
    404: { description: 'The sandbox has no such customer.' },
    409: {
      description:
        'Records conflict with what is stored, and none has another fault; `meta.errors` names the first 100.',
    },
  },
  view: {
    name: 'SandboxRecords',
    schema: Type.Object(
      {
        added: count('Records that are new.'),
        changed: count('Records that were replaced.'),
        unchanged: count('Records that were stored like this.'),
      },
      { description: 'What became of the records.' },
    ),
  },
})

export const deleteSandboxRecord = control({
  id: 'deleteSandboxRecord',
  summary:
    'Removes a record from every answer but the events, which show that it was deleted. To mark a fiat account as deleted, put it with `deleted_at`.',
  tag: 'Records',
  method: 'DELETE',
  path: '/sandbox/records/:kind/:id',
  parameters: { kind: kindField, id: described(uuid, 'The record’s identifier.') },
  answers: { 404: { description: 'There is no record of this kind with this id.' } },
})
