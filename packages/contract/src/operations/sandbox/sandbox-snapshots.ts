import { Type } from 'typebox'
import { contractLimits } from '../../limits.ts'
import { about, uuidMember } from '../../members.ts'
import { control, momentMember, snapshotField } from './sandbox-members.ts'

const snapshot = Type.Object(
  {
    id: about('Identifier of the snapshot.', uuidMember),
    created_at: momentMember('When it was saved, by the clock of the sandbox.'),
  },
  { description: 'The whole state of the sandbox at one moment.' },
)

const view = { name: 'SandboxSnapshot', schema: snapshot }

const answers = { 404: { description: 'The sandbox has no such snapshot.' } }

export const createSandboxSnapshot = control({
  id: 'createSandboxSnapshot',
  summary:
    'Saves the whole state: customers, records, clients, fees, faults, and how far the clock is moved.',
  tag: 'Snapshots',
  method: 'POST',
  path: '/sandbox/snapshots',
  answers: { 201: {}, 409: { description: 'There are as many snapshots as may be. Delete one.' } },
  view,
})

export const restoreSandboxSnapshot = control({
  id: 'restoreSandboxSnapshot',
  summary:
    'Restores the whole state, for every customer. The lists of requests stay as they are. A snapshot can be restored again.',
  tag: 'Snapshots',
  method: 'POST',
  path: '/sandbox/snapshots/:id/restore',
  parameters: { id: snapshotField },
  answers,
  view,
})

export const deleteSandboxSnapshot = control({
  id: 'deleteSandboxSnapshot',
  summary: 'Deletes a snapshot. The state of the sandbox stays as it is.',
  tag: 'Snapshots',
  method: 'DELETE',
  path: '/sandbox/snapshots/:id',
  parameters: { id: snapshotField },
  answers,
})

export const listSandboxSnapshots = control({
  id: 'listSandboxSnapshots',
  summary: 'Lists the snapshots that can be restored, oldest first.',
  tag: 'Snapshots',
  method: 'GET',
  path: '/sandbox/snapshots',
  view: {
    name: 'SandboxSnapshots',
    schema: Type.Object(
      {
        snapshots: about(
          'The snapshots, at most 20.',
          Type.Array(snapshot, { maxItems: contractLimits.sandboxSnapshotsMax }),
        ),
      },
      { description: 'Snapshots of the sandbox.' },
    ),
  },
})
