import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { endHolds, heldMembers, holdValues, passOn, selectValues } from '../schema/held-values.ts'
import { heldTable } from '../schema/tables.ts'
import { sameRecord } from './staging.ts'

/**
 * The order in which every merge holds values. It has locked its customers before, in the order of
 * their numbers, and ends holds after, when it waits for nobody any more. So a merge waits only for
 * one that is further on, and none waits in a circle.
 */
const IN_ORDER = 'value, member, sequence'

/** The statements of a merge over its staged records, which note values in the table `let_go`. */
export function heldStatements(resource: Resource, dialect: Dialect) {
  const { tableName } = dialect
  const brought = selectValues(heldMembers(resource, dialect, 'staged'), {
    from: 'staged',
    where: 'staged.id is not null',
    columns: ['staged.customer', 'staged.sequence', 'staged.line'],
  })
  const note = (rows: string) => `
    insert into let_go (member, value)
    select distinct member, value from (${rows}) as gone where true on conflict do nothing`
  const replaced = replacedValues(resource, dialect)
  const [end, pass] = [endHolds(resource, dialect), passOn(resource, dialect)]
  return {
    /** Holds the values of the staged records, after other merges that bring the same. */
    hold: holdValues(resource, dialect, brought, IN_ORDER),
    /** Leaves records out by a condition on their lines. */
    leaveOut: (isLeftOut: string): readonly string[] => [
      note(`
        select member, value from (${brought}) as brought where ${isLeftOut}
        union all select 'customer', customer_id from staged_line where ${isLeftOut}`),
      `delete from staged_line where ${isLeftOut}`,
    ],
    /** Ends what was held for them, and holds what others of the merge bring too for these. */
    holdAgain: [
      end,
      holdValues(
        resource,
        dialect,
        `select brought.* from (${brought}) as brought join let_go
           on let_go.member = brought.member and let_go.value = brought.value`,
        IN_ORDER,
      ),
    ],
    /** Notes what the stored versions have, and the staged ones that replace them have not. */
    noteReplaced: replaced === '' ? undefined : note(replaced),
    /** Notes what the staged records take from other customers. */
    noteTaken: note(`
      select brought.member, brought.value
      from (${brought}) as brought cross join ${tableName(heldTable)} as held
      where held.kind = '${resource.kind}' and held.member = brought.member
        and held.value = brought.value and held.customer is distinct from brought.customer`),
    /** Settles who holds what was noted, once the records are stored. */
    settle: [
      end,
      pass,
      // The customers that were added for records that were left out.
      `delete from ${tableName('customer')} where changes = 0
         and id in (select value from let_go where member = 'customer' and value is not null)`,
    ],
  }
}

/** The values of stored versions that the staged ones lack. A record keeps its id. */
function replacedValues(resource: Resource, dialect: Dialect): string {
  const { tableName, indexedBy } = dialect
  const { table } = resource
  const others = heldMembers(resource, dialect, 'stored').slice(1)
  // Without a condition on the stored row alone, PostgreSQL begins with the few staged ones. The
  // values of a withdrawn version do no harm: nobody holds them.
  return others
    .map((member) =>
      selectValues([{ ...member, isHeld: 'true' }], {
        from: `staged cross join ${tableName(table)} as stored ${indexedBy(`${table}_by_id`)}`,
        where: `staged.id is not null and ${sameRecord(dialect)}
          and not (staged.deleted_at is null and ${member.isKept})`,
        columns: [],
      }),
    )
    .join(' union all ')
}
