import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { identityOf, keepPeer, refuseTaken } from '../../../src/agent/peers/keeping.ts'
import { type Peer, withProven } from '../../../src/agent/peers/peer.ts'
import { defaultNames } from '../../../src/agent/peers/peer-name.ts'
import { PeerStore } from '../../../src/agent/peers/peer-store.ts'
import { formatTicket } from '../../../src/channel/index.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { temporaryFolder } from '../artefact-files.ts'
import { documentOf, memberPeer, NOW, named, SERVER, ticketPeer } from './peers.ts'

const BOB = named('bob')
const ADDRESS = { host: '203.0.113.9', port: 9 }

function code(act: () => unknown): string {
  try {
    act()
    return 'no error'
  } catch (error) {
    return (error as { code: string }).code
  }
}

function otherTicket(): Peer {
  const holder = holderKey(SecretKey.generate()).id
  return { kind: 'ticket', ticket: formatTicket({ holder, addresses: [ADDRESS] }), proven: [] }
}

describe('the store of peers', () => {
  it('keeps a peer in a file of its owner alone, and gives it back', () => {
    const folder = temporaryFolder()
    const store = new PeerStore(folder)
    expect(store.list()).toEqual({ peers: [], problems: [] })
    expect(store.add(BOB, memberPeer())).toBe(true)
    expect(new PeerStore(folder).find(BOB)).toEqual(memberPeer())
    expect(statSync(join(folder, 'peers', 'bob.json')).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'peers')).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(folder, 'peers'))).toEqual(['bob.json'])
  })

  it('gives a name to one of those who want it', () => {
    const store = new PeerStore(temporaryFolder())
    expect([store.add(BOB, memberPeer()), store.add(BOB, ticketPeer())]).toEqual([true, false])
    expect(store.find(BOB)?.kind).toBe('member')
  })

  it('names the nearest where there is none of that name', () => {
    const store = new PeerStore(temporaryFolder())
    store.add(named('charlie'), ticketPeer())
    expect(() => store.get(named('charly'))).toThrow(
      expect.objectContaining({
        code: 'ERR_PEER_UNKNOWN',
        message: 'no peer is called "charly"; did you mean charlie?',
      }),
    )
  })

  it('changes what is there at that moment, and nothing that was forgotten', () => {
    const store = new PeerStore(temporaryFolder())
    store.add(BOB, memberPeer())
    store.change(BOB, (peer) => ({ ...peer, knownAs: 'other' }) as Peer)
    expect(store.change(BOB, (peer) => withProven(peer, ADDRESS))).toMatchObject({
      knownAs: 'other',
      proven: [ADDRESS],
    })
    store.forget(BOB)
    expect(store.change(BOB, (peer) => withProven(peer, ADDRESS))).toBeUndefined()
    expect(store.list().peers).toEqual([])
  })

  it('renames, but over no other peer', () => {
    const store = new PeerStore(temporaryFolder())
    store.add(BOB, memberPeer())
    store.add(named('carol'), ticketPeer())
    expect(code(() => store.rename(BOB, named('carol')))).toBe('ERR_PEER_NAME_TAKEN')
    expect(code(() => store.rename(named('dave'), named('erin')))).toBe('ERR_PEER_UNKNOWN')
    store.rename(BOB, BOB)
    store.rename(BOB, named('robert'))
    expect(store.list().peers.map(({ name }) => name)).toEqual(['carol', 'robert'])
    expect(store.find(named('robert'))).toEqual(memberPeer())
    expect(code(() => store.forget(BOB))).toBe('ERR_PEER_UNKNOWN')
  })

  it('passes over what is no peer, says so, and lets it be forgotten', () => {
    const folder = temporaryFolder()
    const store = new PeerStore(folder)
    store.add(BOB, memberPeer())
    for (const name of ['broken.json', '.hidden.json', 'BOB.json', 'bob.json.1.tmp', 'notes.txt']) {
      writeFileSync(join(folder, 'peers', name), '{', { mode: 0o600 })
    }
    const { peers, problems } = store.list()
    expect(peers.map(({ name }) => name)).toEqual(['bob'])
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['ERR_STATE_UNAVAILABLE', expect.stringMatching(/broken\.json: expected JSON/)],
    ])
    expect(code(() => store.get(named('broken')))).toBe('ERR_STATE_UNAVAILABLE')
    store.forget(named('broken'))
    expect(store.list().problems).toEqual([])
  })

  it('refuses a folder that others can write, and a file that others can read', () => {
    const folder = temporaryFolder()
    const store = new PeerStore(folder)
    store.add(BOB, memberPeer())
    chmodSync(join(folder, 'peers', 'bob.json'), 0o644)
    expect(code(() => store.find(BOB))).toBe('ERR_STATE_UNAVAILABLE')
    chmodSync(join(folder, 'peers'), 0o777)
    expect(code(() => store.list())).toBe('ERR_STATE_UNAVAILABLE')
  })

  it('says so when something else stands where its folder should be', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'peers'), '', { mode: 0o600 })
    expect(code(() => new PeerStore(folder).list())).toBe('ERR_STATE_UNAVAILABLE')
    expect(code(() => new PeerStore(folder).add(BOB, memberPeer()))).toBe('ERR_STATE_UNAVAILABLE')
  })

  it('is used by two processes at once: one gets the name, and no file is ever broken', async () => {
    const folder = temporaryFolder()
    const outputs = await Promise.all([1, 2].map((port) => inAProcess(folder, port)))
    expect(outputs.map((text) => text.trim()).sort()).toEqual(['false whole', 'true whole'])
    expect(readdirSync(join(folder, 'peers'))).toEqual(['bob.json'])
  })

  it('holds a bounded number of peers', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'peers'), { mode: 0o700 })
    for (let index = 0; index < 1_000; index += 1) writeFileSync(join(folder, 'peers', `p${index}.json`), '')
    expect(code(() => new PeerStore(folder).add(BOB, memberPeer()))).toBe('ERR_STATE_UNAVAILABLE')
  })
})

