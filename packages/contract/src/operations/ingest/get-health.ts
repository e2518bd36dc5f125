import { Type } from 'typebox'
import { about, enumMember, timestampMember } from '../../members.ts'
import { operation } from '../../operation.ts'

const job = Type.Object({
  name: about('What the job does; docs/running.md lists the names.', Type.String()),
  of: Type.Optional(
    about('The network, issuer, role or server, where a job runs for several.', Type.String()),
  ),
  every_s: about('The usual pause between two runs, in seconds.', Type.Number()),
  status: about(
    'How the last run ended. `waiting`: no run has ended yet.',
    enumMember(['waiting', 'ok', 'failed']),
  ),
  ran_at: Type.Optional(about('When the last run that has ended began.', timestampMember)),
  took_ms: Type.Optional(about('How long that run took, in milliseconds.', Type.Integer())),
  failing_since: Type.Optional(
    about('When the first of the failed runs began, if the last run failed.', timestampMember),
  ),
  next_at: Type.Optional(about('When the next run is due.', timestampMember)),
  running_since: Type.Optional(about('Since when a run goes on.', timestampMember)),
})

const minute = Type.Object({
  at: about('When the minute began.', timestampMember),
  count: about('How many requests were answered.', Type.Integer({ minimum: 0 })),
  failed: about('How many of them with a status of 500 or above.', Type.Integer({ minimum: 0 })),
})

export const getHealth = operation({
  id: 'getHealth',
  title: 'Read the health of the process',
  summary:
    'Returns what this process knows of its parts: the store and its servers, damage, credentials, the sources of fees, and the imports of the last hour. It also lists the jobs that the process runs on timers. Each worker answers for itself.',
  tag: 'Health',
  method: 'GET',
  path: '/ingest/v1/health',
  scope: 'ingest:read_health',
  view: {
    name: 'Health',
    schema: Type.Object(
      {
        status: about('Whether the process can answer customers.', enumMember(['ready', 'failed'])),
        pid: about('The process that answers.', Type.Integer()),
        checks: about(
          'Each part with its status, and with details that depend on the part.',
          Type.Record(
            Type.String(),
            Type.Object({ status: Type.String() }, { additionalProperties: true }),
          ),
        ),
        jobs: about('Each job that the process runs on a timer.', Type.Array(job)),
        requests: about(
          'What callers have sent to this process in the last hour, without health checks.',
          Type.Object({
            minutes: about(
              'Each minute since the first request, oldest first.',
              Type.Array(minute, { maxItems: 60 }),
            ),
          }),
        ),
      },
      { description: 'The health of a process.' },
    ),
  },
})
