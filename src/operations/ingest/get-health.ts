import { Type } from 'typebox'
import { ingestCall } from '../../contract/ingest-operation.ts'
import { about, enumMember } from '../../contract/members.ts'

export const getHealth = ingestCall({
  id: 'getHealth',
  title: 'Read the health of the process',
  summary:
    'Returns what this process knows of its parts: the store and its servers, damage, credentials, and the sources of fees.',
  tag: 'Health',
  method: 'GET',
  path: '/ingest/v1/health',
  scope: 'ingest:read_health',
  view: {
    name: 'Health',
    schema: Type.Object(
      {
        status: about('Whether the process can answer customers.', enumMember(['ready', 'failed'])),
        checks: about(
          'Each part with its status, and with details that depend on the part.',
          Type.Record(
            Type.String(),
            Type.Object({ status: Type.String() }, { additionalProperties: true }),
          ),
        ),
      },
      { description: 'The health of a process.' },
    ),
  },
})
