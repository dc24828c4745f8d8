/**
 * How a database becomes one of this version. Migrations only go forward; one that was released never changes.
 *
 * @module
 */
import { CompiledQuery } from 'kysely'
import { type Migration } from 'kysely/migration'
import { NETWORK } from './0001-network.ts'
import { METERING } from './0002-metering.ts'
import { INVOCATIONS } from './0003-invocations.ts'
import { CONSENTS } from './0004-consents.ts'
import { AUTHORIZATION } from './0005-authorization.ts'

export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-network': of(NETWORK),
  '0002-metering': of(METERING),
  '0003-invocations': of(INVOCATIONS),
  '0004-consents': of(CONSENTS),
  '0005-authorization': of(AUTHORIZATION),
}

function of(statements: readonly string[]): Migration {
  return {
    up: async (database) => {
      for (const statement of statements) await database.executeQuery(CompiledQuery.raw(statement))
    },
  }
}
