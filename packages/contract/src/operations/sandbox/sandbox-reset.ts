import { Type } from 'typebox'
import { about } from '../../members.ts'
import { control } from './sandbox-members.ts'

export const sandboxReset = control({
  id: 'sandboxReset',
  summary: 'Deletes all records and fees, and restores the sample records and their clients.',
  tag: 'Reset',
  method: 'POST',
  path: '/sandbox/reset',
  view: {
    name: 'SandboxReset',
    schema: Type.Object(
      {
        records: about(
          'How many records of each kind there are.',
          Type.Record(Type.String(), Type.Integer()),
        ),
      },
      { description: 'What the sandbox holds after the reset.' },
    ),
  },
})
