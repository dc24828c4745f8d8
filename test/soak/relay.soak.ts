import { describe, expect } from 'vitest'
import { Meeting } from '../e2e/brokered.ts'
import { MIB, pushPattern, readPattern } from '../e2e/pattern.ts'
import { residentBytes } from '../e2e/resident.ts'
import { it } from '../e2e/stage.ts'
import { relayedCaller } from '../faults/relayed-caller.ts'
import { record } from './record.ts'

const GIB = 1_024
const GIBIBYTES = 10
const BYTES = GIBIBYTES * GIB * MIB
/** After half of them the broker has in memory what it keeps of members that were there a while ago. */
const CONTACTS = 2_000
const HOURS = 3_600_000

describe('a relay that carries what members cannot send to each other directly', () => {
  it(`carries ${GIBIBYTES} GiB over one connection, to the byte, without ending it`, { timeout: 2 * HOURS }, async ({
    stage,
  }) => {
    const meeting = new Meeting(stage)
    const { agent: broker, address } = await meeting.broker({ CT_BROKER_HTTP_LISTEN: '127.0.0.1:0' })
    const receiver = await meeting.accept(address, {}, { ownStdout: true })
    const sender = meeting.initiate(address, {}, { ownStdout: true })
    receiver.end()
    let peak = 0
    const began = performance.now()
    await Promise.all([
      pushPattern(sender.child.stdin, BYTES, 1),
      readPattern(receiver.child.stdout, BYTES, 1, async () => {
        peak = Math.max(peak, await residentBytes(broker.pid))
      }),
    ])
    const seconds = (performance.now() - began) / 1_000
    const url = await broker.says(/(http:\S+)\/metrics/)
    const counted = await (await fetch(`${url}/metrics`)).text()
    const relayed = Number(/^ct_broker_relayed_connections_total (\d+)$/m.exec(counted)?.[1])
    record('bulk', {
      gibibytes: GIBIBYTES,
      relayedConnections: relayed,
      megabytesPerSecond: Math.round(BYTES / 1e5 / seconds) / 10,
      brokerPeakMegabytes: Math.round(peak / 1e6),
    })
    expect([(await sender.exit).status, (await receiver.exit).status]).toEqual([0, 0])
    expect(relayed).toBe(1)
    expect(peak).toBeLessThan(256 * MIB)
  })

  it(`lets members meet ${CONTACTS} times and loses none of their calls`, { timeout: 2 * HOURS }, async ({ stage }) => {
    const { broker, meet, close } = await relayedCaller(stage)
    const began = performance.now()
    const times: number[] = []
    const memory: number[] = []
    for (let half = 0; half < 2; half += 1) {
      for (let contact = 0; contact < CONTACTS / 2; contact += 1) times.push(await meet())
      memory.push(await residentBytes(broker.pid))
    }
    const seconds = (performance.now() - began) / 1_000
    const [atHalf = 0, atEnd = 0] = memory
    const sorted = times.toSorted((one, other) => one - other)
    record('contacts', {
      contacts: times.length,
      seconds: Math.round(seconds),
      medianMs: Math.round(sorted[Math.floor(CONTACTS / 2)] ?? 0),
      slowestMs: Math.round(sorted.at(-1) ?? 0),
      brokerMegabytesAtHalf: Math.round(atHalf / 1e6),
      brokerMegabytesAtEnd: Math.round(atEnd / 1e6),
    })
    await close()
    expect(times).toHaveLength(CONTACTS)
    expect(atEnd - atHalf).toBeLessThan(64 * MIB)
  })
})
