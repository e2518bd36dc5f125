import { Type } from 'typebox'
import { described, numberOf, text } from '../../fields.ts'
import { contractLimits } from '../../limits.ts'
import { about } from '../../members.ts'
import { operation } from '../../operation.ts'
import { event } from '../list-events.ts'
import { origin } from './record-histories.ts'

const { latestChangesMax } = contractLimits

/** What has changed last, for a screen. The feed of programs is listChanges. */
export const listLatestChanges = operation({
  id: 'listLatestChanges',
  title: 'List the latest changes',
  summary:
    'Returns the newest changes of all customers, or of one, the newest first, each with who stored it and what an update changed. They have the order of their times. A client that is bound to a customer gets its changes.',
  tag: 'History',
  method: 'GET',
  path: '/ingest/v1/changes/latest',
  scope: 'ingest:read_history',
  query: {
    customer_id: described(text, 'Whose changes; those of all customers where it is absent.'),
    limit: described(
      numberOf(
        Type.Integer({
          format: 'int32',
          minimum: 1,
          maximum: latestChangesMax,
          default: latestChangesMax,
          reason: `must be between 1 and ${latestChangesMax}`,
        }),
      ),
      'How many changes to answer at most.',
    ),
  },
  view: {
    name: 'LatestChanges',
    schema: Type.Object(
      {
        changes: about(
          'The changes, the newest first.',
          Type.Array(
            Type.Object({
              customer_id: about('Whose record or fee it is.', Type.String()),
              ...event.schema.properties,
              origin,
              changed: Type.Optional(
                about(
                  'The members that an update changed; absent of other changes, and where the version before it is not kept.',
                  Type.Array(Type.String()),
                ),
              ),
              status_before: Type.Optional(
                about('The status before the update, where it changed it.', Type.String()),
              ),
              status_after: Type.Optional(
                about('The status after the update, where it changed it.', Type.String()),
              ),
            }),
            { maxItems: latestChangesMax },
          ),
        ),
      },
      { description: 'The newest changes.' },
    ),
  },
})