/** Takes the name, then changes what it stands for many times; prints whether it got the name, and what it read. */
async function inAProcess(folder: string, port: number): Promise<string> {
  const from = (name: string): string => JSON.stringify(join(process.cwd(), 'src/agent/peers', name))
  const source = `import { PeerStore } from ${from('peer-store.ts')}
    import { withProven } from ${from('peer.ts')}
    const store = new PeerStore(${JSON.stringify(folder)})
    const peer = { kind: 'ticket', ticket: ${JSON.stringify(ticketPeer().ticket)}, proven: [] }
    const own = { host: '203.0.113.5', port: ${port} }
    const isFirst = store.add('bob', withProven(peer, own))
    for (let turn = 0; turn < 50; turn += 1) store.change('bob', (now) => withProven(now, { ...own, port: turn * 10 + ${port} }))
    console.log(isFirst, store.get('bob').ticket === peer.ticket ? 'whole' : 'broken')`
  const run = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  return textOf(run.stdout)
}

describe('keepPeer', () => {
  it('gives a name of the key to a peer without one, and keeps one serving side as one peer', () => {
    const store = new PeerStore(temporaryFolder())
    const [first] = defaultNames(SERVER.id)
    expect(keepPeer(store, memberPeer({ proven: [ADDRESS] }), undefined).name).toBe(first)
    const { grant } = documentOf(u64(NOW + 99n))
    expect(keepPeer(store, memberPeer({ grant }), undefined).name).toBe(first)
    expect(store.list().peers).toEqual([{ name: first, peer: memberPeer({ grant, proven: [ADDRESS] }) }])
    expect(keepPeer(store, memberPeer(), BOB).name).toBe(BOB)
    expect(store.list().peers.map(({ name }) => name)).toEqual([BOB])
  })

  it('keeps a membership under another name when the wished one was taken meanwhile', () => {
    const store = new PeerStore(temporaryFolder())
    store.add(BOB, otherTicket())
    expect(keepPeer(store, memberPeer(), BOB).name).toBe(defaultNames(SERVER.id)[0])
    expect(store.find(BOB)?.kind).toBe('ticket')
  })

  it('puts a membership in place of a ticket for the same side, and never the other way', () => {
    const store = new PeerStore(temporaryFolder())
    keepPeer(store, ticketPeer(), BOB)
    refuseTaken(store, identityOf(memberPeer()), BOB)
    expect(keepPeer(store, memberPeer(), BOB).name).toBe(BOB)
    expect(store.list().peers).toEqual([{ name: BOB, peer: memberPeer() }])
    expect(code(() => refuseTaken(store, identityOf(ticketPeer()), BOB))).toBe('ERR_PEER_NAME_TAKEN')
    expect(keepPeer(store, ticketPeer(), undefined).name).toBe(defaultNames(SERVER.id)[0])
    expect(keepPeer(store, memberPeer(), defaultNames(SERVER.id)[0]).name).toBe(defaultNames(SERVER.id)[0])
    expect(store.list().peers.map(({ peer: { kind } }) => kind)).toEqual(['member'])
  })

  it('refuses the name of another peer', () => {
    const store = new PeerStore(temporaryFolder())
    store.add(BOB, otherTicket())
    expect(code(() => refuseTaken(store, identityOf(memberPeer()), BOB))).toBe('ERR_PEER_NAME_TAKEN')
    refuseTaken(store, identityOf(memberPeer()), named('carol'))
    refuseTaken(store, identityOf(memberPeer()), undefined)
  })
})
