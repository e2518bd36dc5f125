import { Type } from 'typebox'
import { about, uuidMember } from '../../contract/members.ts'
import { sandboxOperation } from '../../contract/sandbox-operation.ts'
import { momentMember, snapshotField } from './members.ts'

const view = {
  name: 'SandboxSnapshot',
  schema: Type.Object(
    {
      id: about('Identifier of the snapshot.', uuidMember),
      created_at: momentMember('When it was saved, by the clock of the sandbox.'),
    },
    { description: 'The whole state of the sandbox at one moment.' },
  ),
}

const problems = { 404: { description: 'The sandbox has no such snapshot.' } }

export const createSandboxSnapshot = sandboxOperation({
  id: 'createSandboxSnapshot',
  summary:
    'Saves the whole state: customers, records, clients, fees, faults, and how far the clock is moved.',
  tag: 'Snapshots',
  method: 'POST',
  path: '/sandbox/snapshots',
  status: 201,
  problems: { 409: { description: 'There are as many snapshots as may be. Delete one.' } },
  view,
})

export const restoreSandboxSnapshot = sandboxOperation({
  id: 'restoreSandboxSnapshot',
  summary:
    'Restores the whole state, for every customer. The lists of requests stay as they are. A snapshot can be restored again.',
  tag: 'Snapshots',
  method: 'POST',
  path: '/sandbox/snapshots/:id/restore',
  parameters: { id: snapshotField },
  status: 200,
  problems,
  view,
})

export const deleteSandboxSnapshot = sandboxOperation({
  id: 'deleteSandboxSnapshot',
  summary: 'Deletes a snapshot. The state of the sandbox stays as it is.',
  tag: 'Snapshots',
  method: 'DELETE',
  path: '/sandbox/snapshots/:id',
  parameters: { id: snapshotField },
  status: 204,
  problems,
})
